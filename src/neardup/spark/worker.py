"""What a worker does with documents: batches of Arrow come in, one native thread works, batches go out."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config
from neardup.config.filters import languages_of
from neardup.features.features import Features
from neardup.features.texts import as_texts, utf8_list
from neardup.fingerprints.one_pass import read_texts
from neardup.pipeline.equal_words import word_digests
from neardup.pipeline.fit import Prepared, needs_corpus
from neardup.pipeline.rules import features_with_digits
from neardup.pipeline.sharder import Sharder
from neardup.pipeline.shards import MemoryShard
from neardup.readers.account import page_reason
from neardup.spark.blocks import block, prints_block, rows_of, shuffled
from neardup.spark.pieces import MADE, Pieces, ReadRecipe, split_of
from neardup.spark.places import PlaceSet

__all__ = [
    "DIGESTS",
    "FREQUENCIES",
    "PRINTS",
    "READ",
    "SETS",
    "TEXTS",
    "TEXT_BLOCKS",
    "Fingerprint",
    "LaterPass",
    "Texts",
    "count_features",
    "digests_of",
    "feature_sets",
    "fingerprints",
    "prepared_with",
    "read_type",
    "text_blocks",
    "texts_of",
]

DOCUMENT, REJECT, PIECE, TALLY = 0, 1, 2, 3
READ = (
    "kind tinyint, file int, start bigint, line bigint, d0 bigint, reason string, detail string, sample string, "
    "columns binary, prints binary, texts binary"
)
PRINTS = "place bigint, equal_key array<bigint>, keys array<bigint>"
SETS = "place bigint, hashes binary, weights binary, language string"
FREQUENCIES = "hash bigint, count bigint"
TEXTS = "place bigint, text binary"
TEXT_BLOCKS = "block binary"
WORDS = "place bigint, words binary, text binary"
DIGESTS = "place bigint, d0 bigint, d1 bigint"

_LONGS = pa.list_(pa.int64())
read_type = pa.schema(
    [
        ("kind", pa.int8()),
        ("file", pa.int32()),
        ("start", pa.int64()),
        ("line", pa.int64()),
        ("d0", pa.int64()),
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("sample", pa.string()),
        ("columns", pa.binary()),
        ("prints", pa.binary()),
        ("texts", pa.binary()),
    ]
)
_SHARD = 8 << 20  # bytes of text fingerprinted at a time
Batches = Iterator[pa.RecordBatch]
Texts = Iterator[tuple[NDArray[np.int64], _core.Texts, Any]]


def prepared_with(config: Config, learnt: Any) -> Prepared:
    """The config's features, prepared as in a local run; `learnt` are broadcast Frequencies if the config needs
    them."""
    return Prepared.untaught(config) if learnt is None else Prepared.taught(config, learnt.value)


@dataclass(frozen=True)
class Fingerprint:
    """The first pass over the texts: fingerprints and all other columns of the documents."""

    config: Config
    recipe: ReadRecipe
    texts: bool

    def __call__(self, batches: Batches) -> Batches:
        config = self.config
        sharder = Sharder(config, Prepared.untaught(config), size=_SHARD)
        pieces, tally = Pieces(self.recipe), _Tally()
        for shard in sharder.stream(pieces.incoming(batches)):
            assert isinstance(shard, MemoryShard)
            tally.add(shard)
            yield self._rows(shard, config)
            if rejects := pieces.rejects() + _failed(shard):
                yield tally.rejected(rejects)
        if rejects := pieces.rejects():
            yield tally.rejected(rejects)
        counted = pieces.counted
        yield _batch(
            len(counted),
            kind=np.full(len(counted), PIECE, np.int8),
            file=[piece.file for piece in counted],
            start=[piece.start for piece in counted],
            line=[piece.lines for piece in counted],
            d0=[piece.checksum for piece in counted],
        )
        file = min(self.recipe.files.values(), default=0)  # all files of a recipe are inputs, or none is
        yield _batch(1, kind=np.full(1, TALLY, np.int8), file=[file], detail=[tally.to_json(pieces)])

    def _rows(self, shard: MemoryShard, config: Config) -> pa.RecordBatch:
        rows = np.arange(shard.count)
        splits = np.array([split_of(name) for name in shard.file_names], np.int64).reshape(-1, 2)
        files = shard.column("files")
        digests = shard.column("digests").view(np.int64)
        ids = [None if name.startswith(MADE) else name for name in shard.ids(rows)]
        source = pa.nulls(shard.count, pa.string())
        if config.keep.source is not None:
            source = pa.array([shard.source_names[i] for i in shard.column("sources").tolist()], pa.string())
        columns = {
            "file": pa.array(splits[files, 0].astype(np.int32)),
            "start": pa.array(splits[files, 1]),
            "line": pa.array(shard.column("places")),
            "id": pa.array(ids, pa.string()),
            "d0": pa.array(np.ascontiguousarray(digests[:, 0])),
            "d1": pa.array(np.ascontiguousarray(digests[:, 1])),
            "empty": pa.array(shard.column("empty") != 0),
            "filtered": pa.array(shard.column("filtered").astype(np.int8)),
            "tokens": pa.array(shard.column("tokens")),
            "size": pa.array(shard.column("sizes")),
            "source": source,
            "score": pa.array(shard.column("scores"), from_pandas=False),
        }
        made: dict[str, Any] = {"columns": [block(columns)]}
        if not needs_corpus(config) and config.method is not None:
            made["prints"] = [prints_block(shard.kept)]
        if self.texts:
            held = pa.array(shard.text_bytes(rows), pa.large_binary())
            made["texts"] = [block({"text": held}, compressed=True)]
        return _batch(1, kind=np.full(1, DOCUMENT, np.int8), **made)


class _Tally:
    """What a task counts of all that it read, so that no job has to count it later."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.shortest: int | None = None

    def add(self, shard: MemoryShard) -> None:
        empty, filtered = shard.column("empty") != 0, shard.column("filtered") != 0
        tokens, taking = shard.column("tokens"), ~(empty | filtered)
        self.counts.update(
            documents=shard.count,
            empty=int(empty.sum()),
            filtered=int(filtered.sum()),
            out=int((~taking).sum()),
            tokens=int(tokens.sum()),
            bytes=int(shard.column("sizes").sum()),
        )
        if taking.any():
            least = int(tokens[taking].min())
            self.shortest = least if self.shortest is None else min(self.shortest, least)

    def rejected(self, found: list[tuple[str, int | None, str, str, str]]) -> pa.RecordBatch:
        self.reasons.update(reason for _, _, reason, _, _ in found)
        return _rejected(found)

    def to_json(self, pieces: Pieces) -> str:
        """As JSON, with the number of values that were converted to texts, and the rows that were skipped."""
        others = {"notes": pieces.terms.account.notes, "passed_over": pieces.sink.skipped}
        return json.dumps(
            {"counts": self.counts, "shortest": self.shortest, "rejected": self.reasons, **others}
        )


