"""The sizes of rows, messages and lists before anything is decoded: those of naive code, and no unknown error."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.readers.arrow_messages import messages_of
from neardup.readers.arrow_sizes import OBJECT, row_sizes, sized_pieces
from neardup.readers.parquet_lists import RowLengths, list_pages
from neardup.readers.parquet_pages import pages_of

COLUMNS = {
    "texts": pa.array(["a", "bcd", None, "é"]),
    "bytes": pa.array([b"a", b"", None, b"bcd"], pa.large_binary()),
    "views": pa.array(["abc", "x" * 40, None, ""], pa.string_view()),
    "dictionary": pa.array(["q", "rrr", "q", "rrr"]).dictionary_encode(),
    "lists": pa.array([["x", "yy"], [], None, ["zzz"]]),
    "lists of views": pa.array([["x", "yy"], [], None, ["z" * 30]], pa.list_(pa.string_view())),
    "lists of lists": pa.array([[["a"], ["b", "cc"]], [[]], [], [["ddd"]]]),
    "large lists": pa.array([[1, 2, 3], [4], [], None], pa.large_list(pa.int8())),
    "fixed lists": pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.int32(), 2)),
    "structures": pa.array([{"a": n, "b": "x" * n} for n in range(4)]),
    "maps": pa.array([[("k", 1)], [], [("a", 2), ("b", 3)], []], pa.map_(pa.string(), pa.int32())),
    "nothing": pa.nulls(4),
    "flags": pa.array([True, False, None, True]),
    "times": pa.array([1, 2, 3, 4], pa.timestamp("ns")),
}


def naive(value) -> int:
    if isinstance(value, str | bytes):
        return OBJECT + len(value.encode() if isinstance(value, str) else value)
    if isinstance(value, dict):
        return OBJECT + sum(map(naive, value.values()))
    if isinstance(value, list | tuple):
        return OBJECT + sum(map(naive, value))
    return OBJECT


@pytest.mark.parametrize("name", COLUMNS)
def test_sizes_of_rows(name):
    column = COLUMNS[name]
    twice = pa.concat_arrays([column, column])
    for some in (column, column.slice(1, 2), twice.slice(3, 3), column.slice(0, 0)):
        batch = pa.record_batch([some, some], ["a", "b"])
        assert row_sizes(batch).tolist() == [2 * naive(value) for value in some.to_pylist()]


def test_a_run_is_as_large_as_all_its_values_for_each_row():
    values = pa.array(["a" * 1000, "b"])
    column = pa.RunEndEncodedArray.from_arrays([3, 5], values)
    assert row_sizes(pa.record_batch([column], ["a"])).min() > 1000


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 60))
def test_pieces_cover_all_rows_and_are_small(sizes, most):
    import numpy as np

    pieces = list(sized_pieces(np.array(sizes, np.int64), most))
    assert [row for begin, end in pieces for row in range(begin, end)] == list(range(len(sizes)))
    assert all(sum(sizes[begin:end]) <= most or end - begin == 1 for begin, end in pieces)


def arrow_file(compression, kind) -> bytes:
    table = pa.table({"text": ["a" * 100] * 50, "kind": pa.array(["x", "y"] * 25).dictionary_encode()})
    file = io.BytesIO()
    with kind(file, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
        writer.write_table(table.slice(0, 7))
    return file.getvalue()


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", [pa.ipc.new_file, pa.ipc.new_stream])
def test_messages_of_a_file(compression, kind):
    data = arrow_file(compression, kind)
    messages, whole = messages_of(io.BytesIO(data))
    assert whole
    assert [(one.dictionary, one.rows) for one in messages] == [(True, 2), (False, 50), (False, 7)]
    assert all((one.decompressed > 0) == (compression is not None) for one in messages)
    assert (messages[1].decompressed or messages[1].size) >= 5000
    assert all(one.size <= len(data) for one in messages)


@given(st.data())
def test_damaged_messages_are_no_error(data):
    whole = data.draw(st.sampled_from(FILES))
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] + data.draw(st.binary(max_size=8)) + whole[at + data.draw(st.integers(0, 8)) :]
    messages, _ = messages_of(io.BytesIO(changed[: data.draw(st.integers(0, len(changed)))]))
    assert all(one.rows >= 0 and one.size >= 0 for one in messages)


FILES = [arrow_file(how, kind) for how in (None, "lz4") for kind in (pa.ipc.new_file, pa.ipc.new_stream)]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4"])
@given(lengths=st.lists(st.integers(0, 30) | st.sampled_from([200, 1000]), min_size=1, max_size=40))
def test_rows_of_lists(version, compression, lengths):
    file = io.BytesIO()
    table = pa.table({"list": [[n % 5 for n in range(length)] for length in lengths]})
    how = {"data_page_version": version, "compression": compression, "data_page_size": 100}
    parquet.write_table(table, file, write_batch_size=16, **how)
    chunk = parquet.ParquetFile(file).metadata.row_group(0).column(0)
    pages = list_pages(file, chunk, pages_of(file, chunk), 1, 0)
    found = list_pages(file, chunk, pages_of(file, chunk), 1, max(1, pages.largest))
    if found.lists:
        assert found.values.sum() == len(lengths)
        assert found.longest % max(1, *lengths) == 0  # an empty list has one place, too
        assert found.bytes_of(1) >= max(1, *lengths) * OBJECT


@given(st.binary(max_size=60), st.integers(0, 500), st.integers(1, 5))
def test_damaged_levels_are_no_error(data, values, levels):
    rows = RowLengths(levels)
    begun = rows.add(data, values)
    assert begun is None or (begun <= values and rows.longest <= values)


@given(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=200), st.integers(1, 50))
def test_row_lengths_of_packed_levels(levels, page):
    """Pages of groups of eight values of two bits each."""
    rows, begun = RowLengths(2), 0
    for start in range(0, len(levels), page):
        some = levels[start : start + page]
        groups = -(-len(some) // 8)
        padded = some + [0] * (8 * groups - len(some))
        packed = sum(level << 2 * place for place, level in enumerate(padded)).to_bytes(2 * groups, "little")
        begun += rows.add(bytes([groups << 1 | 1]) + packed, len(some))
    begins = [place for place, level in enumerate(levels) if level == 0]
    ends = [*begins, len(levels)]
    assert begun == len(begins)
    assert rows.longest == max(b - a for a, b in zip([0, *ends], ends, strict=False))
