"""Start and stop: granian in this process, on one event loop, so that signals, drain and exit are our own."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from neardup.errors import ConfigError, DataError
from neardup.index import Index
from neardup.service.app import make_app
from neardup.service.engine import Engine
from neardup.service.gate import Gate
from neardup.service.limits import Limits
from neardup.service.logs import log

__all__ = ["Address", "event_loop", "free_port", "make_server", "serve"]

SWITCH_SECONDS = 0.0005  # a thread in the middle of a batch gives way to the event loop this often
LEAVE_SECONDS = 2.0
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of malloc.h
# Of a body at a time: each piece wakes the event loop, and each connection may hold one.
PIECE_BYTES = 1 << 17
KEPT_BYTES = 32 << 20  # the most that glibc takes for the second


@dataclass(frozen=True)
class Address:
    """Where to listen. Anything but this machine itself needs a token. Port 0 is any free one."""

    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ConfigError(f"port {self.port}: must be from 0 to 65535")
        if self.token is not None and not re.fullmatch(r"[!-~]{16,}", self.token):
            raise ConfigError(
                "a token has 16 printable ASCII characters or more; openssl rand -hex 32 makes one"
            )
        if self.token is None and not self.loopback:
            raise ConfigError(
                f"to listen on {self.host}, where others can reach it, the service needs a token"
            )

    @property
    def loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def url(self, port: int) -> str:
        """What to type into a browser."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{port}"


def serve(
    open_index: Callable[[], Index] | None,
    address: Address,
    limits: Limits | None = None,
    *,
    logs_all: bool = False,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve the index until SIGTERM or SIGINT, then finish what is in work, close it and return. Without an index
    there is the page that tries texts, and nothing else.

    The service listens while the index is still being opened, and says so on `/v1/ready`; `started` is called with the
    address when it is open.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    logging.getLogger("_granian").setLevel(logging.ERROR)
    _keep_memory()
    _allow_files((limits or Limits()).connections + 256)
    try:
        with event_loop() as runner:
            runner.run(_serve(open_index, address, limits or Limits(), logs_all, started))
    finally:
        gc.unfreeze()


def _keep_memory() -> None:
    """Bodies of megabytes come and go: with glibc's defaults each is new memory, which the system has to blank first,
    and that took more time than all else. What is let go of stays with the process instead, within bounds."""
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


def event_loop() -> asyncio.Runner:
    try:
        import uvloop
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


async def _serve(
    open_index: Callable[[], Index] | None,
    address: Address,
    limits: Limits,
    logs_all: bool,
    started: Callable[[str], None] | None,
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    gate, opening = make_app(limits, token=address.token, logs_all=logs_all, indexed=open_index is not None)
    port = free_port(address)
    server = make_server(gate, address, port, limits)
    serving = loop.create_task(server.serve())
    stopping = loop.create_task(stop.wait())
    # A plain thread: if the service is told to stop meanwhile, nobody waits for it.
    opened: asyncio.Future[Index | None] = loop.run_in_executor(None, open_index or _none)
    try:
        await asyncio.wait({serving, stopping, opened}, return_when=asyncio.FIRST_COMPLETED)
        if opened.done() and not stop.is_set() and not serving.done():
            index = opened.result()
            gc.collect()
            gc.freeze()  # what is here stays: looking through it again and again takes tens of milliseconds
            opening.ready = None if index is None else Engine(index, limits, opening.metrics.batch)
            if index is not None:
                log("ready", address=address.url(port), documents=len(index))
            if started is not None:
                started(address.url(port))
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
            raise DataError("the server ended by itself")
        gate.draining = True
        if opening.ready is not None:
            log("stopping", in_work=gate.in_work)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limits.drain_seconds):
                while gate.in_work:
                    await asyncio.sleep(0.01)
    finally:
        server.stop()
        with contextlib.suppress(Exception):
            await asyncio.wait({serving}, timeout=LEAVE_SECONDS)
        if opening.ready is not None:
            await asyncio.to_thread(opening.ready.close)
            log("stopped", unfinished=gate.in_work)
        elif not opened.done():
            # Opening cannot be interrupted and does not have to be: an index survives kill -9.
            log("stopped", unfinished=0)
            os._exit(0)
        elif opened.exception() is None and (left := opened.result()) is not None:
            left.close()
        stopping.cancel()


def _none() -> None:
    """The index of a service without one."""


def make_server(app: Gate, address: Address, port: int, limits: Limits) -> Any:
    """granian with these limits, to be served on the running event loop."""
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.server.embed import Server

    return Server(
        app,
        address="127.0.0.1" if address.host == "localhost" else address.host,
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        backlog=1024,
        backpressure=limits.connections,
        http1_settings=HTTP1Settings(
            header_read_timeout=int(1000 * limits.header_seconds), max_buffer_size=PIECE_BYTES
        ),
        log_enabled=False,
    )


def free_port(address: Address) -> int:
    """The port, checked to be free: the server's own error would come from another thread."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            raise DataError(
                f"cannot listen on {address.host}, port {address.port}: {error.strerror}"
            ) from None
        found: Any = probe.getsockname()
        return int(found[1])
