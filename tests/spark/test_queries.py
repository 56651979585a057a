"""Queries on Spark find what the local search finds, wherever the stored codes lie."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from numpy.typing import NDArray
from reference.engine import brute, clustered, neighbours, uniform

import neardup as nd
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import to_codes
from neardup.spark import queries as module
from neardup.spark.queries import search

RNG = np.random.default_rng(20070508)
STORED = np.concatenate([clustered(RNG, 900, 64, 60, 3), uniform(RNG, 300, 64), np.zeros((3, 1), np.uint64)])
ASKED = np.concatenate([neighbours(RNG, STORED[::9], 64, 4), STORED[:20], STORED[:5]])
QUERIES = replace(to_codes(ASKED), margins=np.abs(RNG.laplace(size=(len(ASKED), 64))).astype(np.float32))


def frame(spark: Any, codes: NDArray[np.uint64], parts: int = 2, rows: Any = None) -> Any:
    columns = {"row": np.arange(len(codes)) if rows is None else rows, "code": codes[:, 0].view(np.int64)}
    return spark.createDataFrame(pa.table(columns)).repartition(parts)


def found(frame: Any) -> list[tuple[Any, ...]]:
    assert [name for name, _ in frame.dtypes] == ["query", "row", "distance"]
    table = frame.toArrow()
    return sorted(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def listed(query: Any, row: Any, distance: Any) -> list[tuple[int, int, int]]:
    return sorted(zip(query.tolist(), row.tolist(), distance.tolist(), strict=True))


EXPECTED = listed(*brute(STORED, ASKED, 3))


def test_there_is_much_to_find() -> None:
    assert len(EXPECTED) > 500 and {distance for _, _, distance in EXPECTED} == {0, 1, 2, 3}


@pytest.mark.parametrize("parts", [1, 2, 8])
def test_exact_search_is_brute_force(spark: Any, parts: int) -> None:
    assert found(search(frame(spark, STORED, parts), QUERIES, nd.search.Compact(3))) == EXPECTED


@pytest.mark.parametrize(
    "method",
    [nd.search.Covering(3), nd.BPHS(3, tables=10), nd.search.Compact(6), nd.search.Compact(0)],
    ids=repr,
)
def test_every_exact_method(spark: Any, method: Any) -> None:
    expected = listed(*brute(STORED, ASKED, method.radius))
    assert found(search(frame(spark, STORED), QUERIES, method)) == expected


def test_codes_of_32_bits(spark: Any) -> None:
    stored = STORED & np.uint64(2**32 - 1)
    asked = to_codes(ASKED & np.uint64(2**32 - 1), 32)
    expected = listed(*brute(stored, asked.codes, 2))
    assert found(search(frame(spark, stored), asked, nd.search.Compact(2, bits=32))) == expected
    method = nd.PSM(2, flips=10, header_bits=12, bits=32)
    asked = replace(asked, margins=QUERIES.margins[:, :32].copy())
    hits = method.index(to_codes(stored, 32)).search(asked)
    assert found(search(frame(spark, stored), asked, method)) == listed(hits.query, hits.row, hits.distance)


def test_empty_rows_neither_ask_nor_answer(spark: Any) -> None:
    empty = np.zeros(len(ASKED), bool)
    empty[3:40] = True
    queries = replace(QUERIES, empty=empty)
    codes: list[int | None] = STORED[:, 0].view(np.int64).tolist()
    codes[100:500] = [None] * 400
    table = pa.table({"row": np.arange(len(codes)), "code": pa.array(codes, pa.int64())})
    expected = [hit for hit in EXPECTED if not empty[hit[0]] and not 100 <= hit[1] < 500]
    stored = spark.createDataFrame(table)
    assert found(search(stored, queries, nd.search.Compact(3))) == expected
    method = nd.PSM(3, flips=12)
    there = replace(to_codes(STORED), empty=np.array([code is None for code in codes]))
    hits = method.index(there).search(queries)
    assert found(search(stored, queries, method)) == listed(hits.query, hits.row, hits.distance)


def test_rows_have_the_names_their_owner_gave_them(spark: Any) -> None:
    names = [f"https://example.org/{row}" for row in range(len(STORED))]
    stored = frame(spark, STORED, rows=names).withColumnsRenamed({"row": "url", "code": "simhash"})
    expected = sorted((query, names[row], distance) for query, row, distance in EXPECTED)
    assert found(search(stored, QUERIES, nd.search.Compact(3), row="url", code="simhash")) == expected


def test_unsigned_codes_lie_in_parquet(spark: Any, tmp_path: Any) -> None:
    parquet.write_table(
        pa.table({"row": np.arange(len(STORED)), "code": STORED[:, 0]}), tmp_path / "codes.parquet"
    )
    stored = spark.read.parquet(str(tmp_path / "codes.parquet"))
    assert dict(stored.dtypes)["code"] == "decimal(20,0)"
    assert found(search(stored, QUERIES, nd.search.Compact(3))) == EXPECTED
    wrong = stored.withColumn("code", (-stored.code).cast("decimal(20,0)"))
    with pytest.raises(Exception, match="no code of 64 bits"):
        found(search(wrong, QUERIES, nd.search.Compact(3)))


def test_no_queries_and_nothing_stored(spark: Any) -> None:
    none = to_codes(np.zeros((0, 1), np.uint64))
    for method in (nd.search.Compact(3), nd.PSM(3, flips=5, header_bits=8)):
        with_margins = replace(none, margins=np.zeros((0, 64), np.float32))
        assert found(search(frame(spark, STORED), with_margins, method)) == []
        assert found(search(frame(spark, STORED[:0]), QUERIES, method)) == []


def test_queries_in_parts(spark: Any) -> None:
    assert found(search(frame(spark, STORED), QUERIES, nd.search.Compact(3), at_once=40)) == EXPECTED


def test_tables_are_built_once_in_a_process(spark: Any) -> None:
    """Eight tasks, two at a time: each process builds one set of tables, and none again for the same queries."""
    method = nd.search.Covering(3, tables=8)

    def builds(batches: Any) -> Any:
        built = module._tables.cache_info()
        for _ in batches:
            yield pa.RecordBatch.from_pydict(
                {"process": [os.getpid()], "built": [built.misses], "used": [built.hits]}
            )

    def counted() -> dict[int, tuple[int, int]]:
        rows = (
            spark.range(8).repartition(8).mapInArrow(builds, "process long, built long, used long").collect()
        )
        return {row.process: (row.built, row.used) for row in rows}

    start = counted()
    assert found(search(frame(spark, STORED, 8), QUERIES, method)) == EXPECTED
    before = counted()
    assert found(search(frame(spark, STORED, 8), replace(QUERIES), method)) == EXPECTED
    after = counted()
    # Spark may replace a process that was idle, or have a third at hand.
    made = [before[process][0] - start[process][0] for process in start.keys() & before.keys()]
    assert made and max(made) == 1
    both = before.keys() & after.keys()
    assert both
    for process in both:
        assert after[process][0] == before[process][0], "the same queries need no new tables"
    assert any(after[process][1] > before[process][1] for process in both)


def test_many_equal_queries_come_out_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HITS", 7)
    words = np.concatenate([ASKED, np.repeat(ASKED[:1], 50, axis=0)])
    context = SimpleNamespace(broadcast=lambda payload: SimpleNamespace(value=payload))
    session = SimpleNamespace(sparkContext=context)
    asked = module._Asked.of(session, np.arange(len(words)), words, nd.search.Compact(3))
    batch = pa.RecordBatch.from_pydict({"row": np.arange(len(STORED)), "code": STORED[:, 0].view(np.int64)})
    pieces = list(module._find(asked, [batch]))
    assert max(piece.num_rows for piece in pieces) == 7
    table = pa.Table.from_batches(pieces)
    columns = (table[name].to_numpy() for name in ("query", "row", "distance"))
    assert listed(*columns) == listed(*brute(STORED, words, 3))


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(
    "method",
    [
        nd.PSM(3, flips=16),
        nd.PSM(3, flips=16, header_bits=9, order="heap"),
        nd.PSM(5, flips=40, header_bits=12, expected=tuple(float(i * i) for i in range(12))),
        nd.PSM(3, flips=0, header_bits=10),
    ],
    ids=lambda method: f"{method.order}-{method.header_bits}-{method.flips}",
)
def test_psm_joins_to_what_its_table_finds(spark: Any, method: nd.PSM, shuffled: bool) -> None:
    hits = method.index(to_codes(STORED)).search(QUERIES)
    local = listed(hits.query, hits.row, hits.distance)
    assert 0 < len(local) < len(brute(STORED, ASKED, method.radius)[0])
    setting = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(setting)
    spark.conf.set(setting, "-1" if shuffled else before)
    try:
        result = search(frame(spark, STORED), QUERIES, method)
        assert found(result) == local
        assert ("SortMergeJoin" in result._jdf.queryExecution().executedPlan().toString()) == shuffled
    finally:
        spark.conf.set(setting, before)


def test_real_pages(spark: Any, manuals: list[str]) -> None:
    codes = nd.Simhash(margins="full").compute(nd.Words().extract(manuals))
    stored = frame(spark, codes.codes)
    asked = codes.take(np.arange(0, len(codes), 3))
    hits = nd.search.Scan(8).index(codes).search(asked)
    assert len(hits) > len(asked)
    assert found(search(stored, asked, nd.search.Compact(8))) == listed(hits.query, hits.row, hits.distance)
    method = nd.PSM(8, flips=60)
    hits = method.index(replace(codes, margins=None)).search(asked)
    assert found(search(stored, asked, method)) == listed(hits.query, hits.row, hits.distance)


def test_psm_is_calibrated_on_the_queries(spark: Any) -> None:
    rng = np.random.default_rng(3)
    margins = rng.laplace(size=(600, 64)).astype(np.float32)
    moved = margins + rng.laplace(scale=0.08, size=margins.shape).astype(np.float32)

    def codes_of(sizes: Any) -> Codes:
        words = np.packbits(sizes >= 0, axis=1, bitorder="little").view(np.uint64)
        return Codes("bare64", np.zeros(len(sizes), bool), 64, words, sizes)

    stored, asked = frame(spark, codes_of(margins).codes), codes_of(moved)
    exact = found(search(stored, asked, nd.search.Compact(6)))
    for method in (nd.PSM(6, recall=0.9), nd.PSM(6, recall=0.9, guaranteed=True)):
        some = found(search(stored, asked, method))
        assert set(some) <= set(exact) and 0.9 * len(exact) <= len(some)
    alone = codes_of(rng.laplace(size=(20, 64)).astype(np.float32))
    assert found(search(stored, alone, nd.PSM(3))) == found(search(stored, alone, nd.search.Compact(3)))


def test_schemes_of_queries_and_stored_codes_must_be_equal(spark: Any) -> None:
    stored = frame(spark, STORED).withMetadata("code", {"scheme": "simhash64/v1 | words"})
    with pytest.raises(nd.errors.SchemeError):
        search(stored, QUERIES, nd.search.Compact(3))
    queries = replace(QUERIES, scheme="simhash64/v1 | words")
    assert found(search(stored, queries, nd.search.Compact(3))) == EXPECTED


def test_mistakes_raise_clear_errors(spark: Any) -> None:
    stored = frame(spark, STORED)
    with pytest.raises(nd.DataError, match="no column 'simhash' of stored codes, only row, code"):
        search(stored, QUERIES, nd.search.Compact(3), code="simhash")
    with pytest.raises(nd.DataError, match="long or decimal"):
        search(stored.withColumn("code", stored.code.cast("string")), QUERIES, nd.search.Compact(3))
    with pytest.raises(nd.ConfigError, match="up to 64 bits, not 128"):
        search(stored, to_codes(np.zeros((1, 2), np.uint64), 128), nd.search.Compact(3, bits=128))
    with pytest.raises(nd.DataError, match="needs full or byte margins"):
        search(stored, replace(QUERIES, margins=None), nd.PSM(3))
    with pytest.raises(nd.DataError, match="needs margins"):
        search(stored, replace(QUERIES, margins=None), nd.PSM(3, flips=5))
    with pytest.raises(nd.ConfigError, match="not Scan"):
        search(stored, QUERIES, nd.search.Scan(3, bits=64))
    with pytest.raises(nd.ConfigError, match="at least one"):
        search(stored, QUERIES, nd.search.Compact(3), at_once=0)