def _failed(shard: MemoryShard) -> list[tuple[str, int | None, str, str, str]]:
    return [(f, row, page_reason(why), why, "") for f, row, why in shard.failures]


def _rejected(found: list[tuple[str, int | None, str, str, str]]) -> pa.RecordBatch:
    splits = [split_of(file) for file, *_ in found]
    return _batch(
        len(found),
        kind=np.full(len(found), REJECT, np.int8),
        file=[file for file, _ in splits],
        start=[start for _, start in splits],
        line=[row for _, row, *_ in found],
        reason=[reason for _, _, reason, _, _ in found],
        detail=[detail for _, _, _, detail, _ in found],
        sample=[sample for *_, sample in found],
    )


def _batch(count: int, **columns: Any) -> pa.RecordBatch:
    arrays = []
    for field in read_type:
        values = columns.get(field.name)
        if values is None:
            arrays.append(pa.nulls(count, field.type))
        else:
            arrays.append(values if isinstance(values, pa.Array) else pa.array(values, field.type))
    return pa.record_batch(arrays, schema=read_type)


@dataclass(frozen=True)
class LaterPass:
    """A later pass over some of the texts: they are read again, or taken from where the run stored them."""

    recipe: ReadRecipe | None
    wanted: Any  # a broadcast PlaceSet
    work: Callable[[Texts], Batches]

    def __call__(self, batches: Batches) -> Batches:
        wanted: PlaceSet = self.wanted.value
        if self.recipe is not None:
            return self.work(Pieces(self.recipe, wanted).texts(batches))
        return self.work(_kept(batches, wanted))


def _kept(batches: Batches, wanted: PlaceSet) -> Texts:
    for batch in batches:
        for columns, texts in zip(batch.column("columns"), batch.column("texts"), strict=True):
            places = wanted.places(rows_of(columns))
            chosen = np.flatnonzero(wanted.contains(places))
            if len(chosen):
                held = rows_of(texts).column("text").combine_chunks().take(pa.array(chosen))
                yield places[chosen], as_texts(held), held


