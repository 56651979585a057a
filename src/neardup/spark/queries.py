"""Batches of queries against codes in a DataFrame. The answers are those of the local search.

A method with tables: the queries are broadcast, each worker process builds their tables once, and the stored codes are
read once; nothing is shuffled (Manku, Jain, Das Sarma 2007, 3.3). A method whose key is a prefix of the code: Spark
joins the prefixes of stored codes with the probes of the queries (Sood, Loguinov 2011).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import rows_and_words
from neardup.search.hamming.method import HammingMethod, Prefix
from neardup.search.hamming.tables import Compact, TableMethod, TableSearcher
from neardup.values.checks import checked

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

__all__ = ["AT_ONCE", "search"]

AT_ONCE = 10_000_000
"""Queries whose tables a worker process holds at once by default: 420 MB with Compact, 650 MB with Covering."""

_HITS = 1 << 20  # rows of one batch of results; many queries may have the same code
_AT_A_TIME = 1 << 12  # queries whose probes are made at a time
_SCHEME = "scheme"  # in the metadata of a column of codes


@checked
def search(
    stored: DataFrame,
    queries: Codes,
    method: HammingMethod,
    *,
    row: str = "row",
    code: str = "code",
    at_once: int = AT_ONCE,
) -> DataFrame:
    """All stored codes within the radius of each query: columns `query` (long), `row` (as stored) and `distance`
    (int), each pair once, in no order.

    `stored` has a column `row` of any type that names a document, and a column `code`: a long whose 64 bits are
    the code, or a decimal(20, 0), which is what Spark makes of an unsigned column of Parquet. A null means an
    empty document and is never found. `query` is the row of the query in `queries`; empty queries find nothing.

    With an exact method the stored codes are read once for every `at_once` queries. A method with a `prefix` is a join
    on it; if the length of the prefix depends on the number of stored codes, they are counted first. One that leaves
    its flips open is calibrated for its recall first, on up to 5,000 of the queries, which are searched exactly. All
    else is computed when the result is used. If the metadata of the stored column names a `scheme`, the queries must
    have the same.
    """
    bits = queries.bits if method.bits is None else method.bits
    if bits > 64:
        raise ConfigError(f"a column of Spark holds codes of up to 64 bits, not {bits}: search locally")
    if at_once < 1:
        raise ConfigError(f"at least one query is asked at once, not {at_once}")
    codes = _stored(stored, row, code, queries.scheme)
    asked, words = rows_and_words(queries, bits)
    numbers = np.arange(len(words)) if asked is None else asked
    method = method.fitted(queries, codes.count, partial(_neighbours, codes, queries))
    if (prefix := method.prefix(codes.count)) is not None:
        return _join(codes, numbers, queries, method, prefix)
    if not isinstance(method, TableMethod):
        raise ConfigError(f"on Spark codes are searched in tables, as by nd.search.Compact, not {method!r}")
    starts = range(0, max(len(words), 1), at_once)
    parts = [_scan(codes, numbers[s : s + at_once], words[s : s + at_once], method) for s in starts]
    return reduce(lambda left, right: left.unionAll(right), parts)


def _neighbours(
    codes: DataFrame, queries: Codes, asked: NDArray[np.int64], radius: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The stored codes at distance 1 to radius of these queries, by an exact search: columns of queries and codes."""
    method = Compact(radius, bits=queries.bits)
    bare = codes.select(codes.code.alias("row"), codes.code.alias("code"))
    found = _scan(bare, asked, queries.codes[asked], method).where("distance > 0").select("query", "row")
    pairs = np.array([tuple(pair) for pair in found.distinct().collect()], np.int64).reshape(-1, 2)
    return pairs[:, 0], np.ascontiguousarray(pairs[:, 1]).view(np.uint64)


def _stored(stored: DataFrame, row: str, code: str, scheme: str) -> DataFrame:
    """The stored rows and their codes as longs, named `row` and `code`, without the empty ones."""
    for name in (row, code):
        if name not in stored.columns:
            raise DataError(f"there is no column {name!r} of stored codes, only {', '.join(stored.columns)}")
    column = stored.schema[code]
    made = column.metadata.get(_SCHEME)
    if made is not None and made != scheme:
        raise SchemeError(made, scheme)
    kept = stored.select(stored[row].alias("row"), _as_long(stored[code], column.dataType).alias("code"))
    return kept.where(kept.code.isNotNull())


def _as_long(column: Column, kind: Any) -> Column:
    """The same 64 bits as a long; a number that does not fit raises an error when it is read."""
    from pyspark.sql import functions, types

    if isinstance(kind, types.LongType):
        return column
    if kind != types.DecimalType(20, 0):
        raise DataError(
            f"codes are a column of type long or decimal(20,0), which is what Spark reads an unsigned one as, "
            f"not {kind.simpleString()}"
        )
    low, top = (functions.lit(Decimal(number)) for number in (2**63, 2**64))
    wrong = functions.raise_error(
        functions.concat(functions.lit("no code of 64 bits: "), column.cast("string"))
    )
    return (
        functions.when(column.isNull(), None)
        .when((column >= 0) & (column < low), column.cast("long"))
        .when((column >= low) & (column < top), (column - top).cast("long"))
        .otherwise(wrong.cast("long"))
    )


