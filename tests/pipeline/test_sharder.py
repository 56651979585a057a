"""Documents to shards: the same however they are cut, stopped and resumed; pages that fail are reported."""

import json
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import neardup as nd
from neardup import web
from neardup.config.filters import Filters
from neardup.errors import DataError
from neardup.pipeline import sharder as sharding
from neardup.pipeline.batches import DocumentBatch
from neardup.pipeline.fit import Prepared
from neardup.pipeline.inputs import of_reader
from neardup.pipeline.sharder import Sharder
from neardup.pipeline.shards import FileShard

COLUMNS = ("digests", "empty", "filtered", "tokens", "sizes", "places")


def texts(count, first=0):
    return [f"document {i} " + f"about {i % 7} things " * (i % 11) for i in range(first, first + count)]


def batches(many, size=10, file="a.jsonl"):
    made = [nd.Document(f"id{i}", text) for i, text in enumerate(many)]
    for start in range(0, len(made), size):
        part = made[start : start + size]
        yield DocumentBatch(part, [file] * len(part), list(range(start + 1, start + 1 + len(part))))


def sharder(folder=None, config=None, size=1000, **others):
    config = config or nd.Config()
    return Sharder(config, Prepared.untaught(config), folder=folder, size=size, **others)


def contents(shards):
    columns = {name: np.concatenate([s.column(name) for s in shards]).tolist() for name in COLUMNS}
    rows = [np.arange(shard.count) for shard in shards]
    columns["ids"] = [name for s, r in zip(shards, rows, strict=True) for name in s.ids(r)]
    columns["texts"] = [text for s, r in zip(shards, rows, strict=True) for text in s.text_bytes(r)]
    columns["keys"] = np.concatenate([s.prints("keys") for s in shards], axis=1).tolist()
    return columns


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_any_shards_hold_the_same(tmp_path):
    wanted = contents(sharder(size=1 << 30).shards(batches(texts(100))))
    assert wanted["ids"] == [f"id{i}" for i in range(100)] and wanted["places"] == list(range(1, 101))
    for size in (1, 500, 5000):
        for folder in (None, tmp_path / str(size)):
            if folder is not None:
                folder.mkdir()
            shards = sharder(folder, size=size).shards(batches(texts(100)))
            assert len(shards) > 1 and contents(shards) == wanted


def test_few_documents_a_shard(monkeypatch):
    monkeypatch.setattr(sharding, "_MOST_DOCUMENTS", 20)
    assert [shard.count for shard in sharder(size=1 << 30).shards(batches([""] * 50))] == [20, 20, 10]


def test_nothing_makes_no_shard(tmp_path):
    assert sharder(tmp_path).shards([]) == [] and not files(tmp_path)


