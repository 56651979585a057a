"""Listening: granian in this process, on one event loop, so that signals, drain and exit are our own."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import signal
import socket
from dataclasses import dataclass, field
from typing import Any

from neardup.errors import ConfigError, DataError
from neardup.http.access import Access, Grant
from neardup.http.asgi import Application
from neardup.http.deadline import Deadline
from neardup.http.limits import RequestLimits
from neardup.values.posix import unsupported

__all__ = ["ListenAddress", "Listening", "event_loop"]

LEAVE_SECONDS = 2.0
DRAIN_SHARE = (
    0.75  # of the time there is to stop; the rest is for answering what was given up, and for closing
)
# Of a body at a time: each piece wakes the event loop, and each connection may hold one.
PIECE_BYTES = 1 << 17


@dataclass(frozen=True)
class ListenAddress:
    """Where to listen. Anything but this machine itself needs a token. Port 0 is any free one."""

    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = field(default=None, repr=False)
    reader: str | None = field(default=None, repr=False)  # the token of those who may not change the index
    grants: tuple[Grant, ...] = ()  # more tokens, each for some indexes

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ConfigError(f"port {self.port}: must be from 0 to 65535")
        tokens = [token for token in (self.token, self.reader) if token is not None]
        tokens += [grant.token for grant in self.grants]
        for token in tokens:
            if not re.fullmatch(r"[!-~]{16,}", token):
                raise ConfigError(
                    "a token has 16 printable ASCII characters or more; openssl rand -hex 32 makes one"
                )
        if self.reader is not None and self.reader == self.token:
            raise ConfigError("the token that only reads is the same as the one that writes")
        if len(set(tokens)) < len(tokens):
            raise ConfigError("two of the tokens are the same: each needs its own")
        if self.reader is not None and self.token is None:
            raise ConfigError("with a token that only reads, the service needs one that writes: --token-file")
        if not tokens and not self.loopback:
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

    @property
    def access(self) -> Access:
        """The rules for requests: with no token, programs of this machine alone."""
        local = self.token is None and not self.grants
        return Access(self.token, self.reader, self.grants, local=local)

    def url(self, port: int) -> str:
        """What to type into a browser."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{port}"


class Listening:
    """An application that is served on the running event loop, within `async with`, until SIGTERM or SIGINT.

    Both signals count from the moment this is made, which raises DataError if the port is not free. The first of them
    starts the deadline.
    """

    def __init__(
        self, application: Application, address: ListenAddress, limits: RequestLimits, deadline: Deadline
    ) -> None:
        self._stop = asyncio.Event()
        self._deadline = deadline
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                asyncio.get_running_loop().add_signal_handler(number, self._signal)
            except NotImplementedError:
                raise unsupported("the service", "signal handlers in Python's event loop") from None
        self.port = _free_port(address)
        self.url = address.url(self.port)
        self._application = application
        self._server = _server(application, address, self.port, limits)

    def _signal(self) -> None:
        self._deadline.start()
        self._stop.set()

    async def __aenter__(self) -> Listening:
        self._serving = asyncio.create_task(self._server.serve())
        self._stopping = asyncio.create_task(self._stop.wait())
        return self

    async def until(self, *others: asyncio.Future[Any]) -> bool:
        """Wait for the signal, or for one of these; False once the signal came. DataError if the server ends."""
        await asyncio.wait({self._serving, self._stopping, *others}, return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            failed = self._serving.exception()
            # Of the server's own error the first line alone: a stack may follow.
            reason = "it ended by itself" if failed is None else f"{failed}".partition("\n")[0]
            raise DataError(f"the server at {self.url}: {reason}") from failed
        return not self._stop.is_set()

    async def drain(self) -> None:
        """Take nothing new, and wait for what is in work, as long as the limits say; then give it up."""
        self._application.draining = True
        await self._idle(DRAIN_SHARE * self._deadline.seconds)
        self._application.end()
        await self._idle(LEAVE_SECONDS)

    async def _idle(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._application.in_work:
                    await asyncio.sleep(0.01)

    async def __aexit__(self, *_: object) -> None:
        self._server.stop()
        with contextlib.suppress(Exception):
            await asyncio.wait({self._serving}, timeout=LEAVE_SECONDS)
        self._stopping.cancel()


def event_loop() -> asyncio.Runner:
    """What to run all this in: the fastest loop there is here."""
    logging.getLogger("_granian").setLevel(logging.ERROR)
    try:
        import uvloop
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def _server(app: Application, address: ListenAddress, port: int, limits: RequestLimits) -> Any:
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


def _free_port(address: ListenAddress) -> int:
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
