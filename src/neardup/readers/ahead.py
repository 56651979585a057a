"""Blocks of a file read and worked on by several threads, and given back in the order of the file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.readers.layout import Layout
from neardup.readers.text_block import TextBlock

__all__ = ["Ahead", "Work"]

_Parsed = TypeVar("_Parsed")


@dataclass(frozen=True)
class Work:
    """The work on the texts of each block while they are in the cache, by `threads` threads: `run` gets a buffer of
    UTF-8 and the offsets of the texts in it. Pages are treated as texts if `pages` is set; otherwise the work skips
    them. Blocks that had to be read line by line are left to the caller."""

    run: Callable[[NDArray[np.uint8], NDArray[np.int64]], Any]
    threads: int = 1
    pages: bool = True


class Ahead:
    """A queue of blocks. Later blocks are read while the first ones are parsed and worked on. What depends on the order
    (row numbers, rejects, the account) is computed when a block leaves the queue, by the thread that reads.

    `layout` is the layout of the last block that left the queue.
    """

    def __init__(self, work: Work | None, layout: Layout | None) -> None:
        self.work, self.layout = work, layout
        threads = work.threads if work is not None else 0
        self._pool = ThreadPoolExecutor(threads) if threads else None
        self._most = threads + 2 if threads else 0
        self._items: deque[tuple[Future[Any], Callable[[Any], TextBlock | None], Layout | None]] = deque()

    def put(
        self,
        parse: Callable[[], _Parsed],
        settle: Callable[[_Parsed], TextBlock | None],
        layout: Layout | None,
    ) -> Iterator[TextBlock]:
        """Start parsing a block; if the queue is full, return the blocks before it that are ready. `settle` makes the
        block out of what was parsed; None if it has no documents."""
        future: Future[_Parsed]
        if self._pool is not None:
            future = self._pool.submit(parse)
        else:
            future = Future()
            future.set_result(parse())
        self._items.append((future, settle, layout))
        while len(self._items) > self._most:
            yield from self._first()

    def drain(self) -> Iterator[TextBlock]:
        """All blocks that are left."""
        while self._items:
            yield from self._first()

    def _first(self) -> Iterator[TextBlock]:
        future, settle, layout = self._items.popleft()
        made = settle(future.result())
        if made is not None and len(made):
            self.layout = layout or self.layout
            yield made

    def close(self) -> None:
        """Stop the threads; what was not given back is dropped."""
        for future, _, _ in self._items:
            future.cancel()
        self._items.clear()
        if self._pool is not None:
            self._pool.shutdown()
