"""What a config must learn from the corpus before it can fingerprint it: IDF weights, and each source's templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config import Config, Templates
from neardup.corpus.corpus import Corpus
from neardup.corpus.shard import Prints, Shard
from neardup.features.base import Features
from neardup.features.extract import TextFeatures
from neardup.features.weights import Common, Frequencies, Idf
from neardup.fingerprints.imatch import IMatch
from neardup.fused import Printer, read_texts
from neardup.methods import Method
from neardup.threads import check_threads

__all__ = ["Prepared", "needs_corpus", "prepare"]

Rows = NDArray[np.int64]


def needs_corpus(config: Config) -> bool:
    """Whether fingerprints must wait until all documents were read once."""
    return config.idf is not None or config.templates is not None or isinstance(config.fingerprint, IMatch)


@dataclass(frozen=True)
class Prepared:
    """A config's features, ready to be made: with weights learnt, and templates left out source by source."""

    config: Config
    features: TextFeatures
    compared: TextFeatures
    templates: Mapping[int, tuple[Common, Common | None]] = field(default_factory=dict)
    source_names: tuple[str, ...] = ()
    threads: int = 1
    fitted: Printer | None = None

    @property
    def printer(self) -> Printer:
        """The fingerprint in force, with what it learnt."""
        if self.fitted is not None:
            return self.fitted
        prints = self.config.prints
        assert not isinstance(prints, IMatch), "a lexicon is learnt from the corpus"
        return prints

    @classmethod
    def untaught(cls, config: Config, threads: int = 1) -> Prepared:
        """The config as it stands, before anything was learnt: enough to read documents and to digest them."""
        return cls(config, config.features, config.compared, threads=threads)

    @property
    def scheme(self) -> str:
        """What decides the fingerprints."""
        learnt = " ".join(f"{s}:{c.scheme}" for s, (c, _) in sorted(self.templates.items()))
        return f"{self.features.scheme} | {self.fitted or self.config.prints!r} {learnt}".strip()[:2000]

    def extract(self, shard: Shard, rows: Rows, sources: NDArray[np.int32]) -> Features:
        """The features that are compared, of some rows of a shard."""
        if not self.templates:
            return self.compared.extract(shard.texts(rows), threads=self.threads)
        parts, orders = [], []
        for source in np.unique(sources):
            order = np.flatnonzero(sources == source)
            learnt = self.templates.get(int(source))
            features = self.compared
            if learnt is not None:
                features = replace(features, common=learnt[1] or learnt[0])
            parts.append(features.extract(shard.texts(rows[order]), threads=self.threads))
            orders.append(order)
        return _in_order(parts, np.concatenate(orders))

    def _sources(self, shard: Shard) -> NDArray[np.int32]:
        """Each document's source as the templates are numbered: by the names of the whole corpus."""
        place = {name: i for i, name in enumerate(self.source_names)}
        here = np.array([place.get(name, -1) for name in shard.source_names], np.int32)
        return here[shard.column("sources")] if shard.count else here[:0]

    def prints(self, shard: Shard, method: Method) -> Prints:
        """The columns a method keeps of a whole shard."""
        sources = self._sources(shard)
        whole: dict[str, NDArray[np.generic]] = {}
        for source in np.unique(sources) if self.templates else [-1]:
            rows = np.flatnonzero(sources == source) if self.templates else np.arange(shard.count)
            features = self.features
            if (learnt := self.templates.get(int(source))) is not None:
                features = replace(features, common=learnt[0])
            reading = read_texts(shard.texts(rows), features, self.printer, threads=self.threads)
            assert reading.prints is not None
            for name, column in method.kept(reading.prints, self.threads).items():
                if not self.templates:
                    whole[name] = column
                    continue
                by_row = column.T if name == "keys" else column
                if name not in whole:
                    whole[name] = np.zeros((shard.count, *by_row.shape[1:]), column.dtype)
                whole[name][rows] = by_row
        if self.templates and "keys" in whole:
            whole["keys"] = np.ascontiguousarray(whole["keys"].T)
        return whole


