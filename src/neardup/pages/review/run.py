"""Starts and stops the server of the review page, on the loopback interface only."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from neardup.http.deadline import Deadline
from neardup.http.limits import RequestLimits
from neardup.http.server import ListenAddress, Listening, event_loop
from neardup.pages.review.app import make_app
from neardup.pages.review.session import OpenReview, Review

__all__ = ["serve"]

THREADS = 8
LIMITS = RequestLimits(body=1 << 20, requests=64, connections=256, drain_seconds=5.0)


def serve(make: Callable[[], Review], port: int = 0, *, started: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then finish running requests and return. `started` gets the address to open.
    `make` opens the findings, and again after another scan has replaced them."""
    review = OpenReview(make)
    with Deadline(LIMITS.drain_seconds) as deadline, event_loop() as runner:
        runner.run(_serve(review, ListenAddress(port=port), deadline, started))


async def _serve(
    review: OpenReview, address: ListenAddress, deadline: Deadline, started: Callable[[str], None]
) -> None:
    token, executor = secrets.token_urlsafe(24), ThreadPoolExecutor(THREADS, "review")
    listening = Listening(make_app(review, token, LIMITS, executor), address, LIMITS, deadline)
    review.review.start()
    try:
        async with listening:
            if await listening.until(asyncio.ensure_future(_answers(listening.port))):
                # After the #, so that the token is never part of a request, a log or a referrer.
                started(f"{listening.url}/#token={token}")
                await listening.until()
            await listening.drain()
    finally:
        await asyncio.to_thread(_close, review, executor)


def _close(review: OpenReview, executor: ThreadPoolExecutor) -> None:
    executor.shutdown(wait=True, cancel_futures=True)
    review.review.close()


async def _answers(port: int) -> None:
    """Return when the server answers, so that a browser that opens immediately finds it."""
    for _ in range(500):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return
