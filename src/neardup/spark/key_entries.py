"""The general join on keys as a shuffle: a document is sent under each of its keys, with all that the method keeps of
it, so that pairs can be checked in the partition of their key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.printer import Printer
from neardup.search.interface import Keyed, KeyMethod, packed, unpacked
from neardup.search.key_join import with_probes
from neardup.spark.join import BucketPairs, crowded, join_on_keys
from neardup.spark.shuffle import Entry

__all__ = ["KeyJoin"]

_KEYS = "table int, key bigint, row bigint, then bigint"
_PAIRS = "left bigint, right bigint"
Longs = NDArray[np.int64]
_TRIPLE = np.dtype([("row", np.int64), ("table", np.int32), ("key", np.uint64)])


@dataclass(frozen=True)
class KeyJoin:
    """Joins rows that share a key of a method; the input has the columns row and keys (the fingerprint as words)."""

    method: KeyMethod
    fingerprint: Printer

    @property
    def checked(self) -> bool:
        """Whether a shared key alone does not make a candidate."""
        return self.method.checks or self.method.probing

    @property
    def words(self) -> int:
        """Words of a fingerprint."""
        return int(packed(self.method.kept(self.fingerprint.blank)).shape[1])

    def join(self, rows: DataFrame, partitions: int, parts: int) -> DataFrame:
        """KEY_PAIRS of the rows: pairs of candidates, and buckets beyond the cap."""
        pairing = BucketPairs(
            self.method.limit, parts, self.words + 1 if self.checked else 0, self if self.checked else None
        )
        tables = self.method.table_count(self.fingerprint)
        return join_on_keys(rows.select("row", "keys"), self, tables, partitions, pairing)

    def crowds(self, rows: DataFrame, buckets: DataFrame) -> tuple[DataFrame, DataFrame]:
        """The pairs (left, right) of buckets beyond the cap, and the counts of skipped pairs, as `crowded` gives them.
        Rows have the columns row, rank and keys."""
        prints = rows.select("row", "keys")
        here = prints.mapInArrow(self._rows, _KEYS).join(rows.select("row", "rank"), "row")
        pairs, skipped = crowded(here, buckets)
        if not self.checked:
            return pairs, skipped
        pairs = pairs.distinct()
        for side in ("left", "right"):
            own = prints.select(F.col("row").alias(side), F.col("keys").alias(f"{side}_keys"))
            pairs = pairs.join(own, side)
        return pairs.mapInArrow(self._checked, _PAIRS), skipped

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Entry]:
        """The keys of some rows, table by table. An entry carries the fingerprint and whether its key is a stored
        one."""
        rows, words = _rows_and_words(batch)
        for table, key, place, stored, _ in self._entries(words):
            extra = np.column_stack([words[place], stored]) if self.checked else None
            yield table, key, rows[place], extra

    def allows(self, extra: Longs, left: Longs, right: Longs) -> NDArray[np.bool_]:
        """A pair is a candidate if one of the two is stored under the key and the method's check passes."""
        stored = extra[:, -1] != 0
        return np.asarray((stored[left] | stored[right]) & self._passes(extra[:, :-1], left, right))

    def _passes(self, words: Longs, left: Longs, right: Longs) -> Any:
        found = self.method.check(self._prints(words), left, right) if self.method.checks else None
        return True if found is None else found

    def _prints(self, words: Longs) -> Fingerprints:
        return unpacked(words, self.fingerprint)

    def _entries(self, words: Longs) -> Iterator[tuple[int, Longs, Longs, NDArray[np.bool_], Longs]]:
        """For each table: its number, keys, places of rows, which keys are stored ones, and the next table's keys."""
        prints = self._prints(words)
        columns = list(self.method.key_columns(prints))
        probes = self.method.probes(prints) if self.method.probing else None
        for table, (keys, present) in enumerate(columns):
            place = np.arange(len(keys)) if present is None else np.flatnonzero(present)
            key, stored = keys[place], np.ones(len(place), np.bool_)
            if probes is not None:
                asked = probes.row, probes.table, probes.key
                place, key, stored = with_probes(asked, table, key, place)
            then = columns[(table + 1) % len(columns)][0][place]
            yield table, key.view(np.int64), place, stored, then.view(np.int64)

    def _rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Entries as rows of a DataFrame, each with the next table's key."""
        for batch in batches:
            if not batch.num_rows:
                continue
            rows, words = _rows_and_words(batch)
            for table, key, place, _, then in self._entries(words):
                tables = pa.array(np.full(len(place), table, np.int32))
                yield pa.record_batch(
                    [tables, pa.array(key), pa.array(rows[place]), pa.array(then)],
                    ["table", "key", "row", "then"],
                )

    def _checked(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The pairs (left, right) that are candidates; the input has the fingerprints of both sides too."""
        for batch in batches:
            count = batch.num_rows
            if not count:
                continue
            words = np.concatenate([_matrix(batch, name, count) for name in ("left_keys", "right_keys")])
            place = np.arange(count)
            passed = np.ones(count, np.bool_) & self._passes(words, place, place + count)
            if self.method.probing:
                passed &= self._asks(self._prints(words), count)
            yield batch.select(["left", "right"]).filter(pa.array(passed))

    def _asks(self, prints: Fingerprints, count: int) -> NDArray[np.bool_]:
        """Whether row i probes a key of row count + i. Probing is symmetric, so one direction is enough."""
        probes, keys = self.method.probes(prints), self.method.keys(prints)
        asked, stored = _triples(probes, probes.row < count, count), _triples(keys, keys.row >= count, 0)
        found = np.zeros(count, np.bool_)
        found[np.intersect1d(asked, stored)["row"] - count] = True
        return found


def _triples(keyed: Keyed, chosen: NDArray[np.bool_], later: int) -> NDArray[Any]:
    made = np.empty(int(chosen.sum()), _TRIPLE)
    made["row"], made["table"], made["key"] = (
        keyed.row[chosen] + later,
        keyed.table[chosen],
        keyed.key[chosen],
    )
    return made


def _rows_and_words(batch: pa.RecordBatch) -> tuple[Longs, Longs]:
    rows = batch.column("row").to_numpy(zero_copy_only=False)
    return rows, _matrix(batch, "keys", len(rows))


def _matrix(batch: pa.RecordBatch, name: str, count: int) -> Longs:
    made: Longs = batch.column(name).flatten().to_numpy(zero_copy_only=False).reshape(count, -1)
    return made
