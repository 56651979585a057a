"""Counters for Prometheus."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from neardup.http.history import History, quantile
from neardup.http.schemas import RouteAnswer, StatsAnswer

__all__ = ["CONTENT_TYPE_LATEST", "Metrics", "Shown", "exposition"]

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
        return quantile(self.seconds, share) or 0.0


class _Spread:
    """How often values fell between bounds, and their sum."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds, self._counts, self._sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def fill(self, family: HistogramMetricFamily, labels: Sequence[str]) -> None:
        total, buckets = 0, []
        for bound, count in zip([*map(str, map(float, self._bounds)), "+Inf"], self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        family.add_metric(labels, buckets, self._sum)


class Metrics:
    """What is counted of one index, on the event loop alone. Routes are named by their pattern, never by what a client
    wrote.

    The counts are plain numbers, given to the client library when it asks: its own counters take a lock and several
    microseconds for each request.
    """

    def __init__(self, index: str = "") -> None:
        self.index = index
        self._requests: dict[tuple[str, int], int] = {}
        self._seconds: dict[str, _Spread] = {}
        self._batches: dict[str, _Spread] = {}
        self._routes: dict[str, _Route] = {}
        self.started = time.time()
        self.new = self.duplicates = 0
        self.history = History()

    def request(self, route: str, status: int, seconds: float) -> None:
        """One request is done."""
        key = (route, status)
        self._requests[key] = self._requests.get(key, 0) + 1
        spread = self._seconds.get(route)
        if spread is None:
            spread = self._seconds[route] = _Spread(SECONDS)
        spread.add(seconds)
        recent = self._routes.get(route)
        if recent is None:
            recent = self._routes[route] = _Route()
        recent.count += 1
        recent.seconds.append(seconds)
        self.history.request(route, status, seconds)

    def batch(self, kind: str, size: int) -> None:
        if kind not in self._batches:
            self._batches[kind] = _Spread(SIZES)
        self._batches[kind].add(size)

    def remembered(self, new: int, duplicates: int) -> None:
        self.new += new
        self.duplicates += duplicates
        self.history.remembered(new, duplicates)

    def routes(self) -> list[RouteAnswer]:
        """Requests by route, with the median and the 99th percentile of the last ones' seconds."""
        found = sorted(self._routes.items())
        return [RouteAnswer(name, one.count, one.quantile(0.5), one.quantile(0.99)) for name, one in found]

    def fill_requests(self, family: CounterMetricFamily) -> None:
        for (route, status), count in self._requests.items():
            family.add_metric([self.index, route, str(status)], count)

    def fill_seconds(self, family: HistogramMetricFamily) -> None:
        for route, spread in self._seconds.items():
            spread.fill(family, [self.index, route])

    def fill_batches(self, family: HistogramMetricFamily) -> None:
        for kind, spread in self._batches.items():
            spread.fill(family, [self.index, kind])

    def fill_answers(self, family: CounterMetricFamily) -> None:
        family.add_metric([self.index, "new"], self.new)
        family.add_metric([self.index, "duplicate"], self.duplicates)


class Shown(NamedTuple):
    """The counters of an index, whether there is one, and its sizes if it is open."""

    counted: Metrics
    indexed: bool
    stats: StatsAnswer | None


SIZES_OF: tuple[tuple[str, str, Callable[[StatsAnswer], int]], ...] = (
    ("neardup_index_documents", "Documents in the index", lambda stats: stats.documents),
    ("neardup_index_keepers", "Keepers in the index", lambda stats: stats.keepers),
    ("neardup_index_memory_bytes", "Tables in memory", lambda stats: stats.memory_bytes),
)


def exposition(shown: Sequence[Shown], in_work: int) -> bytes:
    """All counters, and the sizes of the indexes that could be asked, in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Shown(shown, in_work))
    return generate_latest(registry)


class _Shown(Collector):
    """The metrics as the client library takes them. What belongs to an index with a name has it as a label."""

    def __init__(self, shown: Sequence[Shown], in_work: int) -> None:
        self._shown, self._in_work = shown, in_work

    def collect(self) -> Iterator[Metric]:
        for family in self._families():
            family.samples = [
                one._replace(labels={name: value for name, value in one.labels.items() if value})
                for one in family.samples
            ]
            yield family
        yield GaugeMetricFamily(
            "neardup_requests_in_work", "Requests being read or served", value=self._in_work
        )

    def _families(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "neardup_requests", "Requests served", labels=["index", "route", "status"]
        )
        seconds = HistogramMetricFamily(
            "neardup_request_seconds", "Time of a request", labels=["index", "route"]
        )
        batches = HistogramMetricFamily(
            "neardup_batch_size", "Requests in one call", labels=["index", "kind"]
        )
        answers = CounterMetricFamily("neardup_documents", "Documents remembered", labels=["index", "answer"])
        for counted, _, _ in self._shown:
            counted.fill_requests(requests)
            counted.fill_seconds(seconds)
            counted.fill_batches(batches)
            counted.fill_answers(answers)
        yield from (requests, seconds, batches, answers)
        for name, described, size in SIZES_OF:
            gauge = GaugeMetricFamily(name, described, labels=["index"])
            for counted, _, stats in self._shown:
                if stats is not None:
                    gauge.add_metric([counted.index], size(stats))
            yield gauge
        ready = GaugeMetricFamily("neardup_index_ready", "Whether the index can be used", labels=["index"])
        for counted, indexed, stats in self._shown:
            if indexed:
                ready.add_metric([counted.index], stats is not None)
        yield ready
