"""Which bits of its header a query flips, likeliest first, as masks: PSM's probes, made once for a whole batch.

A margin is the vote behind a bit; the smaller, the likelier the bit is to differ in a near duplicate (Sood and
Loguinov 2011, section 4). The cost of a set of flips is the sum of the margins' sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.psm.margins import margin_sizes
from neardup.values.threads import check_threads

__all__ = ["Flips", "HeapFlips", "TemplateFlips"]

_SAMPLE = 4096


class Flips(Protocol):
    """Which bits of its header each query flips."""

    def __call__(
        self, queries: Codes, header: int, probes: int, radius: int, threads: int = 1
    ) -> NDArray[np.uint32]:
        """For each query that is not empty its `probes` likeliest sets of header bits, uint32[n, probes].

        Bit header - 1 of a mask is the highest bit of the code. Masks of a query are distinct and have at
        most `radius` bits; 0 means none.
        """
        ...


@dataclass(frozen=True)
class HeapFlips:
    """Each query's own cheapest sets in exact order, from the volatility-ordered heap."""

    def __call__(
        self, queries: Codes, header: int, probes: int, radius: int, threads: int = 1
    ) -> NDArray[np.uint32]:
        """The masks; a heap step for each."""
        costs = margin_sizes(queries)
        if not probes:
            return np.empty((len(costs), 0), np.uint32)
        return _core.heap_flips(costs, header, radius, probes, check_threads(threads))


@dataclass(frozen=True)
class TemplateFlips:
    """The same sets of ranks for every query, from weakest bit to firmest: many times cheaper, almost as good.

    `expected` is the cost of flipping the bit of each rank, ascending, one for each bit of the header; by default
    the mean over the first 4,096 queries of the batch.
    """

    expected: tuple[float, ...] | None = None

    def of_batch(self, queries: Codes, header: int) -> TemplateFlips:
        """The same with the costs that this batch expects, for parts of the batch."""
        if self.expected is not None:
            return self
        costs = margin_sizes(queries)[:_SAMPLE, queries.bits - header :]
        mean = np.sort(np.abs(costs), axis=1).mean(axis=0, dtype=np.float64).astype(np.float32)
        return TemplateFlips(tuple(mean.tolist()))

    def __call__(
        self, queries: Codes, header: int, probes: int, radius: int, threads: int = 1
    ) -> NDArray[np.uint32]:
        """The masks; fewer than `probes` when there are no more sets."""
        costs = margin_sizes(queries)
        if not probes or not len(costs):
            return np.empty((len(costs), 0), np.uint32)
        by_rank = np.array(self.of_batch(queries, header).expected, np.float32)
        if len(by_rank) != header:
            raise ConfigError(f"a header of {header} bits needs {header} expected costs, not {len(by_rank)}")
        return _core.template_flips(costs, by_rank, radius, probes, check_threads(threads))
