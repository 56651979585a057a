"""The digest file: lookups equal a dictionary's; damage of any kind is noticed."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import _core
from neardup.errors import DataError, FormatError, SchemeError
from neardup.fingerprints import Digests, digest_texts
from neardup.search.disk.digests import DigestFile, write_digests


def digests_of(rows: list[bytes], empty: list[bool] | None = None, scheme: str = "test") -> Digests:
    width = len(rows[0]) if rows else 16
    column = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), width)
    return Digests(scheme, np.array(empty or [False] * len(rows), dtype=np.bool_), digests=column)


@given(
    st.sampled_from([1, 2, 7, 8, 9, 16, 20, 32, 64]).flatmap(
        lambda width: st.tuples(
            st.lists(
                st.sampled_from([bytes(width), b"\xff" * width, b"\x80" * width])
                | st.binary(min_size=width, max_size=width),
                max_size=40,
            ),
            st.lists(st.binary(min_size=width, max_size=width), max_size=10),
        )
    ),
    st.randoms(),
)
@settings(deadline=None)
def test_lookup_equals_a_dictionary(tmp_path_factory, columns, random) -> None:  # type: ignore[no-untyped-def]
    stored, strangers = columns
    path = tmp_path_factory.mktemp("digests") / "seen.digests"
    empty = [random.random() < 0.2 for _ in stored]
    rows = [random.randrange(1000) for _ in stored]
    queries = stored + strangers
    if not queries:
        return
    width = len(queries[0])
    whole = digests_of(queries, [False] * len(queries))
    kept = Digests("test", np.array(empty, dtype=np.bool_), digests=whole.digests[: len(stored)])
    write_digests(path, kept, rows)
    with DigestFile(path) as file:
        assert len(file) == empty.count(False) and file.scheme == "test" and width == file._digests.shape[1]
        for threads in (1, 2):
            hits = file.lookup(whole, threads)
            for i, query in enumerate(queries):
                expected = sorted(
                    row
                    for digest, row, empty_row in zip(stored, rows, empty, strict=True)
                    if digest == query and not empty_row
                )
                assert hits.rows[hits.offsets[i] : hits.offsets[i + 1]].tolist() == expected
                assert hits.found[i] == bool(expected)


def test_many_digests_even_and_uneven(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    even = rng.integers(0, 256, (20_000, 16), dtype=np.uint8)
    uneven = even.copy()
    uneven[:, :7] = 0  # interpolation guesses badly here
    for column in (even, uneven):
        digests = Digests("test", np.zeros(len(column), np.bool_), digests=column)
        write_digests(tmp_path / "file", digests)
        with DigestFile(tmp_path / "file") as file:
            hits = file.lookup(digests, threads=2)
            assert np.array_equal(hits.rows, np.arange(20_000)) and hits.found.all()
            other = Digests("test", digests.empty, digests=rng.integers(0, 256, column.shape, dtype=np.uint8))
            assert not file.lookup(other).found.any()


def test_texts_end_to_end(tmp_path: Path) -> None:
    path = tmp_path / "seen"
    write_digests(path, digest_texts(["a", "b", "", "a"]))
    with DigestFile(path) as file:
        hits = file.lookup(digest_texts(["a", "", "c"]))
        assert hits.offsets.tolist() == [0, 2, 2, 2] and hits.rows.tolist() == [0, 3]
        with pytest.raises(SchemeError):
            file.lookup(digest_texts(["a"], "sha1"))
    assert [p.name for p in tmp_path.iterdir()] == ["seen"]


def test_no_digests_at_all(tmp_path: Path) -> None:
    write_digests(tmp_path / "none", digest_texts(["", ""]))
    with DigestFile(tmp_path / "none") as file:
        assert len(file) == 0 and not file.lookup(digest_texts(["a"])).found.any()


def test_the_bytes_are_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_digests(path, digests_of([b"bbb", b"aaa"], scheme="s"), [7, 9])
    raw = path.read_bytes()
    magic, version, start, width, scheme, count = struct.unpack_from("<8sIIIIQ", raw)
    assert (magic, version, start, width, scheme, count) == (b"NDDIGEST", 1, 64, 3, 1, 2)
    assert raw[48:64] == b"s" + bytes(15)
    assert raw[64:] == b"aaabbb\0\0" + struct.pack("<qq", 9, 7)
    assert struct.unpack_from("<Q", raw, 32)[0] == _core.hash_bytes(raw[64:], 0)
    assert struct.unpack_from("<Q", raw, 40)[0] == _core.hash_bytes(raw[:40] + bytes(8) + raw[48:64], 0)


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path, damaged = tmp_path / "file", tmp_path / "damaged"
    write_digests(path, digests_of([b"bbb", b"aaa"], scheme="s"), [7, 9])
    raw = path.read_bytes()
    for at in range(len(raw)):
        damaged.write_bytes(raw[:at] + bytes([raw[at] ^ 0x10]) + raw[at + 1 :])
        with pytest.raises(FormatError):
            DigestFile(damaged)
    for size in range(len(raw)):
        damaged.write_bytes(raw[:size])
        with pytest.raises(FormatError):
            DigestFile(damaged)
    damaged.write_bytes(raw + b"\0")
    with pytest.raises(FormatError):
        DigestFile(damaged)


def test_absurd_sizes_are_refused_before_anything_is_allocated(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_digests(path, digests_of([b"aaa"]))
    raw = bytearray(path.read_bytes())
    for at, form, value in ((24, "<Q", 2**62), (12, "<I", 2**32 - 1), (20, "<I", 2**32 - 1), (16, "<I", 0)):
        hostile = bytearray(raw)
        struct.pack_into(form, hostile, at, value)
        path.write_bytes(hostile)
        for check in (True, False):
            with pytest.raises(FormatError):
                DigestFile(path, check=check)


def test_unchecked_opening_trusts_the_data_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_digests(path, digests_of([b"aaa", b"bbb"]))
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    with DigestFile(path, check=False) as file:
        assert len(file) == 2
    raw[50] ^= 1
    path.write_bytes(raw)
    with pytest.raises(FormatError):
        DigestFile(path, check=False)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_digests(path, digests_of([b"aaa"]))
    before = path.read_bytes()
    with pytest.raises(DataError):
        write_digests(path, digests_of([b"aaa"]), [1, 2])
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_hostile_arrays_end_in_value_error() -> None:
    three, four = np.zeros((2, 3), np.uint8), np.zeros((2, 4), np.uint8)
    with pytest.raises(ValueError):
        _core.find_digests(three, four, 1)
    with pytest.raises(ValueError):
        _core.sort_digests(np.zeros((2, 0), np.uint8))
