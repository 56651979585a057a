"""Which files are read, in which order, and what their documents are called."""

import json
import os
import random

import pytest

import neardup as nd


def put(folder, files):
    for name, texts in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


FILES = {"b.jsonl": ["b1", "b2"], "a/x.jsonl": ["ax"], "a/y.jsonl": ["ay"], "c.ndjson": ["c"]}
ORDER = [
    ("a/x.jsonl:1", "ax"),
    ("a/y.jsonl:1", "ay"),
    ("b.jsonl:1", "b1"),
    ("b.jsonl:2", "b2"),
    ("c.ndjson:1", "c"),
]


def ids_and_texts(source, **options):
    return [(d.id, d.text) for d in nd.read(source, **options).documents()]


def test_folders_are_read_in_order(tmp_path):
    put(tmp_path, FILES | {"a.rejects.jsonl": ["no"], "_SUCCESS": [], "_temporary/z.jsonl": ["no"]})
    assert ids_and_texts(tmp_path) == ORDER
    assert ids_and_texts(str(tmp_path) + os.sep) == ORDER
    put(tmp_path, {"_under.jsonl": ["_"]})
    assert ids_and_texts(tmp_path) == [("_under.jsonl:1", "_"), *ORDER]


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_order_of_files_and_batches_change_nothing(tmp_path, batch):
    put(tmp_path, FILES)
    files = [tmp_path / name for name in FILES]
    first = ids_and_texts(files, batch=batch)
    for seed in range(5):
        random.Random(seed).shuffle(files)
        assert ids_and_texts(files + files[:2], batch=batch) == first
    assert [text for _, text in first] == ["b1", "b2", "c", "ax", "ay"]


def test_globs(tmp_path):
    put(tmp_path, FILES)
    assert ids_and_texts(f"{tmp_path}/**/*.jsonl") == ORDER[:4]
    assert ids_and_texts(f"{tmp_path}/a/*.jsonl") == [("x.jsonl:1", "ax"), ("y.jsonl:1", "ay")]
    with pytest.raises(nd.DataError, match="no file matches"):
        nd.read(f"{tmp_path}/*.parquet")


def test_a_name_with_brackets_is_a_name(tmp_path):
    put(tmp_path, {"a[1].jsonl": ["x"]})
    assert ids_and_texts(tmp_path / "a[1].jsonl") == [("a[1].jsonl:1", "x")]


def test_equal_names_in_two_folders_keep_apart(tmp_path):
    put(tmp_path, {"one/x.jsonl": ["1"], "two/x.jsonl": ["2"]})
    found = ids_and_texts([tmp_path / "two/x.jsonl", tmp_path / "one/x.jsonl"])
    assert [text for _, text in found] == ["1", "2"] and len({name for name, _ in found}) == 2


def test_addresses(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for name, texts in FILES.items():
        with memory.open(f"/corpus/{name}", "wb") as file:
            file.write("".join(json.dumps({"text": text}) + "\n" for text in texts).encode())
    try:
        assert ids_and_texts("memory://corpus") == ORDER
        assert ids_and_texts("memory://corpus/*.jsonl") == ORDER[2:4]
        assert ids_and_texts("memory://corpus/c.ndjson") == ORDER[4:]
        with pytest.raises(nd.DataError):
            nd.read("memory://corpus/none.jsonl")
    finally:
        memory.rm("/corpus", recursive=True)
    put(tmp_path, FILES)
    assert ids_and_texts(f"file://{tmp_path}") == ORDER
    with pytest.raises(nd.ConfigError):
        nd.read("nosuchprotocol://x/a.jsonl")


def test_unknown_and_missing_files(tmp_path):
    (tmp_path / "a.data").write_text('{"text": "x"}')
    (tmp_path / "program").write_bytes(b"\x7fELF\0\0\0")
    with pytest.raises(nd.DataError, match="format="):
        nd.read(tmp_path / "program")
    (tmp_path / "program").unlink()
    assert ids_and_texts(tmp_path / "a.data") == ids_and_texts(tmp_path) == [("a.data:1", "x")]
    assert ids_and_texts(tmp_path / "a.data", format="jsonl") == [("a.data:1", "x")]
    assert ids_and_texts(tmp_path, format="text") == [("a.data", '{"text": "x"}')]
    (tmp_path / "empty").mkdir()
    with pytest.raises(nd.errors.UnreadableInput, match="no files"):
        nd.read(tmp_path / "empty")
    with pytest.raises(nd.ConfigError, match="no format"):
        nd.read(tmp_path, format="docx")
    with pytest.raises(nd.DataError, match="no such file"):
        nd.read(tmp_path / "none.jsonl")
    with pytest.raises(nd.ConfigError, match="batch"):
        nd.read(tmp_path / "a.data", format="jsonl", batch=0)
    with pytest.raises(nd.ConfigError, match="columns"):
        nd.read(tmp_path / "a.data", format="jsonl", columns="text")
    with pytest.raises(nd.ConfigError):
        nd.readers.Limits(line_bytes=0)


def test_batches_say_file_and_row(tmp_path):
    put(tmp_path, FILES)
    batches = list(nd.read(tmp_path, batch=2))
    assert [len(batch) for batch in batches] == [2, 2, 1]
    places = [(file, row) for batch in batches for file, row in zip(batch.files, batch.rows, strict=True)]
    assert [f"{file}:{row}" for file, row in places] == [name for name, _ in ORDER]
    assert batches[0][1].text == "ay"


def test_a_reader_can_be_read_again(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\nbad\n')
    reader = nd.read(tmp_path / "a.jsonl", rejects=tmp_path / "r.rejects.jsonl")
    for _ in range(2):
        assert [d.text for d in reader.documents()] == ["x"]
        assert reader.rejects.counts == {"bad JSON": 1}
        assert len((tmp_path / "r.rejects.jsonl").read_text().splitlines()) == 1


def test_an_abandoned_read_leaves_no_rejects_file(tmp_path):
    (tmp_path / "a.jsonl").write_text('bad\n{"text": "x"}\n{"text": "y"}\n')
    batches = iter(nd.read(tmp_path / "a.jsonl", rejects=tmp_path / "r.rejects.jsonl", batch=1))
    next(batches)
    batches.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_one_sink_for_several_reads(tmp_path):
    (tmp_path / "a.jsonl").write_text('bad\n{"text": "x"}\n')
    with nd.readers.Rejects(tmp_path / "all.rejects.jsonl") as rejects:
        for _ in range(3):
            list(nd.read(tmp_path / "a.jsonl", rejects=rejects))
    assert rejects.counts == {"bad JSON": 3}
    assert len((tmp_path / "all.rejects.jsonl").read_text().splitlines()) == 3


def test_progress_in_bytes(tmp_path):
    for name, rows in (("a.jsonl", 10), ("b.jsonl", 1)):
        (tmp_path / name).write_text((json.dumps({"id": 1, "text": "word " * 100_000}) + "\n") * rows)
    reader = nd.read(tmp_path, batch=1)
    seen = []
    for _ in reader:
        seen.append(reader.bytes_read)
    assert seen == sorted(seen) and 0 < seen[0] < reader.bytes_total // 2
    assert reader.bytes_read == reader.bytes_total == sum(p.stat().st_size for p in tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_is_no_file(tmp_path, kind):
    """A pipe can be read only once: what its format is recognised by would be lost. A device may never end."""
    place = "/dev/zero"
    if kind == "pipe":
        place = str(tmp_path / "pipe")
        os.mkfifo(place)
    with pytest.raises(
        nd.DataError, match=f"{place}: is a pipe or a device and no file.*standard input: - < "
    ):
        nd.read(place)
