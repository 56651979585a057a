"""How many threads a call may use, and work that is done one step ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from neardup.errors import ConfigError

__all__ = ["check_threads", "one_ahead"]

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def check_threads(threads: int) -> int:
    """Return the number, or raise ConfigError: every call with `threads=` checks it before native code runs."""
    if not isinstance(threads, int) or not 1 <= threads <= 1024:
        raise ConfigError(f"threads={threads!r}: give a whole number from 1 to 1024")
    return threads


def one_ahead(
    items: Iterable[_Item], make: Callable[[_Item], _Made], threads: int
) -> Iterator[tuple[_Item, _Made]]:
    """Each item with what is made of it. With two threads or more, the next is made while the caller uses this one, so
    that what is made of two items exists at a time."""
    if threads < 2:
        for item in items:
            yield item, make(item)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        waiting: tuple[_Item, Future[_Made]] | None = None
        for item in items:
            made = pool.submit(make, item)
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = item, made
        if waiting is not None:
            yield waiting[0], waiting[1].result()
