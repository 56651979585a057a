"""Column chunks read from the footer of a Parquet file: the same as pyarrow gives, and no end of the process."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import neardup as nd
from neardup.readers.parquet_footer import chunks_of

TABLE = pa.table(
    {
        "id": list(range(1000)),
        "text": [f"some words {n % 70} " * (n % 5) for n in range(1000)],
        "more": [{"a": n, "b": [str(n)] * (n % 3)} for n in range(1000)],
        "half": [n / 2 for n in range(1000)],
    }
)
NAMES = [
    "path_in_schema",
    "physical_type",
    "compression",
    "encodings",
    "data_page_offset",
    "has_dictionary_page",
    "dictionary_page_offset",
    "total_compressed_size",
]


def written(**how) -> io.BytesIO:
    file = io.BytesIO()
    parquet.write_table(TABLE, file, row_group_size=300, **how)
    return file


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"use_dictionary": False, "data_page_version": "2.0"},
        {
            "use_dictionary": False,
            "column_encoding": {"text": "DELTA_BYTE_ARRAY", "id": "DELTA_BINARY_PACKED"},
        },
        {"use_dictionary": False, "column_encoding": {"half": "BYTE_STREAM_SPLIT"}, "write_page_index": True},
    ],
)
def test_chunks_are_those_that_pyarrow_lists(compression, how):
    file = written(compression=compression, **how)
    data = parquet.ParquetFile(file).metadata
    groups = chunks_of(file)
    assert len(groups) == data.num_row_groups == 4
    for number, group in enumerate(groups):
        assert len(group) == data.num_columns == 5
        for at, chunk in enumerate(group):
            known = data.row_group(number).column(at)
            assert [getattr(chunk, name) for name in NAMES] == [getattr(known, name) for name in NAMES]


def test_a_type_that_does_not_fit_its_statistics(tmp_path):
    """pyarrow ends the process when it is asked for such a chunk."""
    file = io.BytesIO()
    parquet.write_table(pa.table({"raw": [b"a", b"b"], "text": ["one two", "three four"]}), file)
    data = file.getvalue()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    # The type of the first column in the schema: the first field of a structure, and 6 (texts), doubled.
    place = data.rindex(b"\x15\x0c", footer, data.index(b"\x03raw", footer))
    path = tmp_path / "a.parquet"
    path.write_bytes(data[: place + 1] + b"\x04" + data[place + 2 :])
    reader = nd.read(path)
    assert list(reader.documents()) == [] and set(reader.rejects.counts) == {"damaged file"}


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_footer_cut_off_is_refused(cut):
    data = written().getvalue()
    size = int.from_bytes(data[-8:-4], "little")
    ended = data[: -8 - cut] + (size - cut).to_bytes(4, "little") + data[-4:]
    with pytest.raises(ValueError, match="footer is damaged"):
        chunks_of(io.BytesIO(ended))
    with pytest.raises(ValueError, match="cut off"):
        chunks_of(io.BytesIO(data[-8 - cut :]))


def test_columns_that_are_encrypted_are_refused(tmp_path):
    """Their description is encrypted, too."""
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def __init__(self, _):
            super().__init__()

        def wrap_key(self, key, _):
            return key

        def unwrap_key(self, key, _):
            return key

    made = encryption.CryptoFactory(Keys).file_encryption_properties(
        encryption.KmsConnectionConfig(),
        encryption.EncryptionConfiguration(
            footer_key="a", column_keys={"b": ["text"]}, plaintext_footer=True, double_wrapping=False
        ),
    )
    path = tmp_path / "a.parquet"
    parquet.write_table(TABLE.select(["id", "text"]), path, encryption_properties=made)
    reader = nd.read(path)
    assert list(reader.documents()) == [] and set(reader.rejects.counts) == {"damaged file"}


def test_a_footer_beyond_the_limit_is_not_decoded(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(TABLE.replace_schema_metadata({"more": "x" * 100_000}), path)
    assert sum(map(len, nd.read(path))) == len(TABLE)
    reader = nd.read(path, limits=nd.readers.Limits(line_bytes=50_000))
    assert list(reader) == [] and reader.account.rejected == {"damaged file": 1}
