#pragma once
// A buffer that is read at random: large, zeroed, and on huge pages where the system has them. Random reads of small
// pages miss the address cache as well as the data cache, which halves the speed of every table.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace neardup {

// `slack` more elements than asked may be read past the end: they are zero, so a vector load needs no mask.
template <class T>
class Pages {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    static constexpr std::size_t slack = 64 / sizeof(T) + 1;

    Pages() = default;
    explicit Pages(std::size_t size) : size_(size) {
        constexpr std::size_t huge = std::size_t{2} << 20, line = 64;
        if (size > (SIZE_MAX - 2 * huge) / sizeof(T) - slack) throw std::bad_alloc();
        const std::size_t bytes = (size + slack) * sizeof(T);
#if defined(__linux__)
        if (bytes >= huge) {  // fresh pages are zero
            const std::size_t whole = (bytes + huge - 1) / huge * huge;
            void* mapped = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (mapped == MAP_FAILED) throw std::bad_alloc();
            madvise(mapped, whole, MADV_HUGEPAGE);
            data_ = {static_cast<T*>(mapped), Free{whole}};
            return;
        }
#endif
        const std::size_t whole = (bytes + line - 1) / line * line;
        data_ = {static_cast<T*>(std::aligned_alloc(line, whole)), Free{0}};
        if (!data_) throw std::bad_alloc();
        std::memset(static_cast<void*>(data_.get()), 0, whole);
    }

    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }
    std::span<const T> span() const { return {data(), size_}; }

  private:
    struct Free {
        std::size_t mapped = 0;  // bytes; 0: from the heap
        void operator()(T* p) const {
#if defined(__linux__)
            if (mapped != 0) {
                munmap(p, mapped);
                return;
            }
#endif
            std::free(p);
        }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace neardup
