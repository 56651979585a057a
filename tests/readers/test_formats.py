"""Every format and compression gives back the documents that were written."""

import bz2
import gzip
import json
import lzma
import subprocess
import sys
import zlib

import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

import neardup as nd
from neardup.readers.compression import Stream
from neardup.readers.limits import Limits

RECORDS = [
    {"id": "a", "text": "plain words", "lang": "en"},
    {"id": "b", "text": 'quotes " and, commas\tand tabs', "lang": "de"},
    {"id": "c", "text": "zwei\nZeilen über ß 漢字 🙂", "lang": ""},
    {"id": "d", "text": "", "lang": "fr"},
]
COMPRESS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def everything(source, **options):
    return list(nd.read(source, **options).documents())


def expected():
    return [nd.Document(r["id"], r["text"], {"id": r["id"], "lang": r["lang"]}) for r in RECORDS]


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
def test_written_rows_come_back(tmp_path, format, compression):
    path = tmp_path / f"rows.{format}{compression}"
    with nd.readers.open_writer(path) as writer:
        writer.write_all(RECORDS)
    assert everything(path) == expected()
    assert [r for batch in nd.read(path) for r in batch.records()] == RECORDS
    again = tmp_path / f"again.{format}{compression}"
    with nd.readers.open_writer(again) as writer:
        writer.write_all(RECORDS)
    assert again.read_bytes() == path.read_bytes()


