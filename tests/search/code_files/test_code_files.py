"""Files of codes: every format gives back what was written, searches equal brute force, and faults name their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reference.engine import brute

from neardup.errors import ConfigError, DataError, FormatError, NeardupError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.fingerprints.simhash import Simhash
from neardup.search.code_files.columns import CodeColumns, same_kind
from neardup.search.code_files.compress import compress_codes
from neardup.search.code_files.reader import open_codes
from neardup.search.code_files.searches import batch_files, join_files, search_files
from neardup.search.code_files.writer import CodeWriter
from neardup.search.codes import to_codes
from neardup.search.disk.segment_set import SegmentSet

FORMATS = ("seg", "segz", "parquet", "npy", "raw", "hex")


def some(bits: int, rows: int = 300, seed: int = 0, most: int = 4) -> Codes:
    """Codes of which many are near others and some are equal."""
    rng = np.random.default_rng(seed)
    centres = [int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(rows // 4)]
    numbers = []
    for _ in range(rows):
        number = centres[int(rng.integers(len(centres)))]
        for bit in rng.integers(0, bits, int(rng.integers(0, most + 1))).tolist():
            number ^= 1 << bit
        numbers.append(number)
    return to_codes(numbers, bits, "made by hand")


def written(path: Path, codes: Codes, ids: list[str] | None = None, **options) -> Path:
    with CodeWriter(path, codes.scheme, codes.bits, **options) as writer:
        for start in range(0, len(codes), 97):
            part = codes.take(slice(start, start + 97))
            writer.add(CodeColumns.of_codes(part, start, None if ids is None else ids[start : start + 97]))
    return path


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_back_what_was_written(tmp_path, ending, bits):
    codes = some(bits)
    path = written(tmp_path / f"codes.{ending}", codes, memory="4MB")
    file = open_codes(path, bits=bits)
    assert (file.bits, len(file)) == (bits, len(codes))
    assert file.scheme == ("made by hand" if ending in ("seg", "segz", "parquet") else None)
    loaded, columns = file.load()
    assert np.array_equal(loaded.codes, codes.codes)
    assert columns.rows.tolist() == list(range(len(codes)))
    for size in (1, 7, 1000):
        parts = list(file.chunks(size))
        assert sum(map(len, parts)) == len(codes) and all(len(part) <= size for part in parts)
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_keeps_ids_margins_and_what_is_empty(tmp_path):
    rng = np.random.default_rng(1)
    made = Simhash(margins="bytes")
    words = some(64, 10).codes
    codes = Codes(
        made.scheme("x"),
        np.arange(10) == 3,
        64,
        words,
        margin_bytes=rng.integers(0, 256, (10, 64)).astype(np.uint8),
        margin_scales=rng.random(10).astype(np.float32),
    )
    ids = [f"é {i}" for i in range(10)]
    path = written(tmp_path / "a.parquet", codes, ids)
    loaded, columns = open_codes(path).load()
    assert list(columns.ids) == ids and loaded.scheme == codes.scheme
    assert np.array_equal(loaded.margin_bytes, codes.margin_bytes)
    assert np.array_equal(loaded.margin_scales, codes.margin_scales)
    assert np.array_equal(loaded.empty, codes.empty)
    assert np.array_equal(loaded.codes[~loaded.empty], words[~codes.empty])
    again = open_codes(written(tmp_path / "a.hex", codes, ids))
    assert again.load()[1].ids == ids and again.load()[0].empty.tolist() == codes.empty.tolist()
    for ending in ("npy", "raw"):
        with pytest.raises(DataError, match="row 3 is an empty document"):
            written(tmp_path / f"a.{ending}", codes)
        assert not (tmp_path / f"a.{ending}").exists()
    assert len(open_codes(written(tmp_path / "a.seg", codes))) == 9


def test_numbers_from_elsewhere(tmp_path):
    """What other programs write: signed numbers of a database, bytes of faiss, text with 0x."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    numbers = np.array([2**63 + 5, 7, 2**64 - 1], np.uint64)
    np.save(tmp_path / "signed.npy", numbers.view(np.int64))
    np.save(tmp_path / "bytes.npy", numbers.view(np.uint8).reshape(3, 8))
    np.save(tmp_path / "big.npy", numbers.astype(">u8"))
    (tmp_path / "text.txt").write_text("".join(f"0x{n:016X}\r\n" for n in numbers.tolist()))
    for name, column in (
        ("signed", pa.array(numbers.view(np.int64))),
        ("binary", pa.array([n.tobytes() for n in numbers], pa.binary(8))),
        ("hex", pa.array([f"{n:016x}" for n in numbers.tolist()])),
    ):
        parquet.write_table(pa.table({"id": ["a", "b", "c"], "phash": column}), tmp_path / f"{name}.parquet")
    for path in tmp_path.iterdir():
        bits = 64 if path.name == "hex.parquet" else None
        assert open_codes(path, bits=bits).load()[0].codes[:, 0].tolist() == numbers.tolist(), path.name


