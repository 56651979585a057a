"""Pages that could not be judged because the service was away; they are judged when it is back."""

from __future__ import annotations

from collections import deque

__all__ = ["Backlog"]

MOST_BYTES = 256 << 20


class Backlog:
    """Ids and texts in the order they came. When they take more than `most` bytes, the oldest are given up and counted
    in `lost`."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._pages: deque[tuple[str, str]] = deque()
        self._most, self._size, self.lost = most, 0, 0

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, id: str, text: str) -> None:
        self._pages.append((id, text))
        self._size += _size(id, text)
        while self._size > self._most and len(self._pages) > 1:
            self._size -= _size(*self._pages.popleft())
            self.lost += 1

    def first(self, many: int) -> list[tuple[str, str]]:
        """The oldest pages; they remain until `done`."""
        return [self._pages[place] for place in range(min(many, len(self._pages)))]

    def done(self, many: int) -> None:
        for _ in range(many):
            self._size -= _size(*self._pages.popleft())


def _size(id: str, text: str) -> int:
    return len(id) + len(text) + 200
