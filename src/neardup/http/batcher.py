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

    A batch is what has come in one turn of the event loop, or while the batch before it was in work. A batch costs
    much more than an item of it. So after a batch of several callers, the next one waits until half of them have asked
    again, for at most `gather` seconds. A lone request waits for nothing but its own work.

    `run` gives for each item its answer, or an exception that its caller gets. Lives on one event loop.
    """

    def __init__(
        self,
        run: Callable[[list[Item]], list[Answer | BaseException]],
        executor: Executor,
        *,
        most: int = 1024,
        gather: float = 0.002,
        observe: Callable[[int], None] | None = None,
    ) -> None:
        self._run, self._executor, self._most, self._observe = run, executor, most, observe
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._busy = False  # a batch is in work, about to begin, or being gathered
        self._gather, self._wanted = gather, 0
        self._gathering: asyncio.TimerHandle | None = None
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
        elif self._gathering is not None and len(self._waiting) >= self._wanted:
            self._gathering.cancel()
            self._gathering = None
            loop.call_soon(self._start)
        return future

    def _next(self, callers: int) -> None:
        """After a batch: begin the next one, or wait until half of those who asked lately ask again."""
        self._wanted = min(callers // 2, self._most)
        if len(self._waiting) < self._wanted:
            assert self._loop is not None
            self._gathering = self._loop.call_later(self._gather, self._gathered)
        else:
            self._gathered()

    def _gathered(self) -> None:
        self._gathering = None
        if self._waiting:
            self._start()
        else:
            self._busy = False

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
        self._next(len(batch) + len(self._waiting))
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
