"""The service from its start to its end: the index is opened while it listens, and closed when it no longer does."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sqlite3
import sys
from collections.abc import Callable, Mapping

from neardup.errors import NeardupError
from neardup.http.app import make_app
from neardup.http.deadline import Deadline
from neardup.http.engine import Engine
from neardup.http.limits import RequestLimits
from neardup.http.logs import log
from neardup.http.server import ListenAddress, Listening, event_loop
from neardup.index import Index

__all__ = ["serve"]

Opener = Callable[[], Index]

REFRESH_SECONDS = 1.0  # after this time at the latest, a service that only reads looks for changes
SWITCH_SECONDS = 0.0005  # a thread in the middle of a batch gives way to the event loop this often
NEW_OBJECTS = 20_000  # before garbage is looked for: what requests leave behind has no cycles
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of malloc.h
KEPT_BYTES = 32 << 20  # the most that glibc takes for the second


def serve(
    open_index: Opener | None,
    address: ListenAddress,
    limits: RequestLimits | None = None,
    *,
    named: Mapping[str, Opener] | None = None,
    read_only: bool = False,
    logs_all: bool = False,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve the index until SIGTERM or SIGINT, then finish what is in work, close it and return. Without an index
    there is the page that tries texts, and nothing else. `named`: indexes that are served under their names.
    `read_only`: the indexes are opened for reading, and what another process writes to them is loaded once a second.

    The service listens while the index is still being opened, and says so on `/v1/ready`; `started` is called with the
    address when it is open.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    collected = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *collected[1:])
    _keep_memory()
    limits = limits or RequestLimits()
    _allow_files(limits.connections + 256)
    try:
        with Deadline(limits.drain_seconds) as deadline, event_loop() as runner:
            opening = {} if open_index is None else {"": open_index}
            runner.run(
                _serve({**opening, **(named or {})}, address, limits, deadline, logs_all, started, read_only)
            )
    finally:
        gc.set_threshold(*collected)
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
    """Raise the limit of open files to the number of connections, as far as the system allows it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _serve(
    opening: Mapping[str, Opener],
    address: ListenAddress,
    limits: RequestLimits,
    deadline: Deadline,
    logs_all: bool,
    started: Callable[[str], None] | None,
    read_only: bool,
) -> None:
    application, services = make_app(
        limits,
        access=address.access,
        logs_all=logs_all,
        indexed="" in opening,
        named=[name for name in opening if name],
        read_only=read_only,
    )
    following: list[asyncio.Task[None]] = []
    ready = False
    listening = Listening(application, address, limits, deadline)
    # A plain thread: if the service has to stop meanwhile, nobody waits for it.
    opened: asyncio.Future[dict[str, Index]] = asyncio.get_running_loop().run_in_executor(
        None, _open_all, opening
    )
    try:
        async with listening:
            if await listening.until(opened):
                indexes = opened.result()
                gc.collect()
                gc.freeze()  # what is here is kept for good: to scan it again and again takes tens of milliseconds
                for name, index in indexes.items():
                    engine = services[name].ready = Engine(index, limits, services[name].metrics.batch)
                    label = {"index": name} if name else {}
                    log("ready", **label, address=listening.url, documents=len(index))
                    following += [asyncio.create_task(_follow(engine))] if read_only else []
                ready = bool(indexes)
                if started is not None:
                    started(listening.url)
                await listening.until()
            if ready:
                log("stopping", in_work=application.in_work)
            await listening.drain()
    finally:
        for task in following:
            task.cancel()
            await asyncio.wait({task})
        if opened.done():
            for service in services.values():
                await asyncio.to_thread(service.close)
        if ready:
            log("stopped", unfinished=application.in_work)
        elif not opened.done():
            # Opening cannot be interrupted and does not have to be: an index survives kill -9.
            failed = sys.exception()
            log("stopped", unfinished=0, **({} if failed is None else {"reason": str(failed)}))
            os._exit(0 if failed is None else 1)
        elif opened.exception() is None:
            for left in opened.result().values():
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


def _open_all(opening: Mapping[str, Opener]) -> dict[str, Index]:
    """All indexes, or none if one of them cannot be opened."""
    found: dict[str, Index] = {}
    try:
        for name, open_index in opening.items():
            found[name] = open_index()
    except BaseException:
        for index in found.values():
            index.close()
        raise
    return found
