"""One run, whoever asks for it: read, prepare, fingerprint, find, cluster.

`dedup`, `scan` and `learn_templates` call these stages. Spark spreads the first ones over a cluster; its driver calls
what is left, `select` to decide and the writer of findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut, select
from neardup.config.config import Config
from neardup.config.filters import languages_of
from neardup.pipeline.batches import Batch
from neardup.pipeline.changes import describe_pairs
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.fit import Prepared, needs_corpus, prepare
from neardup.pipeline.pairs import Found, Room, find
from neardup.pipeline.sharder import Sharder
from neardup.pipeline.shards import Shard
from neardup.progress import Progress
from neardup.values.threads import check_threads

__all__ = ["Run"]

Rows = NDArray[np.int64]
_SHARD = 1 << 26  # bytes of text in a shard, if the memory allows


class Run:
    """The stages of one run, to be called in order. Shards are files if the room has a folder, else in memory.

    `shard_bytes` is the text of one shard, by default chosen from the room; it changes no answer.
    """

    def __init__(
        self,
        config: Config,
        *,
        room: Room | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        shard_bytes: int | None = None,
    ) -> None:
        self.config, self.threads = config, check_threads(threads)
        self.room, self.progress = room or Room(), progress or Progress()
        self.size = shard_bytes or min(_SHARD, max(1 << 20, self.room.memory // 32))
        self.prepared = Prepared.untaught(config, threads)
        self.reference = 0
        self._shards: list[Shard] = []
        self._read: list[tuple[Sharder, list[Shard]]] = []

    def read(
        self, batches: Iterable[Batch], prefix: str = "", progress: Callable[[int], None] | None = None
    ) -> list[Shard]:
        """Documents to shards, with all that can be told of them before the whole corpus was read."""
        sharder = Sharder(
            self.config,
            self.prepared,
            folder=self.room.folder,
            prefix=prefix,
            size=self.size,
            threads=self.threads,
        )
        shards = sharder.shards(batches, progress)
        self._read.append((sharder, shards))
        self._shards += shards
        return shards

    def take(self, shards: Iterable[Shard]) -> None:
        """Shards of an earlier run, with their fingerprints."""
        self._shards += shards

    def end_reference(self) -> None:
        """What was read so far is what the documents to come are compared against."""
        self.reference = sum(shard.count for shard in self._shards)

    @cached_property
    def corpus(self) -> Corpus:
        """All that was read."""
        return Corpus(self._shards, self.reference)

    def learn(self) -> Prepared:
        """What the config learns from the corpus."""
        self.prepared = prepare(self.config, self.corpus, threads=self.threads)
        return self.prepared

    def fingerprint(self) -> None:
        """Fingerprints of all documents; they were made while reading unless the config has to learn first."""
        if not needs_corpus(self.config):
            return
        self.progress.stage("fingerprint", len(self.corpus), "documents")
        prepared, done = self.learn(), 0
        for sharder, shards in self._read:
            for count in sharder.fingerprint(shards, prepared):
                self.progress.reached(done := done + count)

    @cached_property
    def rank(self) -> Rows:
        """The rank of each document by the keep policy, 0 the best."""
        corpus = self.corpus
        return self.config.keep.rank(
            corpus.sizes, corpus.sources, corpus.source_names, corpus.scores, self.reference
        )

    def _languages(self, rows: Rows) -> list[str]:
        return [
            code
            for shard, local in self.corpus.by_shard(rows)
            for code in languages_of(shard.text_bytes(local))
        ]

    def find(self) -> Found:
        """Equal documents and verified pairs."""
        self.fingerprint()
        found = find(self.corpus, self.prepared, self.rank, room=self.room, progress=self.progress)
        if not self.config.protect:
            return found
        changes = describe_pairs(self.corpus, found.pairs, self.room, self.threads)
        return replace(found, changes=changes)

    def cluster(self, found: Found) -> Cut:
        """Clusters, and what is kept at the config's threshold; filtered documents are dropped."""
        self.progress.stage("cluster")
        config, corpus = self.config, self.corpus
        made = select(
            found.pairs,
            found.first,
            self.rank,
            config.keep,
            threshold=config.verify.threshold,
            sources=corpus.sources,
            method=config.clusters,
            reference=self.reference,
            languages=self._languages,
            guards=config.protect,
            changes=found.changes,
        )
        return replace(made, kept=made.kept & (corpus.column("filtered") == 0))
