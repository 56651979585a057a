"""The order of flips: which sets of bits are likeliest to differ between a code and its neighbours.

A bit with a small margin flips easily, so flipping it is cheap; a set costs the sum of its bits. Costs are
the margins' sizes, or log-odds from a model of how margins move (Sood and Loguinov, CIKM 2011, sections 4.3
and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.values.checks import check_fields, checked, checked_methods

__all__ = ["FlipModel", "expected_costs", "laplace_costs", "volatility_tree", "vosh"]

_TAIL = 0.98
"""Beyond this quantile of the sample a fitted exponential is used: both tails are exponential, and larger values than
those of the sample are possible."""


@checked
def vosh(
    costs: Sequence[float] | NDArray[np.float32], sets: int | None, radius: int
) -> list[tuple[int, ...]]:
    """The cheapest `sets` sets (None: all) of 1 to `radius` bits, each once, by increasing cost.

    `costs[j]` from 0 up is what flipping bit j costs. Ties: fewer bits first, then lower ranks, where bits
    rank by cost and then by number. Each set is an ascending tuple of bits. O(log k) for each of k sets.

    raises  ConfigError unless there are 1 to 256 costs and `radius` is 0 to 16

    >>> import neardup as nd
    >>> nd.search.vosh([0.5, 0.1, 0.3], sets=4, radius=2)
    [(1,), (2,), (1, 2), (0,)]
    """
    column = np.asarray(costs, np.float32)
    if column.ndim != 1 or not 1 <= len(column) <= 256 or not np.all(column >= 0):
        raise ConfigError("costs are 1 to 256 numbers from 0 up")
    if not 0 <= radius <= 16 or (sets is not None and sets < 0):
        raise ConfigError("radius is from 0 to 16, and sets is 0 or more")
    order = np.argsort(column, kind="stable")
    offsets, ranks, _ = _core.vosh(column[order], radius, 2**62 if sets is None else sets)
    bits = order[ranks].tolist()
    return [tuple(sorted(bits[a:b])) for a, b in pairwise(offsets.tolist())]


@checked
def volatility_tree(size: int, width: int, levels: int) -> list[list[tuple[int, ...]]]:
    """The first levels of the tree of sets of `size` among `width` ranks, from the left; ranks count from 1,
    as in the paper's figure 2.

    raises  ConfigError unless `size` is 1 to 16 and `width` from `size` to 256

    >>> import neardup as nd
    >>> nd.search.volatility_tree(size=2, width=4, levels=3)
    [[(1, 2)], [(1, 3)], [(1, 4), (2, 3)]]
    """
    if not 1 <= size <= min(width, 16) or not 1 <= width <= 256:
        raise ConfigError("a tree has sets of 1 to 16 of at most 256 ranks")
    tree = [[tuple(range(1, size + 1))]]
    while len(tree) < levels and tree[-1]:
        below = (_core.vosh_children([rank - 1 for rank in node], width) for node in tree[-1])
        tree.append([tuple(rank + 1 for rank in child) for both in below for child in both if child])
    return [level for level in tree if level]


@checked_methods
@dataclass(frozen=True, eq=False)
class FlipModel:
    """How likely a margin of a given size is to change sign: p = P(Y > |W|), where Y is how margins differ
    between two documents. `sizes` are sampled |Y|, ascending; the distribution is the same for every bit, or, with
    sizes of shape [bits, sample], each bit has its own.

    >>> import numpy as np
    >>> import neardup as nd
    >>> nd.search.FlipModel(np.array([0.25, 0.5, 1.0], np.float32)).sizes.tolist()
    [0.25, 0.5, 1.0]
    """

    sizes: NDArray[np.float32]

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def fit(
        cls,
        left: NDArray[np.float32],
        right: NDArray[np.float32],
        *,
        per_bit: bool = False,
        most: int = 1 << 20,
    ) -> FlipModel:
        """From the margins of pairs of documents, float32[pairs, bits] each; of more than `most` differences
        an even share is kept. Pairs may be any documents, as in the paper, or known near duplicates."""
        if left.shape != right.shape or left.ndim != 2 or not left.size:
            raise DataError(
                f"margins must be two equal matrices [pairs, bits], not {left.shape} and {right.shape}"
            )
        moves = np.abs(np.asarray(left, np.float64) - right).astype(np.float32)
        if not np.isfinite(moves).all():
            raise DataError("some margins are not finite numbers")
        sample = np.ascontiguousarray(moves.T) if per_bit else moves.reshape(1, -1)
        sample = np.sort(sample[:, :: -(-sample.shape[1] // most)], axis=1)
        return cls(sample if per_bit else sample[0])

    def probabilities(self, margins: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(flip) for each margin, from 1/2 at 0 down."""
        size = np.abs(np.asarray(margins, np.float64))
        if self.sizes.ndim == 1:
            return self._tail(self.sizes, size)
        if size.ndim != 2 or size.shape[1] != len(self.sizes):
            raise DataError(f"this model knows {len(self.sizes)} bits, not margins of shape {size.shape}")
        return np.stack([self._tail(s, size[:, j]) for j, s in enumerate(self.sizes)], axis=1)

    def costs(self, margins: NDArray[np.float32]) -> NDArray[np.float32]:
        """Log-odds against a flip, from 0 up: sets of bits rank by their sum as by their probability."""
        p = self.probabilities(margins)
        odds: NDArray[np.float64] = np.maximum(np.log1p(-p) - np.log(p), 0)
        return odds.astype(np.float32)

    @staticmethod
    def _tail(sizes: NDArray[np.float32], size: NDArray[np.float64]) -> NDArray[np.float64]:
        count = len(sizes)
        # One more than counted, because a change that is not in the sample is still possible.
        above = (count - np.searchsorted(sizes, size, side="right") + 1) / (2 * (count + 1))
        start = float(sizes[min(int(_TAIL * count), count - 1)])
        excess = sizes[sizes > start].astype(np.float64) - start
        scale = float(excess.mean()) if len(excess) else max(start, 1e-30)
        at_start = (count - np.searchsorted(sizes, start, side="right") + 1) / (2 * (count + 1))
        far = size > start
        # Never zero, because zero has no logarithm.
        above[far] = np.maximum(at_start * np.exp(-(size[far] - start) / scale), 1e-300)
        return above


def expected_costs(costs: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the cheapest, second cheapest, ... bit costs on average, from a sample of rows of costs: the one
    ranking that a template orders flip sets by."""
    if costs.ndim != 2 or not costs.size:
        raise DataError("a sample of costs has rows and columns")
    return np.maximum.accumulate(np.sort(np.abs(costs), axis=1).mean(axis=0, dtype=np.float64)).astype(
        np.float32
    )


def laplace_costs(header_bits: int) -> NDArray[np.float32]:
    """Expected costs when margins follow a Laplace distribution, as TF-IDF margins nearly do, and neighbours
    move them by a tenth of its scale: for queries whose margins come with no sample."""
    size = np.cumsum(1 / np.arange(header_bits, 0, -1))
    p = np.exp(-10 * size) / 2
    return (np.log1p(-p) - np.log(p)).astype(np.float32)
