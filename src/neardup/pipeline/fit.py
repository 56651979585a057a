"""What a config must learn from the corpus before it can fingerprint it: IDF weights, and each source's templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config, Templates
from neardup.features.features import Features
from neardup.features.lines import lines_of, recurring_lines, without_lines
from neardup.features.shingles import TextFeatures
from neardup.features.texts import as_texts
from neardup.features.weights import Common, Frequencies, Idf
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.printer import Printer, Reading, read_words
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.extra_texts import with_extras
from neardup.pipeline.shards import Prints, Shard
from neardup.pipeline.vector_rows import vector_features
from neardup.search.interface import Method
from neardup.values.threads import check_threads

__all__ = [
    "IDF_SAMPLE",
    "FrequencyCount",
    "Prepared",
    "SourceRepeats",
    "common_features",
    "needs_corpus",
    "prepare",
    "rows_by_source",
    "template_lines",
]

Rows = NDArray[np.int64]


def needs_corpus(config: Config) -> bool:
    """Whether fingerprints must wait until all documents were read once."""
    return config.templates is not None or config.highlights is not None or _needs_frequencies(config)


def _needs_frequencies(config: Config) -> bool:
    learns = config.fingerprint is not None and config.fingerprint.learns
    return config.idf is not None or learns


class FrequencyCount:
    """In how many documents each feature occurs, counted while a run reads them: this saves a second reading."""

    def __init__(self, features: TextFeatures) -> None:
        self.plain = features.unweighted()
        self._tally = _core.Tally()

    @classmethod
    def of(cls, config: Config) -> FrequencyCount | None:
        """None if the config needs no frequencies, or those of other texts than it reads: filters leave documents
        out, and highlights add texts."""
        apart = config.filters.active or config.highlights is not None or config.vectors is not None
        return cls(config.features) if _needs_frequencies(config) and not apart else None

    def read(self, texts: _core.Texts, threads: int) -> Reading:
        """Digests and sizes of texts, which are counted unless there are already more than can be learnt from."""
        tally = self._tally if self._tally.documents <= IDF_SAMPLE else None
        return read_words(texts, self.plain, threads, tally=tally)

    def frequencies(self, corpus: Corpus) -> Frequencies | None:
        """Those of a corpus; None if it has other documents than were counted, as after a resumed run."""
        counted = self._tally.documents
        if counted != len(corpus) or counted > IDF_SAMPLE:
            return None
        return _frequencies_of(self._tally, int((~corpus.out).sum()), self.plain)


@dataclass(frozen=True)
class SourceRepeats:
    """What recurs in one source: among the features that are `made`, among those that are `compared` (None if all of
    those count), and as lines (their keys, ascending), None if lines are kept."""

    made: Common
    compared: Common | None
    lines: NDArray[np.uint64] | None

    @property
    def scheme(self) -> str:
        if self.lines is None:
            return self.made.scheme
        return f"{self.made.scheme},lines={blake2b(self.lines.tobytes(), digest_size=4).hexdigest()}"

    def texts(self, shard: Shard, rows: Rows, features: TextFeatures, threads: int) -> _core.Texts:
        """Texts of this source without its lines."""
        if self.lines is None or not len(self.lines):
            return shard.texts(rows)
        return as_texts(without_lines(shard.text_bytes(rows), self.lines, features, threads))


@dataclass(frozen=True)
class Prepared:
    """A config's features, ready to be made: with weights learnt, and templates left out source by source."""

    config: Config
    features: TextFeatures
    compared: TextFeatures
    templates: Mapping[int, SourceRepeats] = field(default_factory=dict)
    source_names: tuple[str, ...] = ()
    threads: int = 1
    fitted: Printer | None = None

    @property
    def printer(self) -> Printer:
        """The fingerprint in force, with what it learnt."""
        if self.fitted is not None:
            return self.fitted
        prints = self.config.prints
        assert not prints.learns, "what it learns comes from the corpus"
        return prints

    @classmethod
    def untaught(cls, config: Config, threads: int = 1) -> Prepared:
        """The config as it is before anything was learnt: enough to read documents and to digest them."""
        return cls(config, config.features, config.compared, threads=threads)

    @classmethod
    def taught(cls, config: Config, frequencies: Frequencies, threads: int = 1) -> Prepared:
        """The config with what it learns from how often its features occur: weights, and a lexicon."""
        features, compared, fitted = config.features, config.compared, None
        if config.idf is not None:
            features = replace(features, weights=Idf(frequencies, config.idf))
            if config.compare is None:
                compared = config.verify.measured_on(features)
        if config.fingerprint is not None and config.fingerprint.learns:
            fitted = config.fingerprint.fit(frequencies)
        return cls(config, features, compared, threads=threads, fitted=fitted)

    @property
    def scheme(self) -> str:
        """What decides the fingerprints."""
        learnt = " ".join(f"{s}:{one.scheme}" for s, one in sorted(self.templates.items()))
        vectors = self.config.vectors
        made = self.features.scheme if vectors is None else f"{vectors.column}: {vectors.scheme(0)}"
        if self.config.highlights is not None:
            made = f"{made} {self.config.highlights.scheme}"
        return f"{made} | {self.fitted or self.config.prints!r} {learnt}".strip()[:2000]

    def kept_scheme(self, method: Method) -> str:
        """What decides the columns that a method keeps."""
        return f"{method.kept_scheme(self.config.prints)} | {self.scheme}"

    def extract(self, shard: Shard, rows: Rows, sources: NDArray[np.int32]) -> Features:
        """The features that are compared, of some rows of a shard."""
        if self.config.vectors is not None:
            return vector_features(self.config.vectors, shard, rows)
        if not self.templates:
            return self.compared.extract(shard.texts(rows), threads=self.threads)
        parts, orders = [], []
        for source in np.unique(sources):
            order = np.flatnonzero(sources == source)
            learnt = self.templates.get(int(source))
            if learnt is None:
                features, texts = self.compared, shard.texts(rows[order])
            else:
                features = replace(self.compared, common=learnt.compared)
                texts = learnt.texts(shard, rows[order], self.config.compared, self.threads)
            parts.append(features.extract(texts, threads=self.threads))
            orders.append(order)
        return _in_order(parts, np.concatenate(orders))

    def _sources(self, shard: Shard) -> NDArray[np.int32]:
        """Each document's source as the templates are numbered: by the names of the whole corpus."""
        place = {name: i for i, name in enumerate(self.source_names)}
        here = np.array([place.get(name, -1) for name in shard.source_names], np.int32)
        return here[shard.column("sources")] if shard.count else here[:0]

    def prints(self, shard: Shard, method: Method) -> Prints:
        """The columns a method keeps of a whole shard."""
        sources, turned = self._sources(shard), "keys" if method.keeps_keys else None
        whole: dict[str, NDArray[np.generic]] = {}
        for source in np.unique(sources) if self.templates else [-1]:
            of_source = np.flatnonzero(sources == source) if self.templates else np.arange(shard.count)
            learnt = self.templates.get(int(source))
            features = self.features if learnt is None else replace(self.features, common=learnt.made)
            # Few texts at a time: a buffer that is used again is faster than fresh memory for the whole shard.
            part = np.cumsum(shard.column("sizes")[of_source]) // _PART_BYTES
            for rows in np.split(of_source, np.flatnonzero(np.diff(part)) + 1):
                if learnt is None:
                    texts = shard.texts(rows)
                else:
                    texts = learnt.texts(shard, rows, self.config.compared, self.threads)
                made = self._fingerprints(shard, rows, texts, features)
                for name, column in method.kept(made, self.threads).items():
                    by_row = column.T if name == turned else column
                    if name not in whole:
                        shape = (shard.count, *by_row.shape[1:])
                        whole[name] = np.zeros(shape[::-1] if name == turned else shape, column.dtype)
                    (whole[name].T if name == turned else whole[name])[rows] = by_row
        return whole

    def _fingerprints(
        self, shard: Shard, rows: Rows, texts: _core.Texts, features: TextFeatures
    ) -> Fingerprints:
        """The fingerprints of some rows of a shard, whose texts they are, with highlights if the config has any."""
        if self.config.highlights is not None:
            made = self.config.highlights.extract(features, texts, shard.extras(rows), self.threads)
            prints: Fingerprints = self.printer.compute(made, threads=self.threads)
            return prints
        read: Fingerprints = self.printer.read(texts, features, self.threads, digests=False).prints
        return read


