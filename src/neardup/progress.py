"""Progress of long work: its stages, and how much of each is done. The caller decides what to show."""

from __future__ import annotations

import time

__all__ = ["Progress"]


class Progress:
    """Takes the news of a run and keeps the seconds of each stage. Subclasses show them; this one is silent."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage: str | None = None
        self._since = time.perf_counter()

    def stage(self, name: str, total: float | None = None, unit: str = "") -> None:
        """A stage begins, and the one before it ends. `total` is how much there is to do, in `unit`s."""
        now = time.perf_counter()
        if self._stage is not None:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = name, now

    def reached(self, done: float) -> None:
        """So much of the stage's total is done."""

    def finish(self) -> None:
        """The last stage has ended."""
        self.stage("")
        self._stage = None