@dataclass(frozen=True)
class _Asked:
    """Queries as the workers get them: distinct codes, and which queries have each. Two objects are equal if their
    digests are, so a process does not build the same tables twice."""

    digest: str
    method: TableMethod
    groups: int
    payload: Any = field(compare=False)  # Spark's broadcast: codes, where each one's members start, members

    @classmethod
    def of(
        cls, session: Any, numbers: NDArray[np.int64], words: NDArray[np.uint64], method: TableMethod
    ) -> _Asked:
        distinct, group, count = np.unique(words[:, 0], return_inverse=True, return_counts=True)
        members = numbers[np.argsort(group, kind="stable")].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        packed = distinct.tobytes() + starts.tobytes() + members.tobytes()
        digest = hashlib.sha256(packed).hexdigest()
        return cls(digest, method, len(distinct), session.sparkContext.broadcast(packed))


@dataclass(frozen=True)
class _Tables:
    """What a worker process keeps: tables of the distinct codes, and the queries that have each."""

    searcher: TableSearcher
    starts: NDArray[np.int64]
    members: NDArray[np.int64]


# One set at a time: a process that gets other queries drops the earlier tables.
@lru_cache(maxsize=1)
def _tables(asked: _Asked) -> _Tables:
    numbers = np.frombuffer(asked.payload.value, np.uint64)
    distinct, rest = np.split(numbers, [asked.groups])
    starts, members = (part.view(np.int64) for part in np.split(rest, [asked.groups + 1]))
    return _Tables(asked.method.index(_bare(distinct, asked.method.bits)), starts, members)


def _bare(numbers: NDArray[np.uint64], bits: int) -> Codes:
    """Codes whose scheme is already checked."""
    return Codes("", np.zeros(len(numbers), bool), bits, np.ascontiguousarray(numbers[:, None]))


def _scan(
    codes: DataFrame, numbers: NDArray[np.int64], words: NDArray[np.uint64], method: TableMethod
) -> DataFrame:
    from pyspark.sql import types

    asked = _Asked.of(codes.sparkSession, numbers, words, method)
    kinds = [
        ("query", types.LongType()),
        ("row", codes.schema["row"].dataType),
        ("distance", types.IntegerType()),
    ]
    schema = types.StructType([types.StructField(name, kind) for name, kind in kinds])
    return codes.mapInArrow(partial(_find, asked), schema)


def _find(asked: _Asked, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One native call for each batch of stored codes, on the one thread a task has."""
    import pyarrow as pa

    for batch in batches:
        tables = _tables(asked)
        codes = batch.column("code").to_numpy(zero_copy_only=False).view(np.uint64)
        hits = tables.searcher.search(_bare(codes, asked.method.bits))
        ends = np.cumsum(tables.starts[hits.row + 1] - tables.starts[hits.row])
        total = int(ends[-1]) if len(ends) else 0
        for begin in range(0, total, _HITS):
            pair = np.arange(begin, min(begin + _HITS, total))
            hit = np.searchsorted(ends, pair, "right")
            # A group ends where the hit does, so the distance to its end is that to the group's last member.
            query = tables.members[tables.starts[hits.row[hit] + 1] - (ends[hit] - pair)]
            found = batch.column("row").take(pa.array(hits.query[hit]))
            distance = pa.array(hits.distance[hit].astype(np.int32))
            yield pa.RecordBatch.from_arrays([pa.array(query), found, distance], ["query", "row", "distance"])


def _join(
    codes: DataFrame, numbers: NDArray[np.int64], queries: Codes, method: HammingMethod, prefix: Prefix
) -> DataFrame:
    """Prefixes are longs and the distance is a bit count, so Spark itself does the join and the check. The probes are
    made natively here; a query is sent with the list of its probes."""
    import pyarrow as pa
    from pyspark.sql import functions

    parts = [
        _probes(numbers[start : start + _AT_A_TIME], queries, prefix)
        for start in range(0, max(len(numbers), 1), _AT_A_TIME)
    ]
    asked = codes.sparkSession.createDataFrame(pa.Table.from_batches(parts))
    asked = asked.select("query", "asked", functions.explode("probe").alias("probe"))
    key = functions.shiftrightunsigned(codes.code, queries.bits - prefix.bits)
    distance = functions.bit_count(codes.code.bitwiseXOR(asked.asked))
    near = codes.join(asked, (key == asked.probe) & (distance <= method.radius))
    return near.select("query", "row", distance.cast("int").alias("distance"))


def _probes(numbers: NDArray[np.int64], queries: Codes, prefix: Prefix) -> pa.RecordBatch:
    """Some queries with the prefixes they ask for, row by row."""
    import pyarrow as pa

    some = queries.take(numbers)
    probes = prefix.probes(some)
    ends = np.searchsorted(probes.row, np.arange(len(numbers) + 1)).astype(np.int32)
    columns = {
        "query": pa.array(numbers, pa.int64()),
        "asked": pa.array(some.codes[:, 0].view(np.int64)),
        "probe": pa.ListArray.from_arrays(pa.array(ends), pa.array(probes.key.view(np.int64))),
    }
    return pa.RecordBatch.from_pydict(columns)