def prepare(config: Config, corpus: Corpus | None = None, *, threads: int = 1) -> Prepared:
    """Learn what the config asks for from the corpus, its filtered rows aside; deterministic."""
    check_threads(threads)
    features, compared = config.features, config.compared
    if not needs_corpus(config):
        return Prepared.untaught(config, threads)
    assert corpus is not None, "weights and templates are learnt from the corpus"
    if config.idf is not None:
        rows = _sampled(np.flatnonzero(~corpus.out))
        features = replace(features, weights=Idf(_frequencies(corpus, rows, features, threads), config.idf))
        if config.compare is None:
            compared = features
    fitted = None
    if isinstance(config.fingerprint, IMatch):
        frequencies = _frequencies(corpus, _sampled(np.flatnonzero(~corpus.out)), config.features, threads)
        fitted = config.fingerprint.fit(frequencies)
    templates: dict[int, tuple[Common, Common | None]] = {}
    if config.templates is not None:
        for source, rows in _rows_by_source(corpus, config.templates):
            learnt = _common(corpus, rows, config.features, config.templates, threads)
            other = None
            if config.compare is not None:
                other = _common(corpus, rows, config.compare, config.templates, threads)
            templates[source] = (learnt, other)
    return Prepared(config, features, compared, templates, tuple(corpus.source_names), threads, fitted)


_BATCH_TOKENS = 1 << 22
_IDF_SAMPLE = 1_000_000  # documents: word frequencies hardly change beyond


def _sampled(rows: Rows) -> Rows:
    if len(rows) <= _IDF_SAMPLE:
        return rows
    return rows[np.linspace(0, len(rows) - 1, _IDF_SAMPLE).astype(np.int64)]


def _frequencies(corpus: Corpus, rows: Rows, features: TextFeatures, threads: int) -> Frequencies:
    """In how many of these rows each feature occurs."""
    plain = features.unweighted()
    tally = _core.Tally()
    for batch in corpus.batches(rows, _BATCH_TOKENS):
        for shard, local in corpus.by_shard(batch):
            texts = shard.texts(local)
            tally.add_documents(texts, plain.recipe(texts), threads)
    hashes, counts, _, _ = tally.columns(1)
    return Frequencies(len(rows), hashes, counts, plain.scheme)


def _rows_by_source(corpus: Corpus, templates: Templates) -> list[tuple[int, Rows]]:
    """The sources with enough documents, and an even sample of each one's."""
    rows = np.flatnonzero(~corpus.out)
    rows = rows[np.argsort(corpus.sources[rows], kind="stable")]
    source = corpus.sources[rows]
    found = []
    for part in np.split(rows, np.flatnonzero(np.diff(source)) + 1):
        if len(part) >= templates.least:
            chosen = np.linspace(0, len(part) - 1, min(len(part), templates.sample)).astype(np.int64)
            found.append((int(corpus.sources[part[0]]), part[chosen]))
    return found


def _common(corpus: Corpus, rows: Rows, features: TextFeatures, templates: Templates, threads: int) -> Common:
    every = _frequencies(corpus, rows, features, threads)
    often = every.counts > templates.often(len(rows))
    common = replace(every, hashes=every.hashes[often], counts=every.counts[often])
    return Common(common, templates.share, templates.floor)


def _in_order(parts: list[Features], order: Rows) -> Features:
    """Rows of several parts, of which row i is to stand at order[i]."""
    sizes = np.concatenate([part.sizes for part in parts])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    place = np.argsort(order)
    offsets = np.concatenate([[0], np.cumsum(sizes[place])])
    index = np.repeat(begins[place] - offsets[:-1], sizes[place]) + np.arange(offsets[-1])
    hashes, weights = (np.concatenate([getattr(p, name) for p in parts]) for name in ("hashes", "weights"))
    return Features(hashes[index], weights[index], offsets.astype(np.int64), parts[0].scheme)
