"""One attempt of a request: its whole answer, within a time and a size, however slowly it arrives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from neardup.http.client.messages import Call

__all__ = ["Answered", "attempt", "attempt_async"]

LARGEST = 1 << 29  # bytes of an answer, unpacked


class Answered(NamedTuple):
    """An answer that is here."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes


class _Pieces:
    """The parts of an answer, checked as they arrive: a timeout of the connection alone begins again with each."""

    def __init__(self, seconds: float) -> None:
        self._until, self._size = time.monotonic() + seconds, 0
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> None:
        import httpx

        self._size += len(part)
        self._parts.append(part)
        if self._size > LARGEST:
            raise httpx.ReadError(f"the answer has more than {LARGEST:,} bytes")
        if time.monotonic() > self._until:
            raise httpx.ReadTimeout("the answer did not arrive in time")

    def whole(self, answer: Any) -> Answered:
        return Answered(answer.status_code, answer.headers, b"".join(self._parts))


def _options(call: Call, seconds: float) -> dict[str, Any]:
    headers = {"content-type": call.kind, "accept-encoding": "identity"}
    return {"content": call.body, "headers": headers, "timeout": seconds}


def attempt(client: Any, call: Call, path: str, seconds: float) -> Answered:
    """Send a request with an httpx.Client."""
    parts = _Pieces(seconds)
    with client.stream(call.method, path, **_options(call, seconds)) as answer:
        for part in answer.iter_bytes():
            parts.add(part)
        return parts.whole(answer)


async def attempt_async(client: Any, call: Call, path: str, seconds: float) -> Answered:
    """Send a request with an httpx.AsyncClient."""
    import httpx

    parts = _Pieces(seconds)
    try:
        async with (
            asyncio.timeout(seconds),
            client.stream(call.method, path, **_options(call, seconds)) as answer,
        ):
            async for part in answer.aiter_bytes():
                parts.add(part)
            return parts.whole(answer)
    except TimeoutError:
        raise httpx.ReadTimeout("the answer did not arrive in time") from None