def prepare(
    config: Config, corpus: Corpus | None = None, *, threads: int = 1, count: FrequencyCount | None = None
) -> Prepared:
    """Learn what the config asks for from the corpus, its filtered rows aside; deterministic. A `count` made while it
    was read changes nothing but the time."""
    check_threads(threads)
    made = Prepared.untaught(config, threads)
    if not needs_corpus(config):
        return made
    assert corpus is not None, "weights and templates are learnt from the corpus"
    if _needs_frequencies(config):
        counted = None if count is None else count.frequencies(corpus)
        if counted is None:
            rows = _sampled(np.flatnonzero(~corpus.out))
            with_highlights = config.highlights is not None
            counted = _frequencies(corpus, rows, config.features, threads, highlights=with_highlights)
        made = Prepared.taught(config, counted, threads)
    templates: dict[int, SourceRepeats] = {}
    if config.templates is not None:
        for source, rows in rows_by_source(corpus, config.templates):
            often = common_features(corpus, rows, config.features, config.templates, threads)
            other, lines = often if config.verify.templates else None, None
            if config.compare is not None and config.verify.templates:
                other = common_features(corpus, rows, config.compare, config.templates, threads)
            if config.templates.lines:
                lines, _ = template_lines(corpus, rows, config, threads)
            templates[source] = SourceRepeats(often, other, lines)
    return replace(made, templates=templates, source_names=tuple(corpus.source_names))


