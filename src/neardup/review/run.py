"""Start and stop the review page: on this machine's loopback alone, for who knows its address."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import signal
from collections.abc import Callable

from neardup.errors import DataError
from neardup.review.app import make_app
from neardup.review.session import Review
from neardup.service.limits import Limits
from neardup.service.run import LEAVE_SECONDS, Address, event_loop, free_port, make_server

__all__ = ["serve"]

LIMITS = Limits(body=1 << 20, requests=64, connections=256, drain_seconds=5.0)


def serve(review: Review, port: int = 0, *, started: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in work and return. `started` gets the address to open."""
    logging.getLogger("_granian").setLevel(logging.ERROR)
    with event_loop() as runner:
        runner.run(_serve(review, Address(port=port), started))


async def _serve(review: Review, address: Address, started: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    token = secrets.token_urlsafe(24)
    gate = make_app(review, token, LIMITS)
    port = free_port(address)
    server = make_server(gate, address, port, LIMITS)
    serving = loop.create_task(server.serve())
    stopping = loop.create_task(stop.wait())
    review.start()
    try:
        await _listening(serving, port)
        # Behind the #, so that the token is never part of a request, a log or a referrer.
        started(f"{address.url(port)}/#token={token}")
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
            raise DataError("the server ended by itself")
        gate.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LIMITS.drain_seconds):
                while gate.in_work:
                    await asyncio.sleep(0.01)
    finally:
        server.stop()
        with contextlib.suppress(Exception):
            await asyncio.wait({serving}, timeout=LEAVE_SECONDS)
        stopping.cancel()
        await asyncio.to_thread(review.close)


async def _listening(serving: asyncio.Task[None], port: int) -> None:
    """Return when the server answers, so that a browser that is opened at once finds it."""
    for _ in range(500):
        if serving.done():
            return
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return
