"""What a client may ask for: sizes, depths, times and how much at once; and how a request is refused."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from neardup.errors import ConfigError

__all__ = ["Budget", "LateTasks", "Refused", "RequestLimits", "check_depth", "read_body", "unpacked"]

Receive = Callable[[], Awaitable[dict[str, Any]]]


class Refused(Exception):
    """A request that is not served: its status, the reason for its sender, and more headers for the answer. `logged`
    is the reason for the logs, if the sender must not learn it."""

    def __init__(
        self,
        status: int,
        reason: str,
        *,
        logged: str | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        self.status, self.reason, self.headers = status, reason, headers
        self.logged = logged or reason
        super().__init__(reason)


@dataclass(frozen=True)
class RequestLimits:
    """Bounds on requests. Sizes in bytes, times in seconds.

    body            of one request, also after it is unpacked
    waiting_bytes   of all requests being read or served
    requests        being read or served at the same time; one more is refused and may be sent again (429)
    connections     open at the same time; more wait to be accepted
    meta            bytes of a document's `meta`
    depth           of JSON in it
    values          objects and arrays in the JSON of a question
    header_seconds  until the head of a request is here, and how long an idle connection is kept open
    body_seconds    until its body is here
    answer_seconds  until a slow request is answered, from the moment its body is here
    drain_seconds   from the signal to stop to the end of the process
    documents       in one bulk request or one list to be collapsed
    compared        characters of each of two texts to be compared, or of all in a list to be collapsed
    tried           characters of a text to be tried
    """

    body: int = 16 << 20
    waiting_bytes: int = 256 << 20
    requests: int = 1024
    connections: int = 4096
    meta: int = 1 << 20
    depth: int = 32
    values: int = 100_000
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    answer_seconds: float = 120.0
    drain_seconds: float = 20.0
    documents: int = 100_000
    collapsed: int = 1000
    compared: int = 1 << 20
    tried: int = 1 << 18

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < 1 << 50:
                raise ConfigError(f"limit {name}={value}: must be above 0")


class Budget:
    """Bytes that all requests in work may hold together. Lives on the event loop alone."""

    def __init__(self, most: int) -> None:
        self.most, self.taken = most, 0

    def take(self, size: int) -> None:
        if self.taken + size > self.most:
            raise Refused(429, "the bodies of all requests together are too large at the moment; try again")
        self.taken += size

    def give(self, size: int) -> None:
        self.taken -= size


async def read_body(
    receive: Receive, limits: RequestLimits, budget: Budget, late: LateTasks, declared: int
) -> bytes:
    """The whole body, within the limits; the caller gives its size back to the budget.

    What a client declares is taken from the budget only as it arrives, so that nobody can reserve without sending.
    """
    if declared > limits.body:
        raise Refused(413, f"the body has {declared:,} bytes; at most {limits.body:,} are taken")
    parts: list[bytes] = []
    size, task = 0, late.begun()
    try:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "the connection ended within the body")
            part = message.get("body", b"")
            if size + len(part) > limits.body:
                raise Refused(413, f"the body is larger than {limits.body:,} bytes")
            budget.take(len(part))
            size += len(part)
            # When all that was declared is here, there is no need to wait for the server to say so.
            if not message.get("more_body", False) or 0 < declared == size:
                return b"".join([*parts, part]) if parts else bytes(part)
            parts.append(part)
    except BaseException as error:
        budget.give(size)
        if isinstance(error, asyncio.CancelledError) and late.ended(task) and task.uncancel() == 0:
            raise Refused(408, f"the body took more than {limits.body_seconds:g} seconds") from None
        raise
    finally:
        late.finished(task)


class LateTasks:
    """Cancels tasks that have not finished after so many seconds. One timer serves all of them: a timer for each takes
    longer than reading a small body. Lives on one event loop."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: dict[asyncio.Task[Any], float] = {}  # ascending, as all have the same time
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def begun(self) -> asyncio.Task[Any]:
        """The task that calls this; its time begins."""
        task = asyncio.current_task()
        assert task is not None
        loop = task.get_loop()
        self._ends[task] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._cancel, loop)
        return task

    def ended(self, task: asyncio.Task[Any]) -> bool:
        """Whether it was cancelled here."""
        return task in self._late

    def finished(self, task: asyncio.Task[Any]) -> None:
        self._ends.pop(task, None)
        self._late.discard(task)

    def _cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        now, self._timer = loop.time(), None
        for task, end in list(self._ends.items()):
            if end > now:
                self._timer = loop.call_at(end, self._cancel, loop)
                break
            del self._ends[task]
            self._late.add(task)
            task.cancel()


def unpacked(body: bytes, most: int) -> bytes:
    """A gzip body as it was, never more than `most` bytes of it in memory."""
    inflate = zlib.decompressobj(wbits=31)
    try:
        plain = inflate.decompress(body, most + 1)
    except zlib.error as error:
        raise Refused(422, f"the body is not gzip: {error}") from None
    if len(plain) > most:
        raise Refused(413, f"the body is larger than {most:,} bytes when unpacked")
    if not inflate.eof or inflate.unused_data:
        raise Refused(422, "the body is not one whole gzip member")
    return plain


def check_depth(value: Any, most: int) -> None:
    """Refuse JSON nested deeper than `most`; walks level by level, so that it needs no deep stack itself."""
    level, depth = [value], 0
    while level := [
        inner
        for outer in level
        if isinstance(outer, dict | list)
        for inner in (outer.values() if isinstance(outer, dict) else outer)
    ]:
        depth += 1
        if depth > most:
            raise Refused(422, f"meta is nested deeper than {most} levels")