_BATCH_TOKENS = 1 << 20
_PART_BYTES = 1 << 22
IDF_SAMPLE = 1_000_000  # documents: word frequencies change little beyond


def _sampled(rows: Rows) -> Rows:
    if len(rows) <= IDF_SAMPLE:
        return rows
    return rows[np.linspace(0, len(rows) - 1, IDF_SAMPLE).astype(np.int64)]


def _frequencies(
    corpus: Corpus, rows: Rows, features: TextFeatures, threads: int, *, highlights: bool = False
) -> Frequencies:
    """In how many of these rows each feature occurs; with `highlights`, in their extra texts too."""
    plain = features.unweighted()
    tally = _core.Tally()
    for batch in corpus.batches(rows, _BATCH_TOKENS):
        for shard, local in corpus.by_shard(batch):
            texts = with_extras(shard, local) if highlights else shard.texts(local)
            tally.add_documents(texts, plain.recipe(texts), threads)
    return _frequencies_of(tally, len(rows), plain)


def _frequencies_of(tally: _core.Tally, documents: int, plain: TextFeatures) -> Frequencies:
    hashes, counts, _, _ = tally.columns(1)
    return Frequencies(documents, hashes, counts, plain.scheme)


def rows_by_source(corpus: Corpus, templates: Templates) -> list[tuple[int, Rows]]:
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


def common_features(
    corpus: Corpus, rows: Rows, features: TextFeatures, templates: Templates, threads: int
) -> Common:
    """The features that recur in these rows of one source."""
    every = _frequencies(corpus, rows, features, threads)
    often = every.counts > templates.often(len(rows))
    common = replace(every, hashes=every.hashes[often], counts=every.counts[often])
    return Common(common, templates.share, templates.floor)


def template_lines(
    corpus: Corpus, rows: Rows, config: Config, threads: int = 1
) -> tuple[NDArray[np.uint64], Rows]:
    """The lines that recur in these rows of one source, as keys, and in how many of them each does."""
    assert config.templates is not None
    batches = (
        lines_of(shard.text_bytes(local), config.compared, threads)
        for batch in corpus.batches(rows, _BATCH_TOKENS)
        for shard, local in corpus.by_shard(batch)
    )
    return recurring_lines(batches, config.templates.often(len(rows)))


def _in_order(parts: list[Features], order: Rows) -> Features:
    """The rows of several parts in one: row i of the parts becomes row order[i]."""
    sizes = np.concatenate([part.sizes for part in parts])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    place = np.argsort(order)
    offsets = np.concatenate([[0], np.cumsum(sizes[place])])
    index = np.repeat(begins[place] - offsets[:-1], sizes[place]) + np.arange(offsets[-1])
    hashes, weights = (np.concatenate([getattr(p, name) for p in parts]) for name in ("hashes", "weights"))
    return Features(hashes[index], weights[index], offsets.astype(np.int64), parts[0].scheme)