@pytest.fixture
def done(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    made = sharder(folder).shards(batches(texts(100)))
    assert len(made) > 4
    return folder


def resumed(folder, many=None, size=1000):
    again = sharder(folder, size=size)
    shards = again.shards(batches(texts(100) if many is None else many))
    return again.resumed, contents(shards)


def test_a_run_continues_where_it_stopped(done):
    whole = files(done)
    names = sorted(name for name in whole if name.endswith(".shard"))
    wanted = resumed(done)[1]
    assert resumed(done)[0] == len(names) and files(done) == whole
    for kept in (0, 1, 3):
        for name in names[kept:]:
            (done / name).unlink()
        assert resumed(done) == (kept, wanted) and files(done) == whole
    (done / names[1]).unlink()  # what follows a gap is made again too
    assert resumed(done) == (1, wanted) and files(done) == whole


@pytest.mark.parametrize("kind", ["shard", "prints"])
@pytest.mark.parametrize("damage", ["bit", "cut", "zeros", "empty", "other"])
def test_damaged_files_are_made_again(done, kind, damage):
    """As after a power cut: also where the header is whole and the columns are not."""
    whole, wanted = files(done), resumed(done)[1]
    path = done / f"00002.{kind}"
    good = bytearray(path.read_bytes())
    if damage == "bit":
        good[4096 + 3] ^= 4
    elif damage == "zeros":
        good[4096:-200] = bytes(len(good) - 4096 - 200)
    path.write_bytes(
        {
            "cut": good[:-5000],
            "empty": b"",
            "other": whole[f"00002.{'prints' if kind == 'shard' else 'shard'}"],
        }.get(damage, bytes(good))
    )
    assert resumed(done)[1] == wanted and files(done) == whole


def test_another_shard_size_changes_no_document(done):
    wanted = resumed(done)[1]
    for name in ("00002.shard", "00003.shard"):
        (done / name).unlink()
    assert resumed(done, size=300)[1] == wanted


def test_changed_input_is_refused(done):
    for many in (texts(99, 1)[:15], texts(3)):
        with pytest.raises(DataError, match="start again in another folder"):
            resumed(done, many)
    with pytest.raises(DataError, match=r"the input has changed|start again"):
        sharder(done).shards(batches(texts(100), file="b.jsonl"))


def test_prints_of_other_settings_are_made_again(done):
    other = nd.Config(nd.Shingles(3))
    again = contents(sharder(done, other).shards(batches(texts(100))))
    assert again == contents(sharder(None, other).shards(batches(texts(100))))


KILLED = """
import os, signal, sys
import neardup as nd
from neardup.pipeline import sharder as sharding
from neardup.pipeline import shards as shard
sys.path.insert(0, os.path.dirname(sys.argv[1]))
from test_sharder import batches, sharder, texts
from pathlib import Path
write, count = sharding.write_shard, [0]
def killed(*arguments):
    count[0] += 1
    if count[0] == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    write(*arguments)
sharding.write_shard = killed
sharder(Path(sys.argv[2])).shards(batches(texts(100)))
"""


def test_killed_in_the_middle(done, tmp_path):
    folder = tmp_path / "killed"
    folder.mkdir()
    paths = os.pathsep.join(sys.path)
    run = subprocess.run(
        [sys.executable, "-c", KILLED, __file__, str(folder)],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert run.returncode == -signal.SIGKILL and 0 < len(files(folder)) < len(files(done))
    assert resumed(folder)[0] == 3 and files(folder) == files(done)


PAGE = "<html><body><main><p>{}</p></main></body></html>"


def pages(many):
    words = "This is the main text of a page, long enough to be taken for one, number {}. "
    return [PAGE.format(words.format(i) * 5) for i in range(many)]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_pages_and_texts_in_one_shard(tmp_path):
    """Files of pages and files of texts, in one reading: each its own size and text."""
    pytest.importorskip("resiliparse")
    write(tmp_path / "a.jsonl", [{"html": page, "id": f"a{i}"} for i, page in enumerate(pages(3))])
    write(tmp_path / "b.jsonl", [{"text": f"plain <b>text</b> {i}", "id": f"b{i}"} for i in range(4)])
    config = nd.Config(filters=Filters(min_bytes=21))
    reader = nd.read([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    (shard,) = sharder(None, config, 1 << 30).shards(of_reader(reader, config))
    sizes = [len(page) for page in pages(3)] + [len("plain <b>text</b> 0")] * 4
    assert shard.column("sizes").tolist() == sizes and shard.count == 7
    assert shard.column("filtered").tolist() == [0, 0, 0, 1, 1, 1, 1]
    found = shard.text_bytes(np.arange(7))
    assert (
        all(text.startswith(b"This is the main") for text in found[:3]) and found[3] == b"plain <b>text</b> 0"
    )


def test_a_folder_of_pages_and_texts(tmp_path):
    pytest.importorskip("resiliparse")
    for i, page in enumerate(pages(2)):
        (tmp_path / f"{'ac'[i]}.html").write_text(page)
        (tmp_path / f"{'bd'[i]}.txt").write_text(f"plain <b>text</b> {i}")
    config = nd.Config()
    (shard,) = sharder(None, config, 1 << 30).shards(of_reader(nd.read(tmp_path), config))
    found = shard.text_bytes(np.arange(4))
    assert [text[:12] for text in found] == [
        b"This is the ",
        b"plain <b>tex",
        b"This is the ",
        b"plain <b>tex",
    ]


@pytest.mark.parametrize("stored", [False, True])
def test_pages_that_fail_are_reported(tmp_path, monkeypatch, stored):
    """Every third page is too large, and all from the twentieth on: a shard of failures alone."""
    pytest.importorskip("resiliparse")
    monkeypatch.setattr(web, "HtmlExtractor", partial(web.HtmlExtractor, largest=2000))
    good = [row for row in range(20) if row % 3 != 2]
    many = [
        page if row in good else page + "<!-- " + "x" * 2000 + " -->" for row, page in enumerate(pages(30))
    ]

    def stream():
        for start in range(0, 30, 10):
            rows = list(range(start, start + 10))
            documents = [nd.Document(f"p{row}", many[row]) for row in rows]
            yield DocumentBatch(documents, ["a.html"] * 10, rows, html=True)

    folder = tmp_path if stored else None
    for _ in range(2):  # the second time they are taken over
        shards = sharder(folder, size=50).shards(stream())
        assert contents(shards)["ids"] == [f"p{row}" for row in good] and len(shards) == 3
        assert contents(shards)["sizes"] == [len(many[row]) for row in good]
        if stored:
            failures = [failure for shard in shards for failure in shard.failures]
            assert failures == [("a.html", row, "too large") for row in range(30) if row not in good]
    if stored:
        (tmp_path / "00001.shard").unlink()
        again = sharder(folder, size=50)
        assert contents(again.shards(stream()))["ids"] == [f"p{row}" for row in good] and again.resumed == 1
        assert all(isinstance(shard, FileShard) for shard in shards)
