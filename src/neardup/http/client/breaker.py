"""A circuit breaker: a service that does not answer is left alone for a while instead of being waited for each time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from neardup.errors import ConfigError
from neardup.values.checks import checked

__all__ = ["Breaker"]


class Breaker:
    """After `failures` requests in a row without an answer, requests fail at once for `first` seconds. Then one request
    is sent to try the service; if it fails too, the pause doubles, up to `longest` seconds. Many threads may use it.

    `now` gives the time in seconds.
    """

    @checked
    def __init__(
        self,
        failures: int = 3,
        first: float = 1.0,
        longest: float = 30.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if failures < 1 or not 0 < first <= longest:
            raise ConfigError("a breaker has failures >= 1 and 0 < first <= longest seconds")
        self._limit, self._first, self._longest, self._now = failures, first, longest, now
        self._lock = threading.Lock()
        self._failures, self._pause, self._until = 0, first, 0.0

    @property
    def open(self) -> bool:
        """Whether requests fail at once now."""
        return self._failures >= self._limit and self._now() < self._until

    def ask(self) -> bool:
        """Whether a request may be sent. While the service is tried, only one may."""
        with self._lock:
            if self._failures < self._limit:
                return True
            if self._now() < self._until:
                return False
            self._until = self._now() + self._pause  # for the others; the answer to this one decides
            return True

    def answered(self, well: bool) -> None:
        """The service answered a request, or it did not."""
        with self._lock:
            if well:
                self._failures, self._pause = 0, self._first
                return
            self._failures += 1
            if self._failures == self._limit:
                self._until = self._now() + self._pause
            elif self._failures > self._limit:
                self._pause = min(2 * self._pause, self._longest)
                self._until = self._now() + self._pause
