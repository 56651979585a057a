"""The one run of all callers: read, prepare, fingerprint, find, cluster.

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
from neardup.pipeline.fit import FrequencyCount, Prepared, needs_corpus, prepare
from neardup.pipeline.pairs import FoundPairs, Room, find
from neardup.pipeline.sharder import Sharder
from neardup.pipeline.shards import Shard
from neardup.pipeline.template_shares import learn_template, template_features
from neardup.pipeline.vector_rows import Dimensions
from neardup.progress import Progress
from neardup.readers.ahead import Work
from neardup.values.memory import release_unused
from neardup.values.threads import check_threads

__all__ = ["Run"]

Rows = NDArray[np.int64]
_SHARD = 1 << 26  # bytes of text in a shard, if the memory allows


class Run:
    """The stages of one run, to be called in order. Shards are files if the room has a folder, else in memory.

    `shard_bytes` is the text of one shard, by default chosen from the room; it changes no answer. With `places`, texts
    in plain local files are not copied into shards, and the files must not change until the end.
    """

    def __init__(
        self,
        config: Config,
        *,
        room: Room | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        shard_bytes: int | None = None,
        places: bool = False,
    ) -> None:
        self.places = places
        self.config, self.threads = config, check_threads(threads)
        self.room, self.progress = room or Room(), progress or Progress()
        self.size = shard_bytes or min(_SHARD, max(1 << 20, self.room.memory // 32))
        self.prepared = Prepared.untaught(config, threads)
        self.reference = 0
        self._shards: list[Shard] = []
        self._dimensions = Dimensions()
        self._count = FrequencyCount.of(config)
        self._read: list[tuple[Sharder, list[Shard]]] = []

    def read(
        self,
        batches: Iterable[Batch] | Callable[[Work], Iterable[Batch]],
        prefix: str = "",
        progress: Callable[[int], None] | None = None,
    ) -> list[Shard]:
        """Documents to shards, with all that is known of them before the whole corpus was read. Batches that can be
        worked on while they are read are a function of that work."""
        sharder = Sharder(
            self.config,
            self.prepared,
            folder=self.room.folder,
            prefix=prefix,
            size=self.size,
            threads=self.threads,
            places=self.places,
            dimensions=self._dimensions,
            count=self._count,
        )
        shards = sharder.shards(batches(sharder.work) if callable(batches) else batches, progress)
        self._read.append((sharder, shards))
        self._shards += shards
        release_unused()
        return shards

    def take(self, shards: Iterable[Shard]) -> None:
        """Shards of an earlier run, with their fingerprints."""
        for shard in shards:
            if self.config.vectors is not None and shard.count:
                self._dimensions.count = int(shard.column("tokens")[0])
            self._shards.append(shard)

    def end_reference(self) -> None:
        """Mark what was read so far as the corpus that later documents are compared against."""
        self.reference = sum(shard.count for shard in self._shards)

    @cached_property
    def corpus(self) -> Corpus:
        """All that was read."""
        return Corpus(self._shards, self.reference)

    def learn(self) -> Prepared:
        """What the config learns from the corpus."""
        self.prepared = prepare(self.config, self.corpus, threads=self.threads, count=self._count)
        self._count = None
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

    def find(self) -> FoundPairs:
        """Equal documents and verified pairs, and what differs in them."""
        return self.describe(self.search())

    def search(self) -> FoundPairs:
        """Equal documents and verified pairs."""
        self.fingerprint()
        found = find(self.corpus, self.prepared, self.rank, room=self.room, progress=self.progress)
        release_unused()
        return found

    def describe(self, found: FoundPairs) -> FoundPairs:
        """The same with what differs in the pairs, if a guard asks for it."""
        if not self.config.protect:
            return found
        changes = describe_pairs(self.corpus, found, self.config, self.rank, self.room, self.threads)
        release_unused()
        return replace(found, changes=changes)

    def with_template(self, found: FoundPairs) -> FoundPairs:
        """The same with what recurs in each source, if there are pairs."""
        if not len(found.pairs):
            return found
        features = template_features(self.config.shown)
        return replace(found, template=learn_template(self.corpus, features, self.threads))

    def cluster(self, found: FoundPairs) -> Cut:
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
