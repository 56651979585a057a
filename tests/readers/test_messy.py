"""Folders and tables as people have them. What becomes of each file and row is written down here, and must come out."""

import bz2
import gzip
import json
import lzma
import os
import random
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard
from support.archives import captured, http_response, warc_record

import neardup as nd
from neardup.errors import UnreadableInput
from neardup.readers.account import Account
from neardup.readers.batch import Batch
from neardup.readers.cells import MADE_ID, NULL, NUMBER
from neardup.readers.folders import walk
from neardup.readers.options import ReadOptions
from neardup.readers.sources import _chosen

MAY_READ_ALL = os.geteuid() == 0  # root reads what nobody may


def put(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


READ = {
    "README": "no ending at all",
    "setup.cfg": "[metadata]\nname = x\n",
    "docs/index.rst": "Title\n=====\n",
    "docs/paper.tex": "\\section{One}\n",
    "docs/notes.md": "# Notes\r\nwith line ends of Windows\r\n",
    "docs/deep/er/still.txt": "deep",
    "src/_private.py": "x = 1\n",
    "src/__init__.py": "",
    "src/main.rs": "fn main() {}\n",
    "src/form\ffeed.c": "int a;\n\fint b;\n",
    "marked.txt": b"\xef\xbb\xbfwith a mark",
    "latin.txt": "Die Bäckerei hat für alle geöffnet, die früh aufstehen".encode("latin-1"),
    "wide.txt": "für alle".encode("utf-16"),
    "log.log.gz": gzip.compress(b"a line of a log\n"),
    "part-00000": '{"id": "p1", "text": "one"}\n{"id": "p2", "text": "two"}\n',
    "array.json": '[\n  {"id": "a1", "text": "in an array"},\n  {"id": "a2", "text": null}\n]\n',
}
SKIPPED = {
    "hidden": [".env", ".cache/x.txt", "docs/.draft.md"],
    "version control": [".git/config", ".git/objects/aa", "sub/.svn/entries"],
    "virtual environment": ["env/pyvenv.cfg", "env/lib/site.py"],
    "tool folder": ["web/node_modules/a/index.js", "src/__pycache__/main.pyc"],
    "output of neardup": ["old.rejects.jsonl", "old.findings/manifest.json"],
    "empty marker": ["_SUCCESS"],
    "binary": ["picture.png", "bundle.zip", "fake.txt", "src/main.o"],
}
BINARY = b"\x7fELF\x02\x01\x01\0\0\0\0"


@pytest.fixture
def messy(tmp_path):
    folder = tmp_path / "corpus"
    put(folder, READ)
    for kind, names in SKIPPED.items():
        put(
            folder, dict.fromkeys(names, BINARY if kind == "binary" else b"" if "marker" in kind else b"text")
        )
    os.symlink(folder / "README", folder / "again.txt")
    os.symlink(folder / "nothing", folder / "broken.txt")
    os.symlink(folder, folder / "docs" / "loop")
    os.symlink("round.txt", folder / "round.txt")  # a link to itself
    os.mkfifo(folder / "pipe")
    put(folder, {"secret.txt": "nobody may read this"})
    (folder / "secret.txt").chmod(0)
    (folder / "locked").mkdir()
    (folder / "locked").chmod(0)
    yield folder
    (folder / "locked").chmod(0o700)


def everything(reader):
    return {document.id: document.text for document in reader.documents()}


def test_a_folder(messy):
    reader = nd.read(messy)
    texts = everything(reader)
    expected = {
        name: data
        for name, data in READ.items()
        if isinstance(data, str) and name not in ("part-00000", "array.json")
    }
    expected |= {
        "marked.txt": "with a mark",
        "latin.txt": "Die Bäckerei hat für alle geöffnet, die früh aufstehen",
        "wide.txt": "für alle",
        "log.log.gz": "a line of a log\n",
        "p1": "one",
        "p2": "two",
        "a1": "in an array",
        "a2": "",
    }
    if MAY_READ_ALL:
        expected["secret.txt"] = "nobody may read this"
    assert texts == expected
    account = reader.account
    skipped = {kind: len(names) for kind, names in SKIPPED.items()} | {
        "same file again": 1,
        "broken link": 2,
        "link to a folder": 1,
        "no regular file": 1,
    }
    if not MAY_READ_ALL:
        skipped |= {"unreadable": 1, "unreadable folder": 1}
    assert account.skipped == skipped
    assert account.read == len(READ) + MAY_READ_ALL
    assert account.found == account.read + sum(skipped.values())
    assert (account.rows, account.documents, account.rejected) == (len(texts), len(texts), {})
    assert account.notes == {
        "empty files, read as empty documents": 1,
        "null texts, read as empty documents": 1,
    }
    assert account.shapes == {
        "array.json": "JSON values over several lines, or in an array",
        "latin.txt": "Windows-1252",
        "wide.txt": "UTF-16-LE",
    }
    assert set(account.examples["hidden"]) == set(SKIPPED["hidden"])
    # A second pass has an account of its own, which is the same.
    assert everything(reader) == texts and reader.account == account
    assert sorted(map(len, reader.blocks())) and reader.account.documents == account.documents


def test_what_is_skipped_can_be_read(messy):
    def counts(**options):
        reader = nd.read(messy, **options)
        everything(reader)
        return reader.account.skipped

    skipped = counts()
    assert "hidden" not in (shown := counts(hidden=True)) and shown["version control"] == 3
    ignored = counts(no_ignore=True)
    assert not {"virtual environment", "tool folder"} & ignored.keys()
    assert ignored["hidden"] == 6  # what is in .git and .svn is hidden too
    both = counts(no_ignore=True, hidden=True)
    kept = {"hidden", "version control", "virtual environment", "tool folder"}
    assert both == {kind: many for kind, many in skipped.items() if kind not in kept}


def test_chosen_files(messy):
    def names(**options):
        reader = nd.read(messy, **options)
        return [file.name for file in reader.files], reader.account

    found, account = names(ext=["py", ".RST"])
    assert found == ["docs/index.rst", "src/__init__.py", "src/_private.py"]
    assert account.found == account.read + account.skipped.total() and account.skipped["excluded"] > 5
    assert names(include="docs/")[0] == [
        "docs/deep/er/still.txt",
        "docs/index.rst",
        "docs/notes.md",
        "docs/paper.tex",
    ]
    assert names(include="docs/*", exclude=["*.md", "*.rst"])[0] == ["docs/paper.tex"]
    assert names(include=["**/deep/**", "*.rs"])[0] == ["docs/deep/er/still.txt", "src/main.rs"]
    with pytest.raises(UnreadableInput, match=r"no files to read.*excluded"):
        nd.read(messy, ext="docx")
    with pytest.raises(nd.ConfigError, match="ext"):
        nd.read(messy, ext=[5])


def test_a_glob_reads_all_that_it_names(messy):
    put(messy, {"deep/_a/__b__.py": "b", "deep/_a/_c.py": "c", "deep/.d.py": "d"})
    reader = nd.read(f"{messy}/**/*.py", format="text")
    assert [file.name for file in reader.files] == [
        "deep/_a/__b__.py",
        "deep/_a/_c.py",
        "src/__init__.py",
        "src/_private.py",
    ]
    assert reader.account.skipped == {"virtual environment": 1, "hidden": 1}
    assert [file.name for file in nd.read(f"{messy}/deep/.*.py").files] == [".d.py"]
    with pytest.raises(nd.DataError, match="no file matches"):
        nd.read(f"{messy}/*.py")


def test_source_files_are_texts(tmp_path):
    put(
        tmp_path,
        {
            "package.json": '{\n  "name": "x"\n}\n',
            "page.html": "<p>not taken apart</p>",
            "rows.csv": "a,b\n1,2\n",
            "a.py": "a = 1\n",
            "shard.jsonl": '{"text": "b = 2"}\n',
            "a.out": BINARY,
        },
    )
    reader = nd.read(tmp_path, format="source")
    assert everything(reader) == {
        "a.py": "a = 1\n",
        "package.json": '{\n  "name": "x"\n}\n',
        "page.html": "<p>not taken apart</p>",
        "rows.csv": "a,b\n1,2\n",
        "shard.jsonl:1": "b = 2",
    }
    assert reader.account.skipped == {"binary": 1}
    assert [file.format for file in nd.read(tmp_path / "rows.csv", format="source").files] == ["csv"]


def test_files_of_a_folder_without_a_text_are_named(tmp_path):
    put(
        tmp_path, {"a.csv": "one,two\n1,2\n", "b.jsonl": '{"text": "x"}\n', "c.parquet": b"no Parquet at all"}
    )
    reader = nd.read(tmp_path)
    assert everything(reader) == {"b.jsonl:1": "x"}
    assert reader.account.rejected == {"unclear columns": 1, "damaged file": 1}
    assert "one, two" in reader.account.reasons[0].detail
    assert "no Parquet file" in reader.account.reasons[1].detail
    (tmp_path / "b.jsonl").unlink()
    (tmp_path / "c.parquet").unlink()
    put(tmp_path, {"b.csv": "three,four\n1,2\n"})
    with pytest.raises(nd.ConfigError, match=r"a\.csv: which column is the text.*--text"):
        everything(nd.read(tmp_path))


ROWS = [  # as people have them: id, text, and what is read
    ("1", "Für alle, überall", "Für alle, überall"),
    ("2", 'says "yes"; and no', 'says "yes"; and no'),
    ("3", "two\nlines", "two\nlines"),
    ("4", "", ""),
]


def delimited(delimiter, end="\r\n"):
    def cell(text):
        return '"' + text.replace('"', '""') + '"' if set(text) & set('";,\n\t|') else text

    lines = [("id", "text", "date"), *((name, text, "2024-01-02") for name, text, _ in ROWS)]
    return "".join(delimiter.join(map(cell, line)) + end for line in lines)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv(tmp_path, delimiter, encoding, end):
    put(tmp_path, {"a.csv": delimited(delimiter, end).encode(encoding)})
    reader = nd.read(tmp_path / "a.csv")
    assert everything(reader) == {name: text for name, _, text in ROWS}
    said = reader.account.shapes.get("a.csv", "")
    assert ("separated" in said) == (delimiter != ",") and ("Windows" in said) == (encoding == "cp1252")
    assert (reader.account.rows, reader.account.documents) == (4, 4)


def test_a_delimiter_and_an_encoding_that_are_given(tmp_path):
    put(tmp_path, {"a.csv": "id:text\n1:Жук\n".encode("koi8-r"), "b.txt": "Жук".encode("koi8-r")})
    assert everything(nd.read(tmp_path, encoding="koi8-r", delimiter=":")) == {"1": "Жук", "b.txt": "Жук"}
    with pytest.raises(nd.ConfigError, match="no encoding"):
        nd.read(tmp_path, encoding="klingon")
    with pytest.raises(nd.ConfigError, match="one character"):
        nd.read(tmp_path, delimiter="::")


def test_an_encoding_that_shows_late(tmp_path):
    plain = "".join(f"{n},plain words\n" for n in range(40_000))
    put(tmp_path, {"a.csv": ("id,text\n" + plain + "x,für alle geöffnet\n").encode("latin-1")})
    reader = nd.read(tmp_path / "a.csv")
    assert everything(reader)["x"] == "für alle geöffnet" and reader.account.documents == 40_001
    assert reader.account.shapes == {"a.csv": "Windows-1252"}
    put(tmp_path, {"a.csv": "id,text\n" + plain + "x,für alle\n"})
    assert everything(nd.read(tmp_path / "a.csv"))["x"] == "für alle"


VALUES = [  # of a text column, with the text that is read or the reason why none is
    ("a text", "a text", None),
    (None, "", "null"),
    ("", "", None),
    (5, "5", "numbers"),
    (2.5, "2.5", "numbers"),
    (True, None, "wrong type"),
    ({"a": 1}, None, "wrong type"),
    ([1.5, 2.5], None, "wrong type"),
    ([1], None, "wrong type"),
    ("ü\u2028", "ü\u2028", None),
]


@pytest.mark.parametrize("form", ["lines", "array", "array on a line", "over several lines", "utf-16"])
def test_json(tmp_path, form):
    rows = [{"id": f"r{n}", "text": value} for n, (value, _, _) in enumerate(VALUES)]
    data = "\n".join(json.dumps(row) for row in rows)
    if form == "over several lines":
        data = "\n".join(json.dumps(row, indent=2) for row in rows)
    elif form.startswith("array"):
        data = json.dumps(rows, indent=None if "line" in form else 4)
    put(tmp_path, {"a.json": data.encode("utf-16" if form == "utf-16" else "utf-8")})
    reader = nd.read(tmp_path / "a.json")
    assert everything(reader) == {f"r{n}": text for n, (_, text, _) in enumerate(VALUES) if text is not None}
    account = reader.account
    assert (account.rows, account.documents, account.rejected) == (10, 6, {"wrong type": 4})
    assert account.notes == {
        "null texts, read as empty documents": 1,
        "numbers in a text column, read as text": 2,
    }
    assert "--text" in account.reasons[0].detail
    found = [(document.id, document.text) for block in reader.blocks() for document in block.documents()]
    assert dict(found) == everything(reader) and reader.account == account
    # What was read is written as it was.
    good = [row for row, (_, text, _) in zip(rows, VALUES, strict=True) if text is not None]
    assert [record for batch in reader for record in batch.records()] == good


def test_several_text_columns(tmp_path):
    rows = [
        {"id": "a", "title": "One", "body": "first"},
        {"id": "b", "title": "Two", "body": None},
        {"id": "c", "title": "", "body": "third"},
        {"id": "d"},
        {"id": "e", "body": 5},
    ]
    put(tmp_path, {"a.jsonl": "\n".join(map(json.dumps, rows))})
    reader = nd.read(tmp_path / "a.jsonl", text=["title", "body"])
    assert everything(reader) == {"a": "One\n\nfirst", "b": "Two", "c": "third", "e": "5"}
    assert reader.account.rejected == {"no text": 1}
    assert [record for batch in reader for record in batch.records()] == [*rows[:3], rows[4]]
    assert sum(len(block) for block in reader.blocks()) == 4
    table = pa.Table.from_pylist(rows[:3])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert [
        d.text for d in nd.read(tmp_path / "a.parquet", text=["title", "body"], columns=[]).documents()
    ] == [
        "One\n\nfirst",
        "Two",
        "third",
    ]
    with pytest.raises(nd.ConfigError, match="no column 'lead'"):
        everything(nd.read(tmp_path / "a.parquet", text=["title", "lead"]))
    with pytest.raises(nd.ConfigError, match="different names"):
        nd.read(tmp_path / "a.parquet", text=["title", "title"])


KINDS = {  # file, ids and texts; rows; rejected; notes
    "a.jsonl": (
        '\ufeff{"id": "a", "text": "good"}\r\n{broken\r\n\r\n{"_id": {"$oid": "m"}, "text": "not this id"}\r\n'
        '{"id": 7.0, "text": 5}\r\n{"id": [1], "text": null}\r\n{"id": "x", "text": {"no": "text"}}\r\n'
        '{"id": "y"}\r\n[1]\r\n{"id": "a", "text": "again"}',
        [("a", "good"), ("a.jsonl:4", "not this id"), ("7", "5"), ("a.jsonl:6", ""), ("a", "again")],
        9,
        {"bad JSON": 1, "wrong type": 2, "no text": 1},
        {NULL: 1, NUMBER: 1, MADE_ID: 1},
    ),
    "mongo.json": (
        '[{"_id": {"$oid": "507f1f77"}, "text": "one"},\n {"_id": {"$oid": "507f1f78"}, "text": "two"}]',
        [("507f1f77", "one"), ("507f1f78", "two")],
        2,
        {},
        {},
    ),
    "b.csv": (
        '\ufeffid,text\r\n1,"two\r\nlines"\r\n2,\r\n3,too,many\r\n4\r\n\r\n5,"says ""yes"""\r\n',
        [("1", "two\r\nlines"), ("2", ""), ("5", 'says "yes"')],
        5,
        {"bad CSV": 2},
        {},
    ),
    "c.tsv": (
        "id\ttext\n1\tone\n2\ttwo\textra\n3\t\n",
        [("1", "one"), ("3", "")],
        3,
        {"bad CSV": 1},
        {},
    ),
    "d.lines": (
        "\ufeffone\r\n\r\ntwo\r\nno end",
        [("d.lines:1", "one"), ("d.lines:2", ""), ("d.lines:3", "two"), ("d.lines:4", "no end")],
        4,
        {},
        {},
    ),
    "e.txt": ("\ufeffone\r\ntwo\r\n", [("e.txt", "one\r\ntwo\r\n")], 1, {}, {}),
    "f.html": ("<html><body><p>a page</p></body></html>", [("f.html", None)], 1, {}, {}),
    "g.mbox": (
        "From a@b.c Mon Jan  1 10:00:00 2024\nSubject: one\nMessage-ID: <1@x>\n\nbody\n\n"
        "From a@b.c Mon Jan  1 10:00:00 2024\nSubject: no body\n\n\n"
        "From a@b.c Mon Jan  1 10:00:00 2024\nContent-Type: application/pdf\n\nJVBERi0=\n\n",
        [("1@x", "one\n\nbody"), ("g.mbox:2", "no body"), ("g.mbox:3", "")],
        3,
        {},
        {},
    ),
}
PACKED = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_file(tmp_path, name, packed):
    data, expected, rows, rejected, notes = KINDS[name]
    put(tmp_path, {name + packed: PACKED[packed](data.encode())})
    reader = nd.read(tmp_path / (name + packed))
    found = [
        (document.id.replace(packed, "") if packed else document.id, document.text)
        for document in reader.documents()
    ]
    assert [(id, text if text is not None else data) for id, text in expected] == found
    account = reader.account
    assert (account.rows, account.documents, account.rejected, account.notes) == (
        rows,
        len(found),
        rejected,
        notes,
    )
    blocks = [
        document.id
        for block in reader.blocks()
        for document in (block if isinstance(block, Batch) else block.documents())
    ]
    assert len(blocks) == len(found) and reader.account == account


def test_a_folder_of_every_kind(tmp_path):
    """Each file gives what it gives alone; ids may repeat."""
    put(tmp_path, {name: data for name, (data, *_) in KINDS.items()})
    pyarrow.parquet.write_table(pa.table({"id": [1.0, None], "text": ["one", None]}), tmp_path / "h.parquet")
    put(tmp_path, {"packed.parquet.gz": gzip.compress((tmp_path / "h.parquet").read_bytes())})
    reader = nd.read(tmp_path)
    ids = [document.id for document in reader.documents()]
    assert sorted(ids) == sorted(
        [id for _, pairs, *_ in KINDS.values() for id, _ in pairs] + ["1", "h.parquet:2"]
    )
    account = reader.account
    rejected = Counter({"damaged file": 1})
    notes = Counter({NULL: 1})
    for _, _, _, some, others in KINDS.values():
        rejected.update(some)
        notes.update(others)
    assert (account.found, account.read, account.rejected, account.notes) == (10, 10, rejected, notes)
    assert (
        account.rows
        == account.documents + rejected.total()
        == 3 + sum(rows for _, _, rows, *_ in KINDS.values())
    )
    details = json.loads(json.dumps(account.to_json()))["reasons"]
    assert len(details) == 3


TABLE = pa.table(
    {
        "id": pa.array([1, None, 3, 3, 5], pa.int64()),
        "text": pa.array(["good", None, "", "again", "\u00fcn\u00ef"], pa.large_string()),
        "views": [1.5, None, 2.0, 3.0, 4.0],
    }
)


def write_arrow(path, new):
    with pa.OSFile(str(path), "wb") as sink, new(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather", "a.arrows"])
def test_a_table_with_nulls_in_a_file(tmp_path, name):
    if name.endswith("parquet"):
        pyarrow.parquet.write_table(TABLE, tmp_path / name, row_group_size=2)
    else:
        write_arrow(tmp_path / name, pa.ipc.new_stream if name.endswith("s") else pa.ipc.new_file)
    reader = nd.read(tmp_path / name)
    found = [(document.id, document.text) for document in reader.documents()]
    assert found == [("1", "good"), (f"{name}:2", ""), ("3", ""), ("3", "again"), ("5", "\u00fcn\u00ef")]
    account = reader.account
    assert (account.rows, account.documents, account.rejected, account.notes) == (5, 5, {}, {NULL: 1})
    whole = (tmp_path / name).read_bytes()
    for end in (len(whole) // 2, len(whole) - 8):
        (tmp_path / name).write_bytes(whole[:end])
        reader = nd.read(tmp_path)
        everything(reader)
        assert reader.account.rejected == {"damaged file": 1}


def test_a_crawl_as_crawlers_write_it(tmp_path):
    page = "<html><body><p>A page of some words.</p></body></html>"
    urls = [f"http://a.example/{name}" for name in ("", "moved", "lost", "p.png", "t.txt", "", "cut")]
    blocks = [
        http_response(page),
        http_response("", "301 Moved Permanently"),
        http_response(page, "404 Not Found"),
        http_response("xx", kind="image/png"),
        http_response("plain words", kind="text/plain"),
        http_response(page),
        http_response(page),
    ]
    records = [
        captured(number, url, block) for number, (url, block) in enumerate(zip(urls, blocks, strict=True))
    ]
    other = warc_record(
        "request", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request", "x", urls[0]
    )
    put(
        tmp_path,
        {"a.warc": warc_record("warcinfo", b"software: x\r\n", "application/warc-fields", "y") + other},
    )
    with (tmp_path / "a.warc").open("ab") as file:
        file.write(b"".join(records)[:-40])  # the crawler was killed
    reader = nd.read(tmp_path / "a.warc")
    found = [(document.id[-1], document.text) for document in reader.documents()]
    assert found == [("0", page), ("4", "plain words"), ("5", page)]
    account = reader.account
    assert account.rejected == {"damaged file": 1}
    assert "ends after 18 of 54 bytes" in account.reasons[0].detail
    passed = {"WARC redirect": 1, "WARC error response": 1, "WARC record without text": 1}
    assert (account.rows, account.passed_over) == (7, passed)


@pytest.mark.process
@pytest.mark.parametrize("name", ["a.jsonl", "b.csv", "d.lines"])
def test_each_kind_in_a_pipe(tmp_path, name):
    data, expected, rows, rejected, notes = KINDS[name]
    command = [
        sys.executable,
        "-m",
        "neardup",
        "scan",
        "-",
        "-o",
        "found",
        "--allow-rejects",
        "1",
        "--json",
        "-q",
    ]
    done = subprocess.run(command, input=data.encode(), capture_output=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    account = json.loads(done.stdout)["account"]
    assert account["rows"] == {
        "read": rows,
        "documents": len(expected),
        "rejected": rejected,
        "passed_over": {},
    }
    assert account["notes"] == notes
    assert account["documents"]["read"] == len(expected)


def test_a_packed_parquet_file_says_so(tmp_path):
    put(tmp_path, {"a.parquet.zst": zstandard.compress(b"PAR1 anything")})
    reader = nd.read(tmp_path / "a.parquet.zst")
    assert (
        everything(reader) == {} and "packed with zstd; unpack it first" in reader.account.reasons[0].detail
    )


def test_a_file_that_is_named_twice(tmp_path, monkeypatch):
    put(tmp_path, {"a.txt": "words", "b.txt": "others"})
    monkeypatch.chdir(tmp_path)
    reader = nd.read(["a.txt", "./a.txt", tmp_path / "a.txt", "*.txt", "."])
    assert everything(reader) == {"a.txt": "words", "b.txt": "others"}
    assert reader.account.found == 7 and reader.account.skipped == {"same file again": 5}


def test_a_file_that_is_deleted_while_the_folder_is_read(tmp_path):
    put(tmp_path, {"a.txt": "words", "b": "recognised", "c.txt": "more"})
    account = Account()
    listed = _chosen(walk(tmp_path, ReadOptions()), ReadOptions(), account)
    first = next(listed)
    (tmp_path / "b").unlink()
    assert [first.name, *(file.name for file in listed)] == ["a.txt", "c.txt"]
    assert account.skipped == {"unreadable": 1} and account.examples == {"unreadable": ["b"]}
    put(tmp_path, {"b": "recognised"})
    reader = nd.read(tmp_path)
    (tmp_path / "c.txt").unlink()
    assert everything(reader) == {"a.txt": "words", "b": "recognised"}
    assert reader.account.rejected == {"unreadable": 1}


IDS = [  # as tables have them, with the text that an id becomes; None if one is made
    ("x", "x"), (5, "5"), (10**30, str(10**30)), (7.0, "7"), (2.5, "2.5"), (True, "1"), (None, None), ("", None),
    ({"$oid": "m"}, "m"), ({"$numberLong": 8}, "8"), ({"a": 1, "b": 2}, None), ([1], None), ({}, None),
]  # fmt: skip


def test_ids_of_any_type_lose_no_document(tmp_path):
    rows = [{"id": value, "text": f"words {n}"} for n, (value, _) in enumerate(IDS)]
    put(tmp_path, {"a.jsonl": "\n".join(map(json.dumps, rows))})
    reader = nd.read(tmp_path / "a.jsonl")
    made = [id or f"a.jsonl:{n}" for n, (_, id) in enumerate(IDS, 1)]
    assert [document.id for document in reader.documents()] == made and reader.account.notes == {MADE_ID: 3}
    assert [document.id for block in reader.blocks() for document in block.documents()] == made
    assert [record for batch in reader for record in batch.records()] == rows  # written as they were
    made = [id or f"rows:{n}" for n, (_, id) in enumerate(IDS, 1)]
    assert [document.id for document in nd.read(rows).documents()] == made == list(nd.dedup(rows).ids)
    assert nd.dedup([{"id": 10**5000, "text": "a"}]).ids == ("rows:1",)


def test_a_text_inside_of_another_column(tmp_path):
    put(tmp_path, {"a.jsonl": '{"id": 1, "data": {"body": "some words"}}\n'})
    for options in ({}, {"text": "data.body"}):
        with pytest.raises(nd.ConfigError, match=r"jq -c '.text = .data.body'"):
            everything(nd.read(tmp_path / "a.jsonl", **options))


def test_tables_in_memory_keep_their_places():
    rows = [{"text": "a"}, {"text": None}, {"other": 1}, {"text": 5}, {"text": "b"}]
    reader = nd.read(rows)
    assert [d.text for d in reader.documents()] == ["a", "", "", "5", "b"]
    assert (reader.account.rows, reader.account.documents) == (5, 5)


@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        ([1, None, 3], pa.int64(), ["1", "", "3"]),
        ([b"one", None, b"\xff"], pa.binary(), ["one", ""]),
        (["x", None, "y"], pa.large_string(), ["x", "", "y"]),
    ],
)
def test_parquet_columns_of_any_type(tmp_path, values, kind, texts):
    pyarrow.parquet.write_table(pa.table({"text": pa.array(values, kind)}), tmp_path / "a.parquet")
    reader = nd.read(tmp_path / "a.parquet")
    assert [d.text for d in reader.documents()] == texts
    assert reader.account.rows == 3 and reader.account.rejected.total() == 3 - len(texts)


def test_a_column_of_numbers_is_no_text_by_itself(tmp_path):
    pyarrow.parquet.write_table(pa.table({"id": [1], "views": [5]}), tmp_path / "a.parquet")
    put(tmp_path, {"a.jsonl": '{"id": 1, "views": 5}\n'})
    for name in ("a.parquet", "a.jsonl"):
        with pytest.raises(nd.ConfigError, match=r"--text.*id, views"):
            everything(nd.read(tmp_path / name))
        assert everything(nd.read(tmp_path / name, text="views")) == {"1": "5"}


def test_lists_of_numbers_are_texts_only_where_vectors_are_asked_for(tmp_path):
    rows = [{"id": n, "text": [n, 1.5, 2], "vector": [1.0, n, 3]} for n in range(4)]
    put(tmp_path, {"a.jsonl": "\n".join(map(json.dumps, rows))})
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for source in (tmp_path / "a.jsonl", tmp_path / "a.parquet", rows):
        reader = nd.read(source, text="text")
        assert everything(reader) == {} and reader.account.rejected == {"wrong type": 4}
        # Nor in a text column beside that of the vectors.
        config = nd.Config(vectors=nd.Vectors("vector"))
        with pytest.raises(UnreadableInput) as refused:
            nd.dedup(source, config, text="text")
        assert refused.value.rejected == {"wrong type": 4}
        result = nd.dedup(source, config, text="vector")
        assert not result.rejected and result.account["notes"] == {
            "lists of numbers in a text column, read as text": 4
        }
        with pytest.raises(UnreadableInput):
            nd.dedup(source, text="vector")


def test_too_much_that_cannot_be_read(tmp_path):
    put(tmp_path, {"a.jsonl": '{"text": "x"}\n' * 9 + "bad\n"})
    reader = nd.read(tmp_path / "a.jsonl")
    everything(reader)
    reader.account.check()  # a tenth is not more than a tenth
    with pytest.raises(UnreadableInput) as caught:
        reader.account.check(strict=True, rejects="r.jsonl")
    assert (caught.value.rows, caught.value.documents, caught.value.rejected) == (10, 9, {"bad JSON": 1})
    assert caught.value.path == "r.jsonl" and "a.jsonl, row 10: bad JSON" in str(caught.value)
    with pytest.raises(UnreadableInput, match=r"1 of 10 rows could not be read \(10.0%\)"):
        reader.account.check(0.05)
    put(tmp_path, {"a.parquet": random.Random(1).randbytes(500)})
    reader = nd.read(tmp_path / "a.parquet")
    assert everything(reader) == {}
    with pytest.raises(UnreadableInput, match="no Parquet file"):
        reader.account.check(1.0)
    put(tmp_path, {"a.jsonl": "\n\n"})
    reader = nd.read(tmp_path / "a.jsonl")
    assert everything(reader) == {}
    with pytest.raises(UnreadableInput, match="no rows"):
        reader.account.check()


def test_the_account_as_plain_values(messy):
    reader = nd.read(messy)
    everything(reader)
    reported = json.loads(json.dumps(reader.account.to_json()))
    files, rows = reported["files"], reported["rows"]
    assert files["found"] == files["read"] + sum(files["skipped"].values())
    assert rows["read"] == rows["documents"] + sum(rows["rejected"].values()) + sum(
        rows["passed_over"].values()
    )
    assert any(line.startswith("  hidden: 3 (") for line in reader.account.lines())