def hits(found) -> set:
    return {hit for one, other, distance in found for hit in zip(one, other, distance.tolist(), strict=True)}


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_searches_and_joins_equal_a_naive_search(tmp_path, bits):
    stored, asked = some(bits), some(bits, 80, seed=0, most=6)
    for radius in (0, 2, 3):
        query, row, distance = brute(stored.codes, asked.codes, radius)
        expected = set(zip(query.tolist(), row.tolist(), distance.tolist(), strict=True))
        query, row, distance = brute(stored.codes, stored.codes, radius)
        within = {
            hit
            for hit in zip(query.tolist(), row.tolist(), distance.tolist(), strict=True)
            if hit[0] < hit[1]
        }
        for ending in FORMATS:
            one = open_codes(written(tmp_path / f"q.{ending}", asked, overwrite=True), bits=bits)
            other = open_codes(written(tmp_path / f"s.{ending}", stored, overwrite=True), bits=bits)
            if ending in ("npy", "segz"):
                for search in ("exact", "compact", "covering", "bphs", "scan"):
                    assert hits(search_files(one, other, radius=radius, search=search)) == expected
            assert hits(join_files(other, radius=radius)) == within
            assert hits(join_files(one, other, radius=radius)) == expected
            if ending in ("seg", "segz"):
                found = batch_files(one, [other.path], radius=radius, memory="8MB")
                assert hits(found) == expected and found.hits == len(expected)
    first = hits(search_files(one, other, radius=3, mode="first"))
    assert {hit[0] for hit in first} == {hit[0] for hit in expected} and first <= expected


def test_a_folder_grows(tmp_path):
    codes = some(64)
    folder = tmp_path / "stored"
    folder.mkdir()
    first = open_codes(written(tmp_path / "1.parquet", codes.take(slice(0, 200))))
    second = open_codes(written(tmp_path / "2.parquet", codes.take(slice(200, 300))))
    assert hits(batch_files(first, [folder], append=True)) == set()
    found = hits(batch_files(second, [folder], append=True))
    query, row, distance = brute(codes.codes[:200], codes.codes[200:], 3)
    assert found == set(zip(query.tolist(), row.tolist(), distance.tolist(), strict=True))
    with SegmentSet(folder) as grown:
        rows = np.concatenate([chunk.rows for chunk in grown.chunks(1000)])
    assert sorted(rows.tolist()) == list(range(300))
    with pytest.raises(ConfigError, match="only a folder"):
        batch_files(first, [tmp_path / "1.seg"], append=True)
    with pytest.raises(DataError, match=r"make one: neardup codes compress .*1\.parquet --out .*1\.seg"):
        batch_files(second, [tmp_path / "1.parquet"])


