"""Start and stop the review page: on this machine's loopback alone, for who knows its address."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

from neardup.http.limits import Limits
from neardup.http.server import Address, Listening, event_loop
from neardup.pages.review.app import make_app
from neardup.pages.review.session import Review

__all__ = ["serve"]

LIMITS = Limits(body=1 << 20, requests=64, connections=256, drain_seconds=5.0)


def serve(review: Review, port: int = 0, *, started: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in work and return. `started` gets the address to open."""
    with event_loop() as runner:
        runner.run(_serve(review, Address(port=port), started))


async def _serve(review: Review, address: Address, started: Callable[[str], None]) -> None:
    token = secrets.token_urlsafe(24)
    listening = Listening(make_app(review, token, LIMITS), address, LIMITS)
    review.start()
    try:
        async with listening:
            if await listening.until(asyncio.ensure_future(_answers(listening.port))):
                # Behind the #, so that the token is never part of a request, a log or a referrer.
                started(f"{listening.url}/#token={token}")
                await listening.until()
            await listening.drain()
    finally:
        await asyncio.to_thread(review.close)


async def _answers(port: int) -> None:
    """Return when the server answers, so that a browser that is opened at once finds it."""
    for _ in range(500):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return
