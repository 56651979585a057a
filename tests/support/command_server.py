"""Commands of neardup in a process of their own, without the half second that Python needs to import everything.

A server imports the package once. For each command it forks, and the new process has the arguments, folder, environment
and open files of the program that asked. That program is `neardup` in the folder `bin` beside the server's socket: it
runs on a bare Python, passes on signals, and ends as the command ends. If the environment has something that Python or
neardup reads at its start, it runs the real command instead.

    python command_server.py SOCKET    serves until standard input ends
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["command_folder"]

# A command for which one of these is not as in the server's environment is run without it.
AT_THE_START = ("NEARDUP_", "PYTHON", "LC_", "LANG", "OMP_", "OPENBLAS_", "ARROW_", "MALLOC_", "LD_")
# Imported by many commands when they have something to read.
ALSO = ("msgspec", "numpy.ma", "resiliparse.extract.html2text")  # not pyarrow, which starts a thread
# Imported by few commands; they start threads, or take long.
NOT_BEFORE = ("neardup.spark", "neardup.scrapy")


@cache
def command_folder() -> Path:
    """The folder with the command `neardup`, for a PATH. The first call starts the server; it ends with this one."""
    folder = Path(tempfile.mkdtemp(prefix="neardup-commands-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "bin").mkdir()
    (folder / "client.py").write_text(CLIENT.format(settings=settings(folder / "socket")))
    client = folder / "bin" / "neardup"
    command = shlex.join([sys.executable, "-IS", str(folder / "client.py")])  # a path may have spaces
    client.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    client.chmod(0o755)
    serving = [sys.executable, __file__, str(folder / "socket")]
    server = subprocess.Popen(serving, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
    assert server.stdin is not None and server.stdout is not None
    assert server.stdout.readline() == b"ready\n", "the server of commands does not start"

    def stop() -> None:
        server.communicate()

    atexit.register(stop)
    return folder / "bin"


def settings(path: Path) -> str:
    known = {name: value for name, value in os.environ.items() if name.startswith(AT_THE_START)}
    return repr((str(path), sys.executable, AT_THE_START, known))


CLIENT = """\
import array, json, os, resource, signal, socket, sys
place, python, prefixes, known = {settings}
own = {{name: value for name, value in os.environ.items() if name.startswith(prefixes)}}
if own != known:
    os.execv(python, [python, "-m", "neardup", *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect(place)
limits = [resource.getrlimit(resource.RLIMIT_FSIZE), resource.getrlimit(resource.RLIMIT_AS)]
mask = os.umask(0)
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), limits, mask]).encode("utf-8", "surrogateescape")
server.sendmsg([len(asked).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
server.sendall(asked)
for number in (0, 1, 2):
    os.close(number)
answers = server.makefile("r")
child = int(answers.readline())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(child, number))
code = int(answers.readline() or -9)
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def serve(path: str) -> None:
    """Answer each client: the number of the process that runs its command, and how that ended."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    warm_up()
    # Wakes the loop when a child ends.
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    children: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([0, woken, listener, *children.values()], [], [])
        if 0 in ready:
            return
        if woken in ready:
            os.read(woken, 4096)
        if listener in ready:
            client, _ = listener.accept()
            if (child := begin(client, (listener, *children.values()))) is not None:
                children[child] = client
        for child, client in list(children.items()):
            if client in ready:  # it ended before its command did
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                with contextlib.suppress(OSError):
                    client.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
                children.pop(child).close()


def warm_up() -> None:
    """Import what commands import."""
    names = list(ALSO)
    for package in ("neardup", "neardup.cli"):
        found = pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}.")
        names += [one.name for one in found if not one.name.endswith("__main__")]
    for name in names:
        if name not in NOT_BEFORE:
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "a process with threads cannot be forked"
    gc.collect()
    gc.freeze()


def begin(client: socket.socket, others: tuple[socket.socket, ...]) -> int | None:
    """The process that runs what a client asks for; None if the client has ended."""
    files = array.array("i")
    head, extra, _, _ = client.recvmsg(8, socket.CMSG_SPACE(3 * files.itemsize))
    for _, _, data in extra:
        files.frombytes(data)
    try:
        asked = json.loads(received(client, int.from_bytes(head, "big")).decode("utf-8", "surrogateescape"))
        child = os.fork() if len(files) == 3 else None
        if child == 0:
            for one in (client, *others):
                one.close()
            become(files.tolist(), *asked)
        if child is not None:
            client.sendall(b"%d\n" % child)
        return child
    except (OSError, ValueError):
        client.close()
        return None
    finally:
        for number in files:
            os.close(number)


def received(client: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length and (more := client.recv(length - len(data))):
        data += more
    return data


def become(
    files: list[int],
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    limits: list[list[int]],
    mask: int,
) -> NoReturn:
    """Be the command, as if Python had just been started for it."""
    import resource

    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(mask)
    os.chdir(folder)
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)
    for which, limit in zip((resource.RLIMIT_FSIZE, resource.RLIMIT_AS), limits, strict=True):
        resource.setrlimit(which, tuple(limit))
    sys.argv = ["neardup", *arguments]
    sys.stdin, sys.stdout = text_file(0, "r"), text_file(1, "w")
    sys.stderr = text_file(2, "w", errors="backslashreplace", line_buffering=True)
    code: Any = 1
    try:
        from neardup.cli import main

        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        end(code)


def end(code: int) -> NoReturn:
    """End as Python does: functions for the exit, threads, and what is still to be written."""
    import threading

    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            file.flush()
    os._exit(code & 0xFF)


def text_file(number: int, mode: str, errors: str | None = None, line_buffering: bool = False) -> Any:
    raw = open(number, f"{mode}b", closefd=False)  # noqa: SIM115, until the process ends
    usual = sys.__stdout__.encoding if sys.__stdout__ is not None else "utf-8"
    kept = errors or (sys.__stdout__.errors if sys.__stdout__ is not None else "strict")
    return io.TextIOWrapper(raw, usual, kept, line_buffering=line_buffering or os.isatty(number))


if __name__ == "__main__":
    # One thread: a process with more cannot be forked.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    serve(sys.argv[1])
