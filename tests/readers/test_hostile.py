"""Input made to break readers: it is rejected and counted, memory is bounded, and reading continues."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.readers.compression import Stream
from neardup.readers.lines import lines

SMALL = nd.readers.Limits(document_bytes=1 << 16, line_bytes=1 << 17, meta_bytes=1 << 14)
GOOD = b'{"text": "good"}\n'


def outcome(path, **options):
    reader = nd.read(path, **options)
    return [d.text for d in reader.documents()], dict(reader.rejects.counts)


def gzip_of(pieces):
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        for piece in pieces:
            file.write(piece)
    return out.getvalue()


def zstd_of(pieces):
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join(packer.compress(piece) for piece in pieces) + packer.flush()


@pytest.mark.parametrize(("pack", "bound"), [(gzip_of, 3 << 20), (zstd_of, 40 << 20)])
def test_a_huge_line_is_never_held(tmp_path, pack, bound):
    megabyte = b"a" * (1 << 20)
    huge = (b'{"text": "', *([megabyte] * 64), b'"}\n')
    (tmp_path / "a.jsonl.gz").write_bytes(pack((GOOD, *huge, GOOD)))
    nd.read(tmp_path / "a.jsonl.gz")
    tracemalloc.start()
    try:
        found = outcome(tmp_path / "a.jsonl.gz", limits=SMALL, rejects=tmp_path / "r.rejects.jsonl")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == (["good", "good"], {"too large": 1})
    assert peak < bound
    reject = json.loads((tmp_path / "r.rejects.jsonl").read_text())
    assert (reject["file"], reject["row"]) == ("a.jsonl.gz", 2) and len(reject["sample"]) <= 160


def test_bombs_end_at_the_ratio_or_the_total(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip_of((GOOD, b"\n" * (1 << 21))))
    ratio = nd.readers.Limits(expansion=100, free_bytes=1 << 19)
    assert outcome(tmp_path / "a.jsonl.gz", limits=ratio) == (["good"], {"damaged file": 1})
    total = nd.readers.Limits(file_bytes=1 << 20)
    assert outcome(tmp_path / "a.jsonl.gz", limits=total) == (["good"], {"damaged file": 1})
    assert outcome(tmp_path / "a.jsonl.gz") == (["good"], {})


def test_parquet_bomb_is_refused_by_its_own_figures(tmp_path):
    texts = [f"{i:08}" + "x" * 1000 for i in range(2000)]
    pyarrow.parquet.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", compression="zstd")
    limits = nd.readers.Limits(expansion=2, free_bytes=1 << 16)
    assert outcome(tmp_path / "a.parquet", limits=limits) == ([], {"damaged file": 1})


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress]
)
def test_truncated_files_give_what_came_before(tmp_path, pack):
    rows = b"".join(json.dumps({"text": f"{i} " + "abc" * (i % 7)}).encode() + b"\n" for i in range(20_000))
    packed = pack(rows)
    whole, _ = outcome_of(tmp_path, packed)
    assert len(whole) == 20_000
    for cut in (len(packed) // 2, len(packed) - 1, 3, 12):
        texts, counts = outcome_of(tmp_path, packed[:cut])
        assert texts == whole[: len(texts)] and (cut <= 12 or counts == {"damaged file": 1})
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    texts, counts = outcome_of(tmp_path, bytes(damaged))
    assert counts or texts == whole


def outcome_of(tmp_path, data, name="a.jsonl"):
    (tmp_path / name).write_bytes(data)
    return outcome(tmp_path / name)


def test_bad_lines_are_named_and_passed(tmp_path):
    bad = {
        b'{"text": "\xff\xfe"}': "invalid encoding",
        b'{"text": "a\x00b"}': "bad JSON",
        b"\x00\x00\x00": "bad JSON",
        b'{"text": [5]}': "wrong type",
        b'{"text": true}': "wrong type",
        b'{"other": 1}': "no text",
        b"[]": "wrong type",
        b'{"text": "x"': "bad JSON",
        b'{"text": "x", "deep": ' + b"[" * 50_000 + b"]" * 50_000 + b"}": "bad JSON",
        b'{"text": "x", "n": ' + b"9" * 6_000 + b"}": "bad JSON",
    }
    (tmp_path / "a.jsonl").write_bytes(GOOD + b"\n".join(bad) + b"\n\n   \n" + GOOD)
    texts, counts = outcome(tmp_path / "a.jsonl", rejects=tmp_path / "a.rejects.jsonl")
    assert texts == ["good", "good"]
    rejects = [json.loads(line) for line in (tmp_path / "a.rejects.jsonl").read_text().splitlines()]
    assert [(r["row"], r["reason"]) for r in rejects] == list(enumerate(bad.values(), 2))
    assert sum(counts.values()) == len(bad)


def write_rows(path, rows):
    """Some of the rows cannot be decoded, others have no text that can be used: two steps of a reader."""
    if path.suffix == ".jsonl":
        path.write_bytes(b"\n".join(row or b"{" for row in rows))
    elif path.suffix == ".json":
        path.write_bytes(b"[" + b",\n".join(row or b'{"text": nonsense}' for row in rows) + b"]")
    elif path.suffix == ".csv":
        lines = (b"x" * 99_999 if row and b"true" in row else b"word" if row else b"1,2" for row in rows)
        path.write_bytes(b"text\n" + b"\n".join(lines) + b"\n")
    else:
        texts = [b"x" * 99_999 if row and b"true" in row else b"word" if row else b"\xff" for row in rows]
        if path.suffix == ".arrow":
            texts[-2] = b"x" * 140_000  # rejected before its batch is decoded
        raw = pa.array(texts, pa.binary())
        table = pa.table({"text": pa.StringArray.from_buffers(len(texts), *raw.buffers()[1:])})
        if path.suffix == ".parquet":
            plain = {"compression": "none", "use_dictionary": False}
            pyarrow.parquet.write_table(table, path, data_page_size=1, write_batch_size=1, **plain)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet", "a.arrow"])
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("first", [b'{"text": "word"}', b'{"text": true}', b""])
def test_rejects_are_in_the_order_of_rows(tmp_path, name, blocks, first):
    """Also those among the first rows, which are decoded before it is known which column is the text."""
    rows = [first, *[b'{"text": true}', b"", b'{"text": "word"}', b""] * 40]
    write_rows(tmp_path / name, rows)
    reader = nd.read(tmp_path / name, text="text", limits=SMALL, rejects=tmp_path / "r.rejects.jsonl")
    for _ in reader.blocks() if blocks else reader:
        pass
    listed = [json.loads(line)["row"] for line in (tmp_path / "r.rejects.jsonl").read_text().splitlines()]
    assert listed == sorted(listed) and len(listed) >= 120
    assert reader.account.documents + len(listed) == len(rows)


def test_an_escaped_nul_is_text(tmp_path):
    assert outcome_of(tmp_path, b'{"text": "a\\u0000b"}')[0] == ["a\0b"]


def test_lists_by_the_million_are_not_decoded(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(GOOD + b'{"text": "x", "n": [' + b"[]," * 20_000 + b"1]}\n" + GOOD)
    assert outcome(tmp_path / "a.jsonl", limits=SMALL) == (["good", "good"], {"too large": 1})
    text = json.dumps({"text": '[],"\\' * 5_000}).encode() + b"\n"
    (tmp_path / "a.jsonl").write_bytes(text)
    assert outcome(tmp_path / "a.jsonl", limits=SMALL)[1] == {}


def test_text_limit_is_inclusive_and_in_bytes(tmp_path):
    for text, fits in (("é" * 8, True), ("é" * 8 + "a", False), ("a" * 16, True), ("a" * 17, False)):
        (tmp_path / "a.jsonl").write_text(json.dumps({"text": text}))
        (tmp_path / "a.txt").write_text(text)
        for name in ("a.jsonl", "a.txt"):
            found = outcome(tmp_path / name, limits=nd.readers.Limits(document_bytes=16))
            assert found == (([text], {}) if fits else ([], {"too large": 1}))


def test_csv_survives_huge_fields_open_quotes_and_bad_rows(tmp_path):
    before = csv.field_size_limit()
    huge = "x" * 100_000
    rows = ["id,text", "1,one", f"2,{huge}", "3,three", "4", "5,five,more", '6,"six\nlines"', "7,a\0b é"]
    (tmp_path / "a.csv").write_bytes("\r\n".join(rows).encode() + b"\n8,\xff\n9,nine\n")
    reader = nd.read(tmp_path / "a.csv", limits=SMALL, rejects=tmp_path / "r.rejects.jsonl")
    assert [(d.id, d.text) for d in reader.documents()] == [
        ("1", "one"),
        ("3", "three"),
        ("6", "six\nlines"),
        ("7", "a\0b é"),
        ("9", "nine"),
    ]
    rejects = [json.loads(line) for line in (tmp_path / "r.rejects.jsonl").read_text().splitlines()]
    assert [(r["row"], r["reason"]) for r in rejects] == [
        (2, "too large"),
        (4, "bad CSV"),
        (5, "bad CSV"),
        (8, "invalid encoding"),
    ]
    assert csv.field_size_limit() == before
    (tmp_path / "b.csv").write_text("id,text\n1,one\n" + "2," + "y" * 200_000 + "\n3,three\n")
    assert outcome(tmp_path / "b.csv", limits=SMALL) == (["one", "three"], {"too large": 1})


def test_an_open_quote_does_not_swallow_the_file(tmp_path):
    rest = '1,"open\n' + "x,y\n" * 100_000 + "2,two\n"
    (tmp_path / "a.csv").write_text("id,text\n" + '0,"quoted, as usual"\n' * 9_000 + rest)
    texts, counts = outcome(tmp_path / "a.csv", limits=SMALL)
    assert texts[-1] == "two" and counts == {"too large": 1}
    # Where no row is quoted, a quote is a character.
    (tmp_path / "a.csv").write_text("id,text\n" + rest)
    texts, counts = outcome(tmp_path / "a.csv", limits=SMALL)
    assert texts[0] == '"open' and len(texts) == 100_002 and counts == {}


def test_a_line_of_commas_is_not_split(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,one\n" + "," * 2_000_000 + "\n2,two\n")
    assert outcome(tmp_path / "a.csv") == (["one", "two"], {"too large": 1})


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.csv", "a.tsv", "a.jsonl.gz", "a.warc", "a.parquet", "a.arrow"]
)
def test_empty_files(tmp_path, name):
    texts, counts = outcome_of(tmp_path, b"", name)
    assert texts == [] and (counts == {} or name in ("a.parquet", "a.arrow"))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_damaged_tables(tmp_path, name):
    table = pa.table({"text": [f"text {i}" for i in range(1000)]})
    if name == "a.parquet":
        pyarrow.parquet.write_table(table, tmp_path / name)
    else:
        with pa.ipc.new_file(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
    data = (tmp_path / name).read_bytes()
    assert outcome_of(tmp_path, data[:-10], name) == ([], {"damaged file": 1})
    assert outcome_of(tmp_path, b"nonsense" * 10, name) == ([], {"damaged file": 1})
    (tmp_path / "b.jsonl").write_bytes(GOOD)
    assert outcome([tmp_path / name, tmp_path / "b.jsonl"])[0] == ["good"]


def test_strings_of_a_table_that_are_not_utf8(tmp_path):
    bad = pa.array([b"fine", b"\xff\xff", b"good"], pa.binary())
    text = pa.StringArray.from_buffers(3, bad.buffers()[1], bad.buffers()[2])
    reader = nd.read(pa.table({"text": text}))
    assert [d.text for d in reader.documents()] == ["fine", "good"]
    assert reader.rejects.counts == {"invalid encoding": 1}


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_byte_order_marks(tmp_path, name):
    data = {"a.jsonl": '{"text": "x"}', "a.csv": "text,id\nx,1"}[name]
    assert outcome_of(tmp_path, b"\xef\xbb\xbf" + data.encode(), name) == (["x"], {})


def test_pages_in_unknown_or_wrong_encodings(tmp_path):
    pages = {
        "a.txt": "é".encode() * 3 + b"\xff",
        "b.html": b'<meta charset="no-such-thing">\xff',
        "c.html": b'<meta charset="rot13">\xff',
        "d.html": b"no charset \xe9",
    }
    for name, data in pages.items():
        (tmp_path / name).write_bytes(data)
    assert outcome(tmp_path) == (["no charset é"], {"invalid encoding": 3})


@settings(max_examples=budget(60), deadline=None)
@given(st.binary(max_size=400), st.integers(1, 40))
def test_lines_are_those_of_split(data, limit):
    stream = Stream(io.BytesIO(b"x" + data), nd.readers.Limits())  # never a mark or a compression
    found = list(lines(stream, limit))
    wanted = (b"x" + data).split(b"\n")
    if not wanted[-1]:
        wanted.pop()
    assert [number for number, _, _ in found] == list(range(1, len(wanted) + 1))
    for (_, line, whole), want in zip(found, wanted, strict=True):
        assert whole == (len(want) <= limit)
        assert line == want if whole else want.startswith(line)


@settings(max_examples=budget(60), deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(["jsonl", "csv", "tsv", "text", "html", "parquet", "arrow", "warc", "mbox"]),
)
def test_no_bytes_break_a_reader(tmp_path_factory, data, format):
    path = tmp_path_factory.getbasetemp() / f"any.{format}"
    path.write_bytes(data)
    reader = nd.read(path, format=format, text="text")
    try:
        documents = list(reader.documents())
    except nd.ConfigError:  # a header that names no text
        return
    assert all(isinstance(d.text, str) for d in documents)


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(rows):
        with nd.readers.open_writer(tmp_path / "a.jsonl.gz") as writer:
            writer.write_all({"text": f"{i} " + "word " * 40} for i in range(rows))
        tracemalloc.start()
        try:
            for _ in nd.read(tmp_path / "a.jsonl.gz", batch=100):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    assert peak(40_000) < 2 * peak(4_000)


def test_empty_lines_of_csv_are_no_rows_and_remain_within_quotes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n\n\r\na,one two\n\n"b","three\n\n\nfour"\n\r\n\nc,"\n\n"\n\n')
    reader = nd.read(path)
    assert [document.text for document in reader.documents()] == ["one two", "three\n\n\nfour", "\n\n"]
    assert not reader.rejects.counts


@pytest.mark.parametrize("sign", b"(#'\\\x00\xff")
def test_a_damaged_header_of_npy_is_rejected_in_words(tmp_path, sign):
    """Any byte of it, also one that numpy's own parsers cannot continue after."""
    path = tmp_path / "a.npy"
    np.save(path, np.arange(12.0).reshape(3, 4))
    sound = path.read_bytes()
    expected = list(nd.read(path).documents())
    for place in range(128):
        path.write_bytes(sound[:place] + bytes([sign]) + sound[place + 1 :])
        reader = nd.read(path)
        found = list(reader.documents())
        assert found == expected or sum(reader.account.rejected.values()) == 1
