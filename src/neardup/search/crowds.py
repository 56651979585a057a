"""Large buckets of which almost no pair is similar enough: they would cost the most and find the least.

Somebody can make documents that share keys with very many others and are a duplicate of none. If the large buckets of
a table hold many pairs for its rows, a few pairs of each are verified first. Where almost none of them is similar
enough, the bucket lists few of its pairs. So the work follows the pairs that are found, and an ordinary corpus, whose
large buckets hold duplicates or hold few pairs, gets all of its candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.search.pair_runs import pack_pairs, unpack_pairs
from neardup.values.distinct import distinct

__all__ = ["Crowds", "Verified", "poor_keys", "salt_of"]

Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]
Verified = Callable[[Rows, Rows], tuple[Rows, Rows]]
"""Those of some pairs, each of a smaller and a larger row, that are similar enough."""

CROWD = 24  # rows; in a smaller bucket all pairs are listed
PER_ROW = 8  # pairs of large buckets that a table may list for each of its rows without a check
FREE = 1 << 20  # and for a small table: verifying these takes less than a second
SAMPLE = 8  # rows of a bucket, of which all pairs are verified
LEAST = 1 / 16  # the least share of them that must be similar enough


@dataclass(frozen=True)
class Crowds:
    """The keys of a table's large buckets, ascending, and the sampled pairs of each, packed, [buckets, pairs]."""

    keys: Keys
    pairs: NDArray[np.uint64]

    @classmethod
    def of(cls, buckets: _core.KeyBuckets, rows: Rows, cap: int, salt: int) -> Crowds | None:
        """None if the large buckets hold few pairs. `rows` are those of the table; the salt chooses the samples."""
        keys, sizes, sampled = buckets.crowds(CROWD, SAMPLE, salt)
        listed = np.where(sizes <= cap, sizes * (sizes - 1) // 2, (_core.STARS + _core.NEIGHBOURS) * sizes)
        if int(listed.sum()) <= max(FREE, PER_ROW * len(rows)):
            return None
        one, two = np.triu_indices(SAMPLE, 1)
        # Rows ascend, and so do the sampled ones of a bucket.
        left, right = (rows[sampled[:, side]].astype(np.uint64) for side in (one, two))
        return cls(keys, left << np.uint64(32) | right)


def poor_keys(tables: Sequence[Crowds], verified: Verified) -> list[Keys]:
    """For each table the keys of the buckets of which almost no sampled pair is similar enough. The answer depends on
    each bucket alone, not on which tables are asked together."""
    sampled = distinct(np.concatenate([table.pairs.ravel() for table in tables]))
    similar = pack_pairs(*verified(*unpack_pairs(sampled)))
    return [table.keys[np.isin(table.pairs, similar).mean(axis=1) < LEAST] for table in tables]


def salt_of(keys: Keys) -> int:
    """A number that nobody knows who does not know all keys: it chooses the rows of samples."""
    return int(np.bitwise_xor.reduce(keys)) if len(keys) else 0
