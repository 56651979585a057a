"""The service from its start to its end: the index is opened while it listens, and closed when it no longer does."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sqlite3
import sys
from collections.abc import Callable

from neardup.errors import NeardupError
from neardup.http.app import make_app
from neardup.http.deadline import Deadline
from neardup.http.engine import Engine
from neardup.http.limits import RequestLimits
from neardup.http.logs import log
from neardup.http.server import ListenAddress, Listening, event_loop
from neardup.index import Index

__all__ = ["serve"]

REFRESH_SECONDS = 1.0  # after this time at the latest, a service that only reads looks for changes
SWITCH_SECONDS = 0.0005  # a thread in the middle of a batch gives way to the event loop this often
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of malloc.h
KEPT_BYTES = 32 << 20  # the most that glibc takes for the second


def serve(
    open_index: Callable[[], Index] | None,
    address: ListenAddress,
    limits: RequestLimits | None = None,
    *,
    read_only: bool = False,
    logs_all: bool = False,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve the index until SIGTERM or SIGINT, then finish what is in work, close it and return. Without an index
    there is the page that tries texts, and nothing else. `read_only`: the index is opened for reading, and what
    another process writes to it is loaded once a second.

    The service listens while the index is still being opened, and says so on `/v1/ready`; `started` is called with the
    address when it is open.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    _keep_memory()
    limits = limits or RequestLimits()
    _allow_files(limits.connections + 256)
    try:
        with Deadline(limits.drain_seconds) as deadline, event_loop() as runner:
            runner.run(_serve(open_index, address, limits, deadline, logs_all, started, read_only))
    finally:
        gc.unfreeze()


def _keep_memory() -> None:
    """Bodies have megabytes: with glibc's defaults each is new memory, which the system has to clear first, and that
    took more time than all else. Freed memory is kept by the process instead, within bounds."""
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
        for option, value in (
            (M_MMAP_THRESHOLD, KEPT_BYTES),
            (M_TRIM_THRESHOLD, KEPT_BYTES),
            (M_ARENA_MAX, 2),
        ):
            mallopt(option, value)


def _allow_files(wanted: int) -> None:
    """As many open files as there may be connections, as far as the system lets us."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _serve(
    open_index: Callable[[], Index] | None,
    address: ListenAddress,
    limits: RequestLimits,
    deadline: Deadline,
    logs_all: bool,
    started: Callable[[str], None] | None,
    read_only: bool,
) -> None:
    application, service = make_app(
        limits,
        token=address.token,
        reader=address.reader,
        logs_all=logs_all,
        indexed=open_index is not None,
        read_only=read_only,
    )
    following: asyncio.Task[None] | None = None
    listening = Listening(application, address, limits, deadline)
    # A plain thread: if the service has to stop meanwhile, nobody waits for it.
    opened: asyncio.Future[Index | None] = asyncio.get_running_loop().run_in_executor(
        None, open_index or _none
    )
    try:
        async with listening:
            if await listening.until(opened):
                index = opened.result()
                gc.collect()
                gc.freeze()  # what is here is kept for good: to scan it again and again takes tens of milliseconds
                service.ready = None if index is None else Engine(index, limits, service.metrics.batch)
                if index is not None:
                    log("ready", address=listening.url, documents=len(index))
                if started is not None:
                    started(listening.url)
                if read_only and service.ready is not None:
                    following = asyncio.create_task(_follow(service.ready))
                await listening.until()
            if service.ready is not None:
                log("stopping", in_work=application.in_work)
            await listening.drain()
    finally:
        if following is not None:
            following.cancel()
            await asyncio.wait({following})
        if opened.done():
            await asyncio.to_thread(service.close)
        if service.ready is not None:
            log("stopped", unfinished=application.in_work)
        elif not opened.done():
            # Opening cannot be interrupted and does not have to be: an index survives kill -9.
            failed = sys.exception()
            log("stopped", unfinished=0, **({} if failed is None else {"reason": str(failed)}))
            os._exit(0 if failed is None else 1)
        elif opened.exception() is None and (left := opened.result()) is not None:
            left.close()


async def _follow(engine: Engine) -> None:
    """Load what another process writes to the index. An error is logged once, until all is well again."""
    logged = ""
    while True:
        await asyncio.sleep(REFRESH_SECONDS)
        try:
            await engine.refresh()
            logged = ""
        except (NeardupError, OSError, sqlite3.Error) as error:
            if str(error) != logged:
                logged = str(error)
                log("trouble", reason=logged)


def _none() -> None:
    """The index of a service without one."""
