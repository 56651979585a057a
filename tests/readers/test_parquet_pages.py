"""The sizes of a column's pages, as its headers give them."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.readers.parquet_pages import Pages, pages_of, rows_at_a_time


def written(texts: list[str], **how) -> tuple[io.BytesIO, object]:
    file = io.BytesIO()
    parquet.write_table(pa.table({"text": texts}), file, write_batch_size=16, **how)
    return file, parquet.ParquetFile(file).metadata.row_group(0).column(0)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("index", [False, True])
def test_the_largest_page_is_found(version, compression, dictionary, index):
    texts = [f"{n} " * (n % 40) for n in range(4000)]
    texts[2500] = "x" * 300_000
    file, chunk = written(
        texts,
        data_page_size=10_000,
        dictionary_pagesize_limit=10_000,
        data_page_version=version,
        compression=compression,
        use_dictionary=dictionary,
        write_page_index=index,
        write_page_checksum=index,
    )
    pages = pages_of(file, chunk)
    assert 300_000 < pages.largest < 350_000 < chunk.total_uncompressed_size
    assert pages.values.sum() == 4000 and bool(pages.dictionary) == dictionary


def test_usual_pages_are_small():
    file, chunk = written([f"some words of text {n} " * 20 for n in range(20_000)], use_dictionary=False)
    assert pages_of(file, chunk).largest < 2 << 20 < chunk.total_uncompressed_size


def test_values_that_repeat_those_before_them_are_expected_to_be_long():
    texts = ["a long beginning of a text " * 1000 + str(n) for n in range(100)]
    how = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}
    pages = pages_of(*written(texts, **how))
    assert sum(map(len, texts)) < pages.bytes_of(100) and pages.bytes_of(1) < 100_000


def damaged(data: bytes, size: int):
    chunk = SimpleNamespace(
        data_page_offset=0, has_dictionary_page=False, total_compressed_size=size, encodings=("PLAIN",)
    )
    return pages_of(io.BytesIO(data), chunk)


@given(st.binary(max_size=200), st.integers(0, 300))
def test_damaged_headers_give_none_or_sizes(data, size):
    pages = damaged(data, size)
    assert pages is None or pages.largest >= 0


def test_a_file_without_an_end():
    assert damaged(b"\x15\x00\x15", 100) is None
    assert damaged(b"\x1c" * 200, 100) is None


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=12),
    st.integers(1, 20),
    st.integers(0, 9),
)
def test_no_rows_in_sequence_hold_more(pages, rows, longest):
    """Against a plain walk over the rows, each of which is taken to hold all of its page."""
    page_of = [at for at, (_, values) in enumerate(pages) for _ in range(values)]
    most = max(
        (
            sum(size for at, (size, values) in enumerate(pages) if values and at in page_of[row : row + rows])
            for row in range(len(page_of))
        ),
        default=0,
    )
    sizes, values = np.array(pages, np.int64).reshape(-1, 2).T
    found = Pages(sizes, values, longest=longest).bytes_of(rows)
    assert most + rows * longest <= found <= int(sizes.sum()) + rows * longest
    if all(values):
        assert found == most + rows * longest


def test_rows_at_a_time():
    small, large = Pages.one(100, 50), Pages.one(1000, 50)
    assert rows_at_a_time([], 1000, 64) == (64, 0)
    assert rows_at_a_time([small, large], 1000, 64) == (64, 1000)
    assert rows_at_a_time([small, large], 999, 64) == (0, 1000)
    assert rows_at_a_time([small] * 21, 1000, 64) == (0, 100)
    dictionary = Pages(small.sizes, small.values, dictionary=90, longest=90)
    assert rows_at_a_time([dictionary], 1000, 64) == (8, 100)
