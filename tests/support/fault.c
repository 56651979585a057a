// A preload library that fails the n-th of some system calls, once, with an error of choice.
//   FAULT_AT   which call fails, from 1; 0 for none. FAULT_ERRNO  its error. FAULT_ONLY  names of calls, or all.
//   FAULT_PATH only calls on files below this folder count. FAULT_COUNT a file that gets the number of calls at the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static int below(const char *path) {
    const char *folder = getenv("FAULT_PATH");
    return folder == NULL || (path != NULL && strncmp(path, folder, strlen(folder)) == 0);
}

static int of_file(int handle) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return below(path);
}

static int fails(const char *name, int counts) {
    const char *only = getenv("FAULT_ONLY"), *at = getenv("FAULT_AT");
    if (!counts || at == NULL || (only != NULL && strstr(only, name) == NULL)) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != atol(at)) return 0;
    const char *code = getenv("FAULT_ERRNO");
    errno = code == NULL ? ENOSPC : atoi(code);
    return 1;
}

#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    if (fails("write", of_file(fd))) return -1;
    return NEXT(ssize_t, write, int, const void *, size_t)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    if (fails("pwrite", of_file(fd))) return -1;
    return NEXT(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    if (fails("pwrite", of_file(fd))) return -1;
    return NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t)(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (fails("write", of_file(fd))) return -1;
    return NEXT(ssize_t, writev, int, const struct iovec *, int)(fd, parts, count);
}
ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    if (fails("sendfile", of_file(to))) return -1;
    return NEXT(ssize_t, sendfile, int, int, off_t *, size_t)(to, from, at, size);
}
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *place, size_t size, unsigned flags) {
    if (fails("sendfile", of_file(to))) return -1;
    return NEXT(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned)(from, at, to, place, size,
                                                                                         flags);
}
int mkdir(const char *path, mode_t mode) {
    return fails("mkdir", below(path)) ? -1 : NEXT(int, mkdir, const char *, mode_t)(path, mode);
}
// Only files that may be made by the call count: reading is not what fails here.
#define OPENS(name)                                                                                   \
    int name(const char *path, int flags, ...) {                                                      \
        va_list more;                                                                                 \
        va_start(more, flags);                                                                        \
        const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                               \
        va_end(more);                                                                                 \
        if (flags & O_CREAT && fails("open", below(path))) return -1;                                 \
        return NEXT(int, name, const char *, int, ...)(path, flags, mode);                            \
    }
OPENS(open)
OPENS(open64)
int fsync(int fd) { return fails("fsync", of_file(fd)) ? -1 : NEXT(int, fsync, int)(fd); }
int fdatasync(int fd) { return fails("fsync", of_file(fd)) ? -1 : NEXT(int, fdatasync, int)(fd); }
int ftruncate(int fd, off_t size) {
    return fails("ftruncate", of_file(fd)) ? -1 : NEXT(int, ftruncate, int, off_t)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
    return fails("ftruncate", of_file(fd)) ? -1 : NEXT(int, ftruncate64, int, off64_t)(fd, size);
}
int rename(const char *from, const char *to) {
    return fails("rename", below(to)) ? -1 : NEXT(int, rename, const char *, const char *)(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    return fails("rename", below(to)) ? -1 : NEXT(int, renameat, int, const char *, int, const char *)(a, from, b, to);
}
void *mmap(void *where, size_t size, int how, int flags, int fd, off_t at) {
    if (fd >= 0 && fails("mmap", of_file(fd))) return MAP_FAILED;
    return NEXT(void *, mmap, void *, size_t, int, int, int, off_t)(where, size, how, flags, fd, at);
}
void *mmap64(void *where, size_t size, int how, int flags, int fd, off64_t at) {
    if (fd >= 0 && fails("mmap", of_file(fd))) return MAP_FAILED;
    return NEXT(void *, mmap64, void *, size_t, int, int, int, off64_t)(where, size, how, flags, fd, at);
}

__attribute__((destructor)) static void count(void) {
    const char *path = getenv("FAULT_COUNT");
    if (path == NULL) return;
    char text[32];
    const int size = snprintf(text, sizeof text, "%ld", atomic_load(&calls));
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return;
    NEXT(ssize_t, write, int, const void *, size_t)(fd, text, (size_t)size);
    close(fd);
}
