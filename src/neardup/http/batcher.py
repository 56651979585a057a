"""Micro-batching: requests that arrive together become one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Generic, TypeVar

__all__ = ["Batcher"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Batcher(Generic[Item, Answer]):
    """Collects items and hands them to `run`, a batch at a time, in a thread of the executor.

    There is no timer: a batch is what has come in one turn of the event loop, or while the batch before it was in
    work. So a lone request waits for nothing but its own work, and the busier it gets, the larger the batches.
    `run` gives for each item its answer, or an exception that its caller gets. Lives on one event loop.
    """

    def __init__(
        self,
        run: Callable[[list[Item]], list[Answer | BaseException]],
        executor: Executor,
        *,
        most: int = 1024,
        observe: Callable[[int], None] | None = None,
    ) -> None:
        self._run, self._executor, self._most, self._observe = run, executor, most, observe
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._busy = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def put(self, item: Item) -> asyncio.Future[Answer]:
        """The answer to come."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((item, future))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._start)
        return future

    def _start(self) -> None:
        batch = self._waiting[: self._most]
        del self._waiting[: self._most]
        # Items of callers that were cancelled while they waited are left out.
        batch = [(item, future) for item, future in batch if not future.cancelled()]
        if not batch:
            self._busy = False
            if self._waiting:
                self._busy = True
                assert self._loop is not None
                self._loop.call_soon(self._start)
            return
        if self._observe is not None:
            self._observe(len(batch))
        assert self._loop is not None
        loop = self._loop
        work = self._executor.submit(self._run, [item for item, _ in batch])
        work.add_done_callback(lambda done: loop.call_soon_threadsafe(self._finish, batch, done))

    def _finish(self, batch: list[tuple[Item, asyncio.Future[Answer]]], done: Future[Any]) -> None:
        if self._waiting:
            self._start()
        else:
            self._busy = False
        if done.cancelled():  # the executor was closed first
            for _, future in batch:
                future.cancel()
            return
        failed = done.exception()
        answers = [failed] * len(batch) if failed is not None else done.result()
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)
