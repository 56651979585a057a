"""The last ten minutes of the service, for the live page: requests, failures, times and duplicates, by five seconds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from neardup.http.schemas import Moment

__all__ = ["EVERY", "MOMENTS", "History", "quantile"]

EVERY = 5  # seconds in a moment
MOMENTS = 120
TIMES = 512  # requests of a moment whose times are kept
# Requests of programs that watch the service, and of its pages, say nothing about its work.
WATCHING = frozenset({"/v1/live", "/v1/health", "/v1/ready", "/v1/stats", "/v1/openapi.json", "/metrics"})


def quantile(seconds: deque[float], share: float) -> float | None:
    """The smallest time that this share of the requests did not exceed; None if there is none."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


@dataclass(slots=True)
class _Counts:
    at: int
    requests: int = 0
    searches: int = 0
    failed: int = 0
    refused: int = 0
    new: int = 0
    duplicates: int = 0
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=TIMES))


class History:
    """Counts by moments; those without requests are not stored. `now` gives seconds since 1970."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._moments: deque[_Counts] = deque(maxlen=MOMENTS)

    def _current(self) -> _Counts:
        at = int(self._now()) // EVERY * EVERY
        if not self._moments or self._moments[-1].at < at:
            self._moments.append(_Counts(at))
        return self._moments[-1]

    def request(self, route: str, status: int, seconds: float) -> None:
        """A request is done. 5xx is a failure of the service; 4xx is refused, because the client asked wrongly."""
        if not route.startswith("/v1/") or route in WATCHING:
            return
        counts = self._current()
        counts.requests += 1
        counts.searches += route == "/v1/search"
        counts.failed += status >= 500
        counts.refused += 400 <= status < 500
        counts.seconds.append(seconds)

    def remembered(self, new: int, duplicates: int) -> None:
        """Documents were taken."""
        counts = self._current()
        counts.new += new
        counts.duplicates += duplicates

    def moments(self) -> list[Moment]:
        """The moments of the last ten minutes, ascending."""
        least = self._now() - EVERY * MOMENTS
        return [
            Moment(
                one.at, one.requests, one.searches, one.failed, one.refused, one.new, one.duplicates,
                quantile(one.seconds, 0.5), quantile(one.seconds, 0.99),
            )
            for one in self._moments
            if one.at >= least
        ]  # fmt: skip
