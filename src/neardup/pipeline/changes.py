"""What differs in the verified pairs of a corpus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.clusters.described import describe_guarded
from neardup.compare.changes import Counts
from neardup.config.config import Config
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.pairs import FoundPairs, Room

__all__ = ["describe_pairs"]

Rows = NDArray[np.int64]


def describe_pairs(
    corpus: Corpus, found: FoundPairs, config: Config, rank: Rows, room: Room, threads: int = 1
) -> Counts:
    """A row of `compare.changes.COLUMNS` for each pair; texts are read for the documents in pairs and no others."""

    def fetch(rows: Rows) -> _core.Texts:
        corpus.expect(rows)
        texts = _core.Texts()
        for shard, local in corpus.by_shard(rows):
            texts.add_texts(shard.texts(local))
        return texts

    # The facts of a text take about three times its size.
    most = min(1 << 21, max(1 << 20, room.memory // 64))
    return describe_guarded(
        found.pairs,
        found.first,
        rank,
        config.protect,
        corpus.sizes,
        fetch,
        threshold=config.verify.threshold,
        method=config.clusters,
        most=most,
        threads=threads,
    )