def margined(rows: int) -> Codes:
    rng = np.random.default_rng(0)
    votes = np.repeat(rng.laplace(size=(rows // 4, 64)), 4, axis=0) + 0.1 * rng.laplace(size=(rows, 64))
    words = np.packbits(votes >= 0, axis=1, bitorder="little").view(np.uint64)
    scales = (np.abs(votes).max(axis=1) / 255).astype(np.float32)
    sizes = np.round(np.abs(votes) / scales[:, None]).clip(0, 255).astype(np.uint8)
    return Codes("votes", np.zeros(rows, bool), 64, words, margin_bytes=sizes, margin_scales=scales)


def test_psm_finds_the_share_it_was_asked_for(tmp_path):
    codes = margined(2000)
    file = open_codes(written(tmp_path / "a.parquet", codes))
    exact = hits(search_files(file, file, radius=5))
    found = search_files(file, file, radius=5, search="psm", recall=0.9)
    near = hits(found)
    assert near <= exact and 0.9 <= found.report.least <= found.report.relative
    assert len([h for h in near if h[2]]) >= 0.9 * len([h for h in exact if h[2]])
    joined = join_files(file, radius=5, search="psm", recall=0.9)
    pairs = hits(joined)
    assert pairs <= hits(join_files(file, radius=5)) and joined.report.least >= 0.9
    segment = written(tmp_path / "a.seg", codes)
    batch = batch_files(file, [segment], radius=5, search="psm", recall=0.9)
    assert hits(batch) <= exact
    said = batch.report
    assert (
        said.least >= 0.9 and said.relative >= said.least and said.flips and said.header_bits and said.counted
    )
    bare = open_codes(written(tmp_path / "a.npy", codes))
    for call in (search_files, join_files, lambda one, _, **given: batch_files(one, [segment], **given)):
        with pytest.raises(ConfigError, match=r"margins.*search exactly"):
            call(bare, bare if call is search_files else None, search="psm")


def test_files_that_cannot_be_compared(tmp_path):
    short = open_codes(written(tmp_path / "a.hex", some(32)))
    long = open_codes(written(tmp_path / "b.hex", some(64)))
    with pytest.raises(DataError, match=r"a.hex has codes of 32 bits and .*b.hex of 64"):
        search_files(short, long)
    one = open_codes(written(tmp_path / "1.parquet", some(64)))
    other = open_codes(written(tmp_path / "2.parquet", to_codes([1, 2], 64, "another way")))
    with pytest.raises(SchemeError):
        join_files(one, other)
    assert same_kind([long, one]) == "made by hand"
    with pytest.raises(ConfigError, match="more than the 4KB allowed"):
        join_files(one, memory="4KB")
    with pytest.raises(ConfigError, match="join of two files is exact"):
        join_files(one, one, search="psm")


def test_compressing_any_format(tmp_path):
    codes = some(64, 3000)
    for ending in FORMATS:
        file = open_codes(written(tmp_path / f"a.{ending}", codes), bits=64)
        made = compress_codes(file, tmp_path / f"{ending}.segz", rows=ending != "npy")
        assert made.count == 3000 and made.bits_per_code < 64
        loaded = open_codes(tmp_path / f"{ending}.segz").load()[0]
        expected = np.sort(codes.codes[:, 0]) if ending == "npy" else codes.codes[:, 0]
        assert np.array_equal(loaded.codes[:, 0], expected)


FAULTS = {
    "short.hex": (b"0123456789abcdef\n0123\n", "line 2: a code has 16 hexadecimal digits, not '0123'"),
    "wrong.hex": (b"0123456789abcdef\n0123456789abcdeg\n", "line 2: a code has 16"),
    "first.hex": (b"hello\n", "line 1: a code has 8, 16 or 32"),
    "mixed.hex": (b"a\t0123456789abcdef\n0123456789abcdef\n", "line 2: has no id"),
    "ids.hex": (b"0123456789abcdef\na\t0123456789abcdef\n", "line 2: has an id"),
    "utf8.hex": (b"\xff\t0123456789abcdef\n", "line 1: its id is not UTF-8"),
    "long.hex": (b"0" * 5000, "line 1: too long"),
    "none.hex": (b"", "no code that says how wide"),
    "blank.hex": (b"0123456789abcdef\n\n", "line 2: a code has 16 hexadecimal digits, not ''"),
    "cut.raw": (b"1234567890", "2 bytes after the last one"),
    "no.npy": (b"hello", "an npy file"),
    "no.parquet": (b"hello", "a Parquet file"),
    "no.seg": (b"hello there, this is no segment", "a segment file"),
    "pickle.npy": (None, "npy"),
    "float.npy": (None, r"codes are uint32\[n\].*not float64\[3\]"),
    "wide.npy": (None, r"not uint64\[3, 5\]"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_names_the_file_and_the_place(tmp_path, name):
    data, message = FAULTS[name]
    path = tmp_path / name
    arrays = {"pickle": np.array([{}, 1], object), "float": np.ones(3), "wide": np.ones((3, 5), np.uint64)}
    if data is None:
        np.save(path, arrays[path.stem], allow_pickle=True)
    else:
        path.write_bytes(data)
    with pytest.raises(NeardupError, match=message) as caught:
        open_codes(path, bits=64 if name.endswith("raw") else None).load()
    assert name in str(caught.value)


@pytest.mark.parametrize("sign", b"(#'\\\x00\xff")
def test_a_damaged_header_of_npy_is_refused_in_words(tmp_path, sign):
    """Any byte of it, also one that numpy's own parsers cannot continue after."""
    path = written(tmp_path / "a.npy", some(64))
    sound, (codes, _) = path.read_bytes(), open_codes(path).load()
    for place in range(128):
        path.write_bytes(sound[:place] + bytes([sign]) + sound[place + 1 :])
        try:
            found, _ = open_codes(path).load()
        except NeardupError as error:
            assert "a.npy" in str(error)
        else:
            assert np.array_equal(found.codes, codes.codes)


def test_wrong_calls(tmp_path):
    path = written(tmp_path / "a.npy", some(64))
    for call, message in (
        (lambda: open_codes(tmp_path / "none.hex"), "there is no such file"),
        (lambda: open_codes(tmp_path), "ending"),
        (lambda: open_codes(tmp_path / "a.doc"), "the ending '.doc' is no format"),
        (lambda: open_codes(tmp_path / "a"), "a name without an ending says no format of codes"),
        (lambda: open_codes(path, format="hexe"), "there is no format 'hexe'"),
        (lambda: open_codes(path, bits=128), "its codes have 64 bits, not 128"),
        (lambda: open_codes(path, bits=65), "32, 64 or 128 bits, not 65"),
        (lambda: open_codes(path, bits=32).load(), "has more than 32 bits"),
        (lambda: open_codes(path, column="code"), "a column is of Parquet"),
        (lambda: open_codes(path).chunks(0), "at least one code"),
        (lambda: written(path, some(64)), "exists already"),
        (lambda: written(tmp_path / "no" / "a.seg", some(64)), "does not exist"),
        (lambda: open_codes(written(tmp_path / "a.raw", some(64))), "give --bits"),
    ):
        with pytest.raises((ConfigError, DataError, FormatError), match=message):
            call()


def test_an_error_on_the_way_leaves_nothing(tmp_path):
    for ending in FORMATS:
        path = tmp_path / f"a.{ending}"
        with pytest.raises(RuntimeError), CodeWriter(path, "x", 64) as writer:
            writer.add(CodeColumns.of_codes(some(64)))
            raise RuntimeError
    assert list(tmp_path.iterdir()) == []
