"""Texts that are not copied out of their files: the same shards, and a file that changes is noticed."""

import json
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup import _core
from neardup.errors import DataError
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.fit import Prepared
from neardup.pipeline.inputs import of_reader
from neardup.pipeline.sharder import Sharder
from neardup.pipeline.shards import FileShard
from neardup.readers import line_blocks

COLUMNS = ("digests", "empty", "filtered", "tokens", "sizes", "places", "files")


def shards(paths, folder=None, *, places=False, threads=1, size=3000):
    config = nd.Config()
    if folder is not None:
        folder.mkdir(exist_ok=True)
    made = Sharder(
        config, Prepared.untaught(config), folder=folder, size=size, threads=threads, places=places
    )
    return made.shards(of_reader(nd.read(paths), config, made.work))


def contents(many):
    columns = {name: np.concatenate([s.column(name) for s in many]).tolist() for name in COLUMNS[:-1]}
    rows = [np.arange(shard.count) for shard in many]
    columns["ids"] = [name for s, r in zip(many, rows, strict=True) for name in s.ids(r)]
    columns["texts"] = [text for s, r in zip(many, rows, strict=True) for text in s.text_bytes(r)]
    columns["keys"] = np.concatenate([s.prints("keys") for s in many], axis=1).tolist()
    columns["files"] = [s.file_names[i] for s in many for i in s.column("files").tolist()]
    return columns


def corpus(folder, files=3, count=60):
    """Files of simple lines, lines that only the line reader takes, and lines that nobody takes."""
    paths = []
    for number in range(files):
        path = folder / f"{number}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for i in range(count):
                text = f'Größe "{number}" \\ line\n{i} 😀 ' + "and more words " * (i % 9)
                record = {"id": f"{number}-{i}", "text": text, "n": [i, {"a": None}]}
                if i % 17 == 5:
                    record["text"] = None
                if i % 23 == 7:
                    record["id"] = 1.5
                file.write(json.dumps(record, ensure_ascii=bool(i % 2)) + "\n")
                if i % 19 == 3:
                    file.write("no JSON\n\n")
        paths.append(path)
    return paths


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [1, 700, 1 << 20])
def test_texts_in_their_files(tmp_path, monkeypatch, threads, size):
    paths = corpus(tmp_path)
    wanted = contents(shards(paths))
    assert b'"1" \\ line\n' in wanted["texts"][60]
    monkeypatch.setattr(line_blocks, "_BLOCK", size)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    held = shards(paths, tmp_path / "held", threads=threads)
    placed = shards(paths, tmp_path / "placed", places=True, threads=threads)
    assert contents(shards(paths, threads=threads)) == contents(held) == contents(placed) == wanted
    folders = [sum(p.stat().st_size for p in (tmp_path / name).iterdir()) for name in ("held", "placed")]
    assert size == 1 or folders[0] != folders[1]
    again = [FileShard(shard.path) for shard in placed]
    rows = np.arange(1, again[0].count, 3)
    assert again[0].text_bytes(rows) == held[0].text_bytes(rows)


def test_a_stopped_run_continues(tmp_path):
    paths = corpus(tmp_path)
    wanted = contents(shards(paths, tmp_path / "a", places=True))
    for path in sorted((tmp_path / "a").iterdir())[3:]:
        path.unlink()
    assert contents(shards(paths, tmp_path / "a", places=True, threads=2)) == wanted


def change(path, how):
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "longer":
        path.write_bytes(data + b"\n")
    elif how == "shorter":
        os.truncate(path, len(data) // 2)
    else:
        path.write_bytes(data.replace(b"line", b'l"ne') if how == "broken" else data)
        seen = path.stat()
        os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1_000_000))


@pytest.mark.parametrize("how", ["gone", "longer", "shorter", "broken", "touched"])
def test_a_file_that_changes_is_noticed(tmp_path, how):
    paths = corpus(tmp_path)
    placed = shards(paths, tmp_path / "a", places=True, size=1 << 20)
    change(paths[1], how)
    with pytest.raises(DataError, match=r"1\.jsonl: has changed while it was scanned"):
        placed[0].text_bytes(np.arange(placed[0].count))
    assert placed[0].text_bytes(np.arange(10))  # of the first file