def test_parquet_comes_back_with_its_types(tmp_path):
    table = pa.table(
        {
            "n": pa.array([1, 2, None], pa.int16()),
            "body": pa.array(["x", "y", "z"], pa.large_string()),
            "at": pa.array([0, 1, 2], pa.timestamp("ms")),
            "tags": pa.array([["p"], [], None], pa.list_(pa.string())),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    with nd.readers.open_writer(
        tmp_path / "out.parquet", like=next(iter(nd.read(tmp_path / "in.parquet"))).layout
    ) as out:
        for batch in nd.read(tmp_path / "in.parquet", batch=2):
            out.write_all(batch)
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").equals(table)
    assert [d.id for d in everything(tmp_path / "in.parquet")] == [f"in.parquet:{row}" for row in (1, 2, 3)]


def test_parquet_reads_chosen_columns_only(tmp_path):
    pyarrow.parquet.write_table(
        pa.table({"id": [1], "text": ["t"], "x": [2], "y": [3]}), tmp_path / "a.parquet"
    )
    assert everything(tmp_path / "a.parquet", columns=["y"]) == [nd.Document("1", "t", {"y": 3})]
    assert everything(tmp_path / "a.parquet", columns=[]) == [nd.Document("1", "t")]


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_arrow_files(tmp_path, kind):
    table = pa.Table.from_pylist(RECORDS)
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with make(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    assert everything(tmp_path / "rows.arrow", batch=3) == expected()


def test_dictionary_and_nanosecond_columns(tmp_path):
    table = pa.table(
        {
            "text": pa.array(["a", "b", "a"]).dictionary_encode(),
            "at": pa.array([1, 2, 3], pa.timestamp("ns")),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert [d.text for d in everything(tmp_path / "a.parquet")] == ["a", "b", "a"]


@pytest.mark.parametrize("compression", COMPRESS)
def test_text_and_html_folders(tmp_path, compression):
    folder = tmp_path / "pages"
    (folder / "deep").mkdir(parents=True)
    page = '<html><meta charset="windows-1251"><p>привет</p></html>'
    (folder / f"z.txt{compression}").write_bytes(COMPRESS[compression]("\ufeffzwölf".encode()))
    (folder / "deep" / f"a.html{compression}").write_bytes(COMPRESS[compression](page.encode("cp1251")))
    (folder / "deep" / "utf16.txt").write_bytes("ü".encode("utf-16"))
    (folder / ".hidden.txt").write_text("no")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    reader = nd.read(folder)
    assert {d.id: d.text for d in reader.documents()} == {
        f"deep/a.html{compression}": page,
        "deep/utf16.txt": "ü",
        f"z.txt{compression}": "zwölf",
    }
    assert reader.rejects.skipped == {"hidden": 1, "binary": 1} and not reader.rejects.total
    kinds = {d.id: d.meta.get("content_type") for d in reader.documents()}
    assert kinds[f"deep/a.html{compression}"] == "text/html" and kinds["deep/utf16.txt"] is None


def warc(*responses, kind="response"):
    out = b""
    for url, http in responses:
        content = "application/http; msgtype=response" if kind == "response" else "text/plain"
        head = (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
            f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{len(out):012d}>\r\n"
            f"Content-Type: {content}\r\nContent-Length: {len(http)}\r\n\r\n"
        )
        out += head.encode() + http + b"\r\n\r\n"
    return out


def response(body, content_type="text/html; charset=utf-8", extra=""):
    return f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{extra}\r\n".encode() + body


@pytest.mark.parametrize("compression", COMPRESS)
def test_warc(tmp_path, compression):
    pages = warc(
        ("http://a/", response("<p>é</p>".encode())),
        ("http://b/", response(b"\x89PNG", "image/png")),
        ("http://c/", response("<p>é</p>".encode("latin-1"), "text/html; charset=iso-8859-1")),
        ("http://d/", response(gzip.compress(b"<p>packed</p>"), extra="Content-Encoding: gzip\r\n")),
    )
    (tmp_path / f"crawl.warc{compression}").write_bytes(COMPRESS[compression](pages))
    reader = nd.read(tmp_path / f"crawl.warc{compression}")
    documents = list(reader.documents())
    assert [(d.meta["url"], d.text) for d in documents] == [
        ("http://a/", "<p>é</p>"),
        ("http://c/", "<p>é</p>"),
        ("http://d/", "<p>packed</p>"),
    ]
    assert documents[0].meta["status"] == 200 and documents[0].meta["content_type"] == "text/html"
    assert documents[0].meta["date"] == "2026-01-02T03:04:05Z"
    assert reader.rejects.skipped == {"WARC record without text": 1} and not reader.rejects.total


def test_packed_pages_are_unpacked_within_the_limit(tmp_path):
    def packed(data, how):
        return response(data, extra=f"Content-Encoding: {how}\r\n")

    pages = warc(
        ("http://bomb/", packed(gzip.compress(b"a" * (1 << 22)), "gzip")),
        ("http://large/", response(b"a" * (1 << 17))),
        ("http://broken/", packed(gzip.compress(b"a" * 1000)[:-9], "gzip")),
        ("http://br/", packed(b"\x8b\x02\x80\xff\x03", "br")),
        ("http://deflate/", packed(zlib.compress(b"deflated"), "deflate")),
        ("http://unpacked/", packed(b"unpacked before", "gzip")),
        ("http://chunks/", response(b"5\r\nhello\r\n0\r\n\r\n", extra="Transfer-Encoding: chunked\r\n")),
    )
    (tmp_path / "a.warc").write_bytes(pages)
    reader = nd.read(tmp_path / "a.warc", limits=Limits(document_bytes=1 << 16))
    assert [d.text for d in reader.documents()] == ["deflated", "unpacked before", "hello"]
    assert reader.rejects.counts == {"too large": 2, "bad HTTP": 2}


def test_texts_of_a_crawl(tmp_path):
    (tmp_path / "a.wet").write_bytes(warc(("http://a/", "tëxt".encode()), kind="conversion"))
    assert [(d.meta["url"], d.text) for d in everything(tmp_path / "a.wet")] == [("http://a/", "tëxt")]


def test_broken_warc_gives_what_came_before(tmp_path):
    pages = gzip.compress(warc(("http://a/", response(b"one")))) + gzip.compress(
        warc(("http://b/", response(b"two" * 100)))
    )
    (tmp_path / "a.warc.gz").write_bytes(pages[:-20])
    reader = nd.read(tmp_path / "a.warc.gz")
    assert [d.text for d in reader.documents()] == ["one"]
    assert reader.rejects.counts == {"damaged file": 1}
    reader = nd.read(tmp_path / "a.warc.gz", limits=Limits(document_bytes=2))
    assert list(reader) == [] and reader.rejects.counts["too large"] == 1
    (tmp_path / "b.warc").write_bytes(b"this is no archive\r\n" * 10)
    assert everything(tmp_path / "b.warc") == []


def test_standard_library_reads_the_same_json(tmp_path, monkeypatch):
    lines = [
        '{"id": 123456789012345678901234567890, "text": "big"}',
        '{"id": 9007199254740993, "text": "\\u00e9\\ud83d\\ude42"}',
        '{"id": 1.5, "text": "float id"}',
        '{"id": true, "text": "bool id"}',
        '{"id": "n", "text": NaN}',
        '{"id": "s", "text": "\\ud800"}',
        '{"id": "l", "text": ["x"]}',
        '{"id": "m"}',
        '{"id": null, "text": "made"}',
        '{"id": "null", "text": null}',
        '{"id": "number", "text": 5}',
        "[1]",
        '"text"',
        '{"text": "x"} {"text": "y"}',
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with_msgspec = everything(tmp_path / "a.jsonl")
    assert [(d.id, d.text) for d in with_msgspec[2:]] == [
        ("1.5", "float id"),
        ("1", "bool id"),
        ("a.jsonl:9", "made"),
        ("null", ""),
        ("number", "5"),
    ]
    assert [d.id for d in with_msgspec[:2]] == ["123456789012345678901234567890", "9007199254740993"]
    monkeypatch.setitem(sys.modules, "msgspec", None)
    reader = nd.read(tmp_path / "a.jsonl")
    assert list(reader.documents()) == with_msgspec
    assert reader.rejects.total == len(lines) - 7


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz", ".zst"])
def test_members_in_a_row_and_padding(tmp_path, compression):
    one = COMPRESS[compression](b'{"text": "one"}\n')
    two = COMPRESS[compression](b'{"text": "two"}\n')
    empty = COMPRESS[compression](b"")
    (tmp_path / f"a.jsonl{compression}").write_bytes(one + empty + two + bytes(8))
    reader = nd.read(tmp_path / f"a.jsonl{compression}")
    assert [d.text for d in reader.documents()] == ["one", "two"]
    assert not reader.rejects.total


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_streams_in_pieces_of_any_size(tmp_path, compression, size):
    data = bytes(range(256)) * 500
    (tmp_path / "a").write_bytes(COMPRESS[compression](data[:60_000]) + COMPRESS[compression](data[60_000:]))
    with Stream(open(tmp_path / "a", "rb"), Limits()) as stream:
        out = b""
        while piece := stream.read(size):
            out += piece
    assert out == data and stream.damage is None


def test_a_name_does_not_decide_the_compression(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(gzip.compress(b'{"text": "packed"}'))
    (tmp_path / "b.jsonl.gz").write_bytes(b'{"text": "plain"}')
    (tmp_path / "c.txt").write_text("BZh is how bzip2 files start")
    assert [d.text for d in everything(tmp_path)] == ["packed", "plain", "BZh is how bzip2 files start"]


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [
        ("pyarrow", "a.parquet", "io"),
        ("zstandard", "a.jsonl.zst", "io"),
        ("fsspec", None, "io"),
        ("fastwarc", "a.warc", "web"),
    ],
)
def test_missing_extras_say_what_to_type(tmp_path, monkeypatch, module, name, extra):
    for loaded in [key for key in sys.modules if key.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    source = "memory://x/a.jsonl"
    if name is not None:
        source = tmp_path / name
        source.write_bytes(zstandard.ZstdCompressor().compress(json.dumps({"text": "x"}).encode()))
    with pytest.raises(nd.errors.MissingExtra, match=rf"pip install 'neardup\[{extra}\]'"):
        everything(source)


@pytest.mark.process
def test_plain_install_reads_and_writes(tmp_path):
    """Without any extra: JSONL, CSV and text, compressed by what the standard library knows."""
    script = """
import subprocess
import sys
for name in ("pyarrow", "msgspec", "zstandard", "fsspec", "fastwarc", "pandas"):
    sys.modules[name] = None
import neardup as nd
for name in ("a.jsonl.gz", "b.csv.bz2", "c.tsv.xz"):
    with nd.readers.open_writer(name) as writer:
        writer.write({"id": name, "text": "x"})
open("d.txt", "w").write("y")
print([d.id for d in nd.read(".").documents()])
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert run.stdout.strip() == "['a.jsonl.gz', 'b.csv.bz2', 'c.tsv.xz', 'd.txt']"
