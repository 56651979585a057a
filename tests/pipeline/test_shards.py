"""Shards: what is written is read back, from memory and files, and damage is an error."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.budgets import budget

from neardup import _core
from neardup.errors import FormatError, NeardupError
from neardup.features.texts import as_texts
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.shard_writer import write_prints, write_shard
from neardup.pipeline.shards import FileShard, MemoryShard, ShardColumns
from neardup.storage.column_file import PAGE

COLUMNS = ("digests", "empty", "filtered", "tokens", "sizes", "files", "places", "sources", "scores")
PRINTS = {"keys": np.arange(12, dtype=np.uint64), "alike": np.arange(8, dtype=np.uint64)}


def columns_of(ids, seed=0):
    rng = np.random.default_rng(seed)
    n = len(ids)
    return ShardColumns(
        ids=ids,
        digests=rng.integers(0, 2**64, (n, 2), dtype=np.uint64),
        empty=rng.integers(0, 2, n).astype(np.uint8),
        filtered=rng.integers(0, 4, n).astype(np.uint8),
        tokens=rng.integers(0, 2**40, n),
        sizes=rng.integers(0, 2**40, n),
        files=rng.integers(0, 2, n).astype(np.int32),
        places=rng.integers(0, 2**40, n),
        sources=rng.integers(0, 3, n).astype(np.int32),
        scores=np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
        file_names=("a.jsonl", 'b "é".jsonl'),
        source_names=("x", "y", ""),
        failures=(("a.jsonl", 3, "killed: too slow"),),
    )


def texts_of(texts):
    data = np.frombuffer(b"".join(texts), np.uint8)
    return data, np.cumsum([len(text) for text in texts]).astype(np.int64)


def written(path, ids, texts, seed=0):
    data, ends = texts_of(texts)
    columns = columns_of(ids, seed)
    write_shard(path, columns, [data], ends, "test/v1")
    return FileShard(path, "test/v1"), MemoryShard(columns, as_texts(texts))


documents = st.lists(
    st.tuples(st.text(st.characters(codec="utf-8"), max_size=5), st.binary(max_size=30)), max_size=12
)


@settings(max_examples=budget(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, st.randoms(use_true_random=False))
def test_what_is_written_is_read(tmp_path, documents, random):
    ids, texts = [d[0] for d in documents], [d[1] for d in documents]
    for shard in written(tmp_path / "a.shard", ids, texts):
        wanted = columns_of(ids)
        assert (shard.count, shard.file_names) == (len(ids), wanted.file_names)
        assert shard.source_names == wanted.source_names
        for name in COLUMNS:
            assert np.array_equal(shard.column(name), getattr(wanted, name), equal_nan=name == "scores")
        rows = np.array(sorted(random.sample(range(len(ids)), random.randint(0, len(ids)))), np.int64)
        assert shard.ids(rows) == [ids[row] for row in rows]
        assert shard.text_bytes(rows) == [texts[row] for row in rows]
        assert len(shard.texts(rows)) == len(rows)
        data, ends = shard.id_bytes()
        assert data.tobytes() == "".join(ids).encode() and len(ends) == len(ids)
    assert FileShard(tmp_path / "a.shard").failures == columns_of(ids).failures


def test_texts_far_apart(tmp_path):
    texts = [b"first", b"x" * (3 << 20), b"second", b"", b"y" * (2 << 20), b"third"]
    file, memory = written(tmp_path / "a.shard", list("abcdef"), texts)
    rows = np.array([0, 2, 3, 5])
    for shard in (file, memory):
        assert shard.text_bytes(rows) == [b"first", b"second", b"", b"third"]
        assert _core.tokens(shard.texts(rows), _core.Normalizer()) == [["first"], ["second"], [], ["third"]]
    # What is between them is not read: damage there is an error for the caller that reads it.
    damaged = bytearray((tmp_path / "a.shard").read_bytes())
    damaged[damaged.index(b"x" * 64) + (2 << 20)] ^= 1
    (tmp_path / "a.shard").write_bytes(damaged)
    again = FileShard(tmp_path / "a.shard")
    assert again.text_bytes(rows) == [b"first", b"second", b"", b"third"]
    for _ in range(2):
        with pytest.raises(FormatError):
            again.text_bytes(np.array([0, 1]))


def test_prints(tmp_path):
    file, memory = written(tmp_path / "a.shard", list("abcd"), [b""] * 4)
    prints = {name: column.reshape((3, 4) if name == "keys" else (4, 2)) for name, column in PRINTS.items()}
    write_prints(tmp_path / "a.prints", prints, 4, "bands")
    file.attach(tmp_path / "a.prints", "bands")
    memory.attach(prints)
    for shard in (file, memory):
        assert np.array_equal(shard.prints("alike"), prints["alike"])
        assert [shard.keys(band).tolist() for band in range(3)] == prints["keys"].tolist()
    with pytest.raises(FormatError, match="fingerprints of codes"):
        file.attach(tmp_path / "a.prints", "codes")
    write_prints(tmp_path / "b.prints", prints, 5, "bands")
    with pytest.raises(FormatError):
        file.attach(tmp_path / "b.prints", "bands")
    with pytest.raises(FormatError):  # a shard is no file of fingerprints
        file.attach(tmp_path / "a.shard", "bands")


def used(path):
    """All that can be asked of a shard, as bytes."""
    shard = FileShard(path, "test/v1")
    rows = np.arange(shard.count)
    columns = b"".join(shard.column(name).tobytes() for name in COLUMNS)
    return columns, shard.ids(rows), shard.text_bytes(rows), shard.file_names, shard.failures


def test_all_damage_is_noticed(tmp_path):
    path = tmp_path / "a.shard"
    written(path, [f"id{i}" for i in range(20)], [b"text %d" % i for i in range(20)])
    whole, good = used(path), path.read_bytes()
    rng = np.random.default_rng(1)
    places = {*range(64), *rng.integers(0, len(good), 300).tolist(), PAGE, len(good) - 1}
    for place in places:
        damaged = bytearray(good)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            assert used(path) == whole and not good[place]  # a bit between columns is nobody's
        except FormatError as error:
            assert "a.shard" in str(error)
            with pytest.raises(FormatError):
                FileShard(path, "test/v1").verify()
    for size in {0, 1, 100, PAGE, len(good) // 2, len(good) - 1, len(good) + 1}:
        path.write_bytes((good + b"\0")[:size])
        with pytest.raises(FormatError):
            used(path)
    path.write_bytes(good)
    FileShard(path, "test/v1").verify()
    with pytest.raises(FormatError, match="a shard of scheme test/v2"):
        FileShard(path, "test/v2")


def test_a_shard_that_cannot_be_finished_leaves_nothing(tmp_path):
    data, ends = texts_of([b"a"])
    with pytest.raises(Exception, match="surrogate"):
        write_shard(tmp_path / "a.shard", columns_of(["\ud800"]), data, ends, "test/v1")
    with pytest.raises(NeardupError):
        write_shard(tmp_path / "a.shard", columns_of(["a"]), data, ends, "x" * 10_000)
    assert not list(tmp_path.iterdir())


def test_shards_as_one_corpus(tmp_path):
    ids = [["a", "b", "c"], [], ["d"], ["e", "f"]]
    shards = [
        written(tmp_path / f"{i}", part, [x.encode() for x in part], i)[i % 2] for i, part in enumerate(ids)
    ]
    corpus = Corpus(shards)
    assert len(corpus) == 6 and corpus.ids(np.array([5, 0, 3, 0])) == ["f", "a", "d", "a"]
    assert np.array_equal(corpus.tokens, np.concatenate([columns_of(p, i).tokens for i, p in enumerate(ids)]))
    assert [corpus.source_names[s] for s in corpus.sources] == [
        columns_of(p, i).source_names[s] for i, p in enumerate(ids) for s in columns_of(p, i).sources
    ]
    parts = [(shards.index(shard), rows.tolist()) for shard, rows in corpus.by_shard(np.array([1, 2, 3, 5]))]
    assert parts == [(0, [1, 2]), (2, [0]), (3, [1])]
    batches = list(corpus.batches(np.array([0, 2, 5]), 1))
    assert np.concatenate(batches).tolist() == [0, 2, 5] and all(len(batch) for batch in batches)
    empty = Corpus([])
    assert (
        len(empty) == len(empty.tokens) == len(empty.out) == len(empty.sources) == 0
        and empty.ids(np.arange(0)) == []
    )
