"""Counters for Prometheus."""

from __future__ import annotations

import time
from collections import deque

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from neardup.service.schemas import RouteAnswer, StatsAnswer

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


RECENT = 512  # requests of a route whose times are kept


class _Route:
    """Requests of one route: how many, and how long the last ones took."""

    __slots__ = ("count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds: deque[float] = deque(maxlen=RECENT)

    def quantile(self, share: float) -> float:
        """The smallest time that this share of the last requests did not exceed."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class Metrics:
    """What is counted. Routes are named by their pattern, never by what a client wrote."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = self.registry
        self._requests = Counter("neardup_requests", "Requests served", ["route", "status"], registry=own)
        self._seconds = Histogram(
            "neardup_request_seconds", "Time of a request", ["route"], buckets=SECONDS, registry=own
        )
        self._batches = Histogram(
            "neardup_batch_size", "Requests in one call", ["kind"], buckets=SIZES, registry=own
        )
        self._answers = Counter("neardup_documents", "Documents remembered", ["answer"], registry=own)
        self.in_work = Gauge("neardup_requests_in_work", "Requests being read or served", registry=own)
        self._documents = Gauge("neardup_index_documents", "Documents in the index", registry=own)
        self._keepers = Gauge("neardup_index_keepers", "Keepers in the index", registry=own)
        self._memory = Gauge("neardup_index_memory_bytes", "Tables in memory", registry=own)
        self._children: dict[tuple[str, int], tuple[Counter, Histogram, _Route]] = {}
        self._routes: dict[str, _Route] = {}
        self.started = time.time()
        self.new = self.duplicates = 0
        self._new, self._old = self._answers.labels("new"), self._answers.labels("duplicate")

    def request(self, route: str, status: int, seconds: float) -> None:
        """One request is done."""
        key = (route, status)
        if key not in self._children:
            recent = self._routes.setdefault(route, _Route())
            self._children[key] = (
                self._requests.labels(route, str(status)),
                self._seconds.labels(route),
                recent,
            )
        count, times, recent = self._children[key]
        count.inc()
        times.observe(seconds)
        recent.count += 1
        recent.seconds.append(seconds)

    def batch(self, kind: str, size: int) -> None:
        self._batches.labels(kind).observe(size)

    def remembered(self, new: int, duplicates: int) -> None:
        if new:
            self._new.inc(new)
            self.new += new
        if duplicates:
            self._old.inc(duplicates)
            self.duplicates += duplicates

    def routes(self) -> list[RouteAnswer]:
        """Requests by route, with the median and the 99th percentile of the last ones' seconds."""
        found = sorted(self._routes.items())
        return [RouteAnswer(name, one.count, one.quantile(0.5), one.quantile(0.99)) for name, one in found]

    def text(self, stats: StatsAnswer | None) -> bytes:
        """All of it in Prometheus' text format."""
        if stats is not None:
            self._documents.set(stats.documents)
            self._keepers.set(stats.keepers)
            self._memory.set(stats.memory_bytes)
        return generate_latest(self.registry)
