"""What differs in the verified pairs of a corpus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.compare.changes import Counts, describe
from neardup.compare.verify import Pairs
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.pairs import Room

__all__ = ["describe_pairs"]


def describe_pairs(corpus: Corpus, pairs: Pairs, room: Room, threads: int = 1) -> Counts:
    """A row of `compare.changes.COLUMNS` for each pair; texts are read for the documents in pairs and no others."""

    def fetch(rows: NDArray[np.int64]) -> list[bytes]:
        return [text for shard, local in corpus.by_shard(rows) for text in shard.text_bytes(local)]

    # The facts of a text take about three times its size.
    most = min(32 << 20, max(1 << 20, room.memory // 64))
    return describe(pairs, corpus.sizes, fetch, most=most, threads=threads)
