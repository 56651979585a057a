"""One of several equal parts of some work, for tasks that run side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from neardup.errors import ConfigError

__all__ = ["WHOLE", "Part", "by_size"]

Item = TypeVar("Item")


@dataclass(frozen=True)
class Part:
    """Part `number` (from 0) of `count`."""

    number: int = 0
    count: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.number < self.count:
            raise ConfigError(f"task {self.number} of {self.count}: tasks are numbered from 0")

    def takes(self, item: int) -> bool:
        """Whether item number `item` belongs to this part."""
        return item % self.count == self.number

    def span(self, items: int) -> tuple[int, int]:
        """The first item of this part and the one behind its last, if `items` are split in order."""
        return items * self.number // self.count, items * (self.number + 1) // self.count


WHOLE = Part()


def by_size(items: Sequence[Item], sizes: Sequence[int], part: Part) -> list[Item]:
    """The items of one part, if items are split in order into parts of about equal size. An item belongs to the part
    in which its middle is."""
    total, before, mine = max(1, sum(sizes)), 0, []
    for item, size in zip(items, sizes, strict=True):
        if (2 * before + size) * part.count // (2 * total) == part.number:
            mine.append(item)
        before += size
    return mine