def fingerprints(config: Config, learnt: Any) -> Callable[[Texts], Batches]:
    """The fingerprints of texts, for configs that learn from the corpus first."""

    def work(texts: Texts) -> Batches:
        prepared, method = prepared_with(config, learnt), config.method
        assert method is not None
        for places, column, _ in texts:
            reading = read_texts(column, prepared.features, prepared.printer)
            assert reading.prints is not None
            kept = shuffled(method, method.kept(reading.prints, 1))
            none = pa.nulls(len(places), _LONGS)
            yield pa.record_batch(
                [pa.array(places), kept.get("equal_key", none), kept.get("keys", none)],
                ["place", "equal_key", "keys"],
            )

    return work


def count_features(config: Config) -> Callable[[Texts], Batches]:
    """In how many of a task's documents each feature occurs."""

    def work(texts: Texts) -> Batches:
        plain = config.features.unweighted()
        tally = _core.Tally()
        for _, column, _ in texts:
            tally.add_documents(column, plain.recipe(column), 1)
        hashes, counts, _, _ = tally.columns(1)
        for start in range(0, len(hashes), 1 << 17):
            part = slice(start, start + (1 << 17))
            yield pa.record_batch(
                [pa.array(hashes[part].view(np.int64)), pa.array(counts[part].astype(np.int64))],
                ["hash", "count"],
            )

    return work


def feature_sets(config: Config, learnt: Any, languages: bool) -> Callable[[Texts], Batches]:
    """The features that are compared; with weights if the measure needs them, and with `languages` if both documents of
    a pair must have the same one."""

    def work(texts: Texts) -> Batches:
        prepared = prepared_with(config, learnt)
        weighted = config.verify.weighted
        for places, column, held in texts:
            found = prepared.compared.extract(column)
            names = languages_of(_bytes(held)) if languages else None
            yield _sets(places, found, weighted, names)

    return work


def texts_of(texts: Texts) -> Batches:
    """The texts themselves."""
    for places, column, _ in texts:
        yield pa.record_batch([pa.array(places), pa.array(utf8_list(column), pa.binary())], ["place", "text"])


def text_blocks(texts: Texts) -> Batches:
    """The texts themselves, in blocks of their places and texts."""
    for places, column, _ in texts:
        data, ends = column.utf8()
        offsets = pa.py_buffer(np.append(0, ends).astype(np.int64))
        held = pa.Array.from_buffers(pa.large_binary(), len(ends), [None, offsets, pa.py_buffer(data)])
        yield pa.record_batch(
            [[block({"place": pa.array(places), "text": held}, compressed=True)]], ["block"]
        )


def digests_of(config: Config) -> Callable[[Texts], Batches]:
    """Digests of the words with their digits, for configs that fold digits."""

    def work(texts: Texts) -> Batches:
        features = features_with_digits(config)
        assert features is not None
        for places, column, _ in texts:
            found = np.ascontiguousarray(read_texts(column, features, None).digests).view(np.int64)
            columns = [pa.array(places), pa.array(found[:, 0]), pa.array(found[:, 1])]
            yield pa.record_batch(columns, ["place", "d0", "d1"])

    return work


def words_of(config: Config) -> Callable[[Texts], Batches]:
    """Cryptographic digests of the words, to check whether documents with the same digest are equal, and of the
    texts."""

    def work(texts: Texts) -> Batches:
        for places, column, held in texts:
            words = pa.array(word_digests(column, config.features), pa.binary())
            whole = [hashlib.blake2b(text, digest_size=32).digest() for text in _bytes(held)]
            columns = [pa.array(places), words, pa.array(whole, pa.binary())]
            yield pa.record_batch(columns, ["place", "words", "text"])

    return work


def _bytes(held: Any) -> list[bytes]:
    if isinstance(held, pa.Array):
        found: list[bytes] = held.to_pylist()
        return found
    ends = zip(held.offsets[:-1].tolist(), held.offsets[1:].tolist(), strict=True)
    return [held.data[a:b].tobytes() for a, b in ends]


def _sets(
    places: NDArray[np.int64], features: Features, weighted: bool, languages: list[str] | None
) -> pa.RecordBatch:
    count = len(places)
    weights = pa.nulls(count, pa.binary())
    if weighted:
        weights = _binary(features.weights, features.offsets, 4)
    names = pa.nulls(count, pa.string()) if languages is None else pa.array(languages, pa.string())
    return pa.record_batch(
        [pa.array(places), _binary(features.hashes, features.offsets, 8), weights, names],
        ["place", "hashes", "weights", "language"],
    )


def _binary(values: NDArray[Any], offsets: NDArray[np.int64], width: int) -> pa.Array:
    data = pa.py_buffer(np.ascontiguousarray(values).view(np.uint8))
    ends = pa.py_buffer((offsets * width).astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, ends, data])
