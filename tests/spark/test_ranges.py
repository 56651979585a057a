"""Lines that workers read themselves are those that Spark would give them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

from neardup.errors import DataError

pytest.importorskip("pyspark")

from neardup.spark import ranges
from neardup.spark.ranges import FileRange, ranges_of, read_ranges


def lines_of(path, tasks) -> list[list[tuple[int, bytes]]]:
    """The lines of each task, each with the start of its range."""
    found = []
    for number in range(len(tasks)):
        batches = iter([pa.record_batch([pa.array([number])], ["id"])])
        parts = list(read_ranges(batches, tasks))
        found.append([(one.start, line) for one, lines in parts for line in lines.to_pylist()])
    return found


def naive(data: bytes, split: int) -> list[tuple[int, bytes]]:
    """A line is one of the range that has the byte before it; the first line, of the first range."""
    body = data.removeprefix(b"\xef\xbb\xbf")
    found, at = [], len(data) - len(body)
    lines = body.split(b"\n")
    for line in lines if lines[-1] else lines[:-1]:
        first = at in (0, 3) and at == len(data) - len(body)
        found.append((0 if first else (at - 1) // split * split, line))
        at += len(line) + 1
    return found


@settings(max_examples=budget(150), deadline=None)
@given(st.lists(st.binary(max_size=9), max_size=12), st.booleans(), st.integers(4, 30), st.integers(1, 12))
def test_every_line_is_in_one_range(tmp_path_factory, parts, marked, split, block):
    data = b"\xef\xbb\xbf" * marked + b"\n".join(parts)
    path = tmp_path_factory.mktemp("ranges") / "a.jsonl"
    path.write_bytes(data)
    tasks = ranges_of([(f"file:{path}", len(data))], split)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "_BLOCK", block)
        found = [line for task in lines_of(path, tasks) for line in task]
    assert found == naive(data, split)


def test_small_files_are_in_one_task_and_large_ones_in_several():
    files = [("file:/a", 10), ("file:/b", 15), ("file:/c", 70), ("file:/d", 0)]
    tasks = ranges_of(files, 30)
    assert [[(one.path[-1], one.start, one.end) for one in task] for task in tasks] == [
        [("a", 0, 10), ("b", 0, 15)],
        [("c", 0, 30)],
        [("c", 30, 60)],
        [("c", 60, 70)],
    ]
    assert ranges_of(files, 0) == ()
    assert ranges_of([*files, ("file:/e.jsonl.gz", 5)], 30) == ranges_of([("hdfs://h/a", 5)], 30) == ()


def test_a_file_that_a_worker_cannot_open_is_named(tmp_path):
    with pytest.raises(DataError, match="gone: No such file"):
        lines_of(None, ((FileRange(f"file:{tmp_path}/gone", 0, 5),),))


def test_they_are_the_lines_that_spark_reads(spark, tmp_path):
    path = tmp_path / "a b%.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + b"\n".join(b"line %d" % n * (n % 7) for n in range(500)) + b"\r\n\nlast"
    )
    session = spark.newSession()
    for key, value in (("maxPartitionBytes", "700"), ("openCostInBytes", "0"), ("minPartitionNum", "1")):
        session.conf.set(f"spark.sql.files.{key}", value)
    rows = session.read.option("lineSep", "\n").text(str(path).replace("%", "%"))
    rows = rows.selectExpr("_metadata.file_block_start start", "cast(value as binary) value").toArrow()
    theirs = [(row["start"], row["value"]) for row in rows.to_pylist()]
    tasks = ranges_of([(f"file:{path}", path.stat().st_size)], 700)
    assert len(tasks) > 5
    assert [line for task in lines_of(path, tasks) for line in task] == theirs