def test_other_bytes_of_the_same_age_are_noticed_where_they_are_no_text(tmp_path):
    (path,) = corpus(tmp_path, 1)
    seen = path.stat()
    placed = shards(path, tmp_path / "a", places=True)
    path.write_bytes(path.read_bytes().replace(b" more", b'"more'))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    with pytest.raises(DataError, match="has changed"):
        placed[0].text_bytes(np.arange(placed[0].count))


def test_a_scan_stops_when_its_input_changes(tmp_path, monkeypatch):
    from neardup.pipeline import run

    paths = corpus(tmp_path)

    def search(self):
        change(paths[0], "touched")
        return found(self)

    found = run.Run.search
    monkeypatch.setattr(run.Run, "search", search)
    with pytest.raises(DataError, match="has changed while it was scanned"):
        nd.scan(paths, tmp_path / "out")


@settings(max_examples=budget(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.text(max_size=90), st.sampled_from([0, 1, 70, 20_000])), min_size=1, max_size=80),
    st.booleans(),
    st.integers(1, 3),
)
def test_what_json_writes_is_unescaped(tmp_path, texts, escaped, threads):
    """Texts that are near each other and far, and more of them than one thread takes at a time."""
    path, begins, raws, expected, block = tmp_path / "texts", [], [], [], b""
    for text, gap in texts:
        text = text.encode("utf-8", "replace").decode()
        raw = json.dumps(text, ensure_ascii=escaped)[1:-1].encode()
        block += b"-" * gap
        begins.append(len(block))
        raws.append(len(raw))
        expected.append(text.encode())
        block += raw
    path.write_bytes(block)
    begins, raws, sizes = (np.array(column) for column in (begins, raws, [len(one) for one in expected]))
    with path.open("rb") as file:
        made = _core.placed_texts(file.fileno(), begins, raws, sizes, threads)
        assert made.tobytes() == b"".join(expected)
        if sizes[-1]:
            cut = begins + (np.arange(len(begins)) == len(begins) - 1)
            assert _core.placed_texts(file.fileno(), cut, raws, sizes, threads) is None
            sizes[-1] -= 1
            assert _core.placed_texts(file.fileno(), begins, raws, sizes, threads) is None
    with pytest.raises(OSError):
        _core.placed_texts(-1, begins[:1], raws[:1] + 1, sizes[:1], threads)
    with pytest.raises(ValueError, match="out of range"):
        _core.placed_texts(-1, begins[:1] - 1 - len(block), raws[:1], sizes[:1], threads)


@pytest.mark.skipif(
    not hasattr(os, "posix_fadvise"), reason="the system takes no advice on files (run it on Linux)"
)
def test_texts_of_a_corpus_beyond_memory_are_asked_for_together(tmp_path, monkeypatch):
    paths = corpus(tmp_path)
    placed = shards(paths, tmp_path / "placed", places=True)
    made, asked, advise = Corpus(placed), [], os.posix_fadvise

    def said(file, begin, size, advice):
        asked.append((os.readlink(f"/proc/self/fd/{file}"), begin, size))
        return advise(file, begin, size, advice)

    monkeypatch.setattr(os, "posix_fadvise", said)
    rows = np.arange(0, len(made), 3)
    made.expect(rows)
    assert not asked  # it fits into memory
    made.__dict__["_beyond_memory"] = True
    made.expect(rows)
    texts = [text for shard, local in made.by_shard(rows) for text in shard.text_bytes(local)]
    for path, begin, size in asked:
        with open(path, "rb") as file:
            file.seek(begin)
            raw = file.read(size)
        assert json.loads(b'"%s"' % raw.removeprefix(b'"').removesuffix(b'"')).encode() in texts
    in_files = sum(len(begins) for s, local in made.by_shard(rows) for _, begins, _ in s.text_ranges(local))
    assert len(asked) == in_files > 20
    paths[0].unlink()
    made.expect(rows)  # no error: who reads the text reports it


def test_findings_do_not_depend_on_what_was_expected(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    texts = [" ".join(f"w{(n // 3) * 100 + i}" for i in range(80)) + f" {n % 3 % 2}" for n in range(90)]
    path.write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts)))
    one = nd.scan(path, tmp_path / "one")
    monkeypatch.setattr(Corpus, "_beyond_memory", True)
    two = nd.scan(path, tmp_path / "two")
    assert len(one.pairs) == 30 and (one.first != np.arange(90)).sum() == 30
    assert one.first.tolist() == two.first.tolist()
    for column in ("left", "right", "similarity"):
        assert getattr(one.pairs, column).tolist() == getattr(two.pairs, column).tolist()
