"""The speed of this machine: the few numbers that all predictions use, measured in a few seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import log2
from time import perf_counter, process_time
from types import MappingProxyType

import numpy as np

__all__ = ["REFERENCE", "Machine", "best_seconds", "measure_access"]

NANO = 1e-9

Points = Sequence[tuple[float, float]]
Scales = Mapping[str, Points]


@dataclass(frozen=True)
class Machine:
    """Costs of one core, in nanoseconds unless a comment names another unit.

    `access` lists (bytes of a working set, cost of one random read in it when many are under way); costs
    between are interpolated on the logarithm of the size. `scale` corrects a method's query time and
    `build_scale` its build time by number of codes: the measured work over the predicted one, both without the time
    that memory adds beyond the nearest cache, as `access` has that already; 1 without a measurement.
    """

    access: tuple[tuple[float, float], ...]
    per_query: float = 8.0  # take the query in
    per_table: float = 5.0  # permute the query for one table
    per_probe: float = 2.0  # list one probe and read its bucket, beyond the accesses
    per_read: float = 2.0  # accesses that one read costs: reads of a probe follow each other, so overlap less
    per_presence: float = 0.5  # ask one word of a presence map, beyond the access
    per_run: float = 6.0  # a bucket runs on into another line: the end of the loop was not foreseen
    per_line: float = 1.5  # compare one more line of 16 stored codes
    per_match: float = 50.0  # a match, again in each table that has it
    per_hit: float = 30.0  # look up the row of a match, beyond the accesses
    per_flip_set: float = 2.0  # make one PSM probe from the margins
    per_ranking: float = 70.0  # rank the margins of one query's header
    per_compare: float = 0.25  # compare one pair of codes in a scan
    per_built: float = 25.0  # put one code into one table
    disk_bytes_per_second: float = 1e9
    scale: Scales = field(default_factory=lambda: MappingProxyType({}))
    build_scale: Scales = field(default_factory=lambda: MappingProxyType({}))
    measured: bool = False

    def access_ns(self, size: float) -> float:
        """Cost of one random read in `size` bytes when many are under way."""
        return _between(self.access, size)

    @property
    def in_cache(self) -> Machine:
        """The same core if every read came from its nearest cache."""
        return replace(self, access=self.access[:1])

    def query_factor(self, kind: str, codes: float) -> float:
        """The factor for the predicted work of a query."""
        return _between(self.scale[kind], codes) if kind in self.scale else 1.0

    def build_factor(self, kind: str, codes: float) -> float:
        """The factor for the predicted work of a build."""
        return _between(self.build_scale[kind], codes) if kind in self.build_scale else 1.0

    def scaled(self, scale: Scales, build_scale: Scales) -> Machine:
        """This machine with the corrections that measured runs gave."""
        return replace(
            self,
            scale=MappingProxyType(dict(scale)),
            build_scale=MappingProxyType(dict(build_scale)),
            measured=True,
        )


def _between(points: Points, at: float) -> float:
    """Interpolated on the logarithm; the nearest value beyond either end."""
    return float(np.interp(log2(max(at, 1.0)), [log2(x) for x, _ in points], [y for _, y in points]))


REFERENCE = Machine(
    access=((2.0**20, 1.2), (2.0**24, 3.0), (2.0**27, 6.0), (2.0**29, 9.0), (2.0**31, 11.0), (2.0**36, 14.0))
)
"""One core of a 2.6 GHz server with AVX-512, for predictions where nothing may be measured."""


def best_seconds(run: Callable[[], object], *, repeats: int = 3, cpu: bool = True) -> float:
    """The least of a few runs: noise only ever adds. CPU seconds are for one thread, wall seconds for
    more."""
    clock = process_time if cpu else perf_counter
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        run()
        best = min(best, clock() - start)
    return best


@lru_cache(maxsize=1)
def measure_access(largest: int = 2**29) -> tuple[tuple[float, float], ...]:
    """(bytes, ns) of one random read among many under way, for working sets from 1 MiB to `largest`.

    Gathers single words at random places; the processor overlaps them as a batch of prefetched probes is
    overlapped. A larger set costs more through address translation alone, which is added by a rule of thumb.
    """
    generator = np.random.default_rng(1)
    reads = 2**19
    words = np.zeros(largest // 8, dtype=np.uint64)
    words[:: 4096 // 8] = 1
    out = np.empty(reads, dtype=np.uint64)
    costs: list[tuple[float, float]] = []
    size = 2**20
    while size <= largest:
        within = words[: size // 8]
        where = generator.integers(0, len(within), reads)
        seconds = best_seconds(partial(np.take, within, where, out=out, mode="clip"))
        costs.append((float(size), seconds / reads / NANO))
        size *= 4
    floor = costs[0][1]
    # The time of the gather loop itself is subtracted; a read from the nearest cache takes about 1 ns.
    access = [(s, max(1.0, 1.0 + cost - floor)) for s, cost in costs]
    last = access[-1]
    return (*access, (last[0] * 2**7, last[1] * 1.35))
