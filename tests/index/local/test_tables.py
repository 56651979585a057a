"""The native parts an index adds to live tables: loading at once, hidden rows, bounded groups."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

from neardup import _core
from neardup.index.contents import pack_text, portions, unpack_text, unpacked
from neardup.index.tables import equal_pairs
from neardup.search.hamming.tables import Compact, design_arrays


def tables(bits: int = 64, radius: int = 3) -> _core.LiveTables:
    return _core.LiveTables(bits, radius, *design_arrays(Compact(radius, bits=bits).design))


def deferred() -> _core.LiveTables:
    return _core.LiveTables(64, 3, *design_arrays(Compact(3).design), True)


def near(words, wanted, query, radius):
    distance = [(int(word) ^ int(query)).bit_count() for word in words]
    return [(row, far) for row, far in enumerate(distance) if wanted[row] and far <= radius]


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.sampled_from([0, 1, 5, 300, 20_000]),
    more=st.sampled_from([0, 40]),
)
@settings(max_examples=budget(25))
def test_loaded_hidden_and_removed(seed, count, more):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, (count + more, 1), dtype=np.uint64)
    close = rng.random(count + more) < 0.3
    words[close] = np.uint64(12345) ^ (
        np.uint64(1) << rng.integers(0, 6, (int(close.sum()), 1), dtype=np.uint64)
    )
    empty = rng.random(count) < 0.1
    found = tables()
    assert found.load(words[:count], empty, 2) == count
    found.add(words[count:])
    alive = np.concatenate([~empty, np.ones(more, bool)])
    hidden = rng.random(count + more) < 0.4
    found.hide(np.flatnonzero(hidden), True)
    shown = np.flatnonzero(hidden & (rng.random(count + more) < 0.2))
    found.hide(shown, False)
    hidden[shown] = False
    gone = np.flatnonzero(rng.random(count + more) < 0.2)
    found.remove(gone)
    found.hide(gone, False)  # removed rows remain removed
    alive[gone] = False
    if rng.random() < 0.5:
        found.compact()
    queries = np.array([[12345], [12345 ^ 8], [7]], np.uint64)
    for visible, wanted in ((True, alive), (False, alive & ~hidden)):
        query, row, distance = found.search(queries, _core.Mode.all, 1, visible)
        got = list(zip(query.tolist(), row.tolist(), distance.tolist(), strict=True))
        flat = words[:, 0]
        assert got == [(q, *hit) for q in range(3) for hit in near(flat, wanted, queries[q, 0], 3)]
        first = found.search(queries, _core.Mode.first, 1, visible)
        assert set(first[0].tolist()) == set(query.tolist()) and set(first[1].tolist()) <= set(row.tolist())


def test_few_of_many_similar():
    found = tables()
    found.load(np.full((5000, 1), 9, np.uint64))
    query, row, _ = found.search(np.array([[9], [9]], np.uint64), _core.Mode.all, 1, True, 3)
    assert query.tolist() == [0, 0, 0, 1, 1, 1] and row.tolist() == [0, 1, 2] * 2
    found.remove(np.array([1]))
    assert found.search(np.array([[9]], np.uint64), _core.Mode.all, 1, True, 3)[1].tolist() == [0, 2, 3]


def test_what_the_tables_refuse():
    found = tables()
    found.add(np.zeros((1, 1), np.uint64))
    with pytest.raises(ValueError, match="empty index"):
        found.load(np.zeros((1, 1), np.uint64))
    with pytest.raises(ValueError, match="no such row"):
        found.hide(np.array([1]))
    with pytest.raises(ValueError, match="at least one row"):
        found.search(np.zeros((1, 1), np.uint64), _core.Mode.all, 1, True, 0)
    with pytest.raises(ValueError, match="one flag"):
        tables().load(np.zeros((2, 1), np.uint64), np.zeros(1, bool))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=20))
def test_pairs_that_agree_in_a_column(lines):
    keys = np.array(lines, np.uint64).reshape(-1, 2)
    left, right = equal_pairs(keys)
    expected = [
        (i, j)
        for i in range(len(lines))
        for j in range(i + 1, len(lines))
        if any(a == b for a, b in zip(lines[i], lines[j], strict=True))
    ]
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


@given(st.text(max_size=400))
def test_texts_come_back(text):
    assert unpack_text(pack_text(text)) == text
    assert unpack_text(pack_text(text * 50)) == text * 50


@pytest.mark.parametrize("merges", [False, True])
def test_deferred_tables_find_the_same_whether_merged_or_not(merges):
    rng = np.random.default_rng(5)
    words = rng.integers(0, 2**64, (70_000, 1), dtype=np.uint64)
    words[::50] = words[0] ^ (np.uint64(1) << rng.integers(0, 64, (1400, 1), dtype=np.uint64))
    one, plain, gone = deferred(), tables(), rng.permutation(70_000)[:5000].astype(np.int64)
    for start in range(0, len(words), 7000):
        one.add(words[start : start + 7000])
        plain.add(words[start : start + 7000])
        dead = np.sort(gone[gone // 7000 == start // 7000])
        one.remove(dead)
        plain.remove(dead)
        while merges and one.merge():
            assert one.due() == 0
    assert (one.due() == 0) == merges
    assert len(one.state()[3]) == int(merges)
    queries = np.concatenate([words[:2000], words[:2000] ^ np.uint64(1 << 40), words[-2000:] ^ np.uint64(7)])
    assert [c.tolist() for c in one.search(queries)] == [c.tolist() for c in plain.search(queries)]
    assert len(one.search(queries)[0]) > 10_000
    one.compact()
    assert one.due() == 0 and len(one.state()[3]) == 1
    assert [c.tolist() for c in one.search(queries)] == [c.tolist() for c in plain.search(queries)]


def test_deferred_tables_are_merged_while_others_add_remove_and_search():
    rng = np.random.default_rng(6)
    words = rng.integers(0, 2**64, (120_000, 1), dtype=np.uint64)
    found, stop = deferred(), threading.Event()
    merged = []

    def merge():
        while not stop.is_set():
            merged.append(found.merge())
            time.sleep(0.0005)

    thread = threading.Thread(target=merge)
    thread.start()
    removed = np.zeros(len(words), bool)
    try:
        for start in range(0, len(words), 1000):
            found.add(words[start : start + 1000])
            dead = rng.integers(0, start + 1000, 20)
            found.remove(np.unique(dead))
            removed[dead] = True
            asked = rng.integers(0, start + 1000, 50)
            _, row, distance = found.search(words[asked])
            assert row.tolist() == asked[~removed[asked]].tolist() and not distance.any()
    finally:
        stop.set()
        thread.join()
    assert any(merged)
    found.compact()
    assert sum(found.state()[3]) == int((~removed).sum())


def test_contents_are_compared_few_at_a_time_where_they_are_large():
    rows = np.arange(100)
    assert [part.tolist() for part in portions(rows, lambda rows: rows)] == [rows.tolist()]
    parts = portions(rows, lambda rows: np.where(rows < 50, 9 << 20, 10))
    assert np.concatenate(parts).tolist() == rows.tolist()
    assert max(int((part < 50).sum()) for part in parts) <= 2  # never more than two of 9 MB together
    large = pack_text("a" * (7 << 20))  # a few KB as it is stored
    held = {row: (b"f", large if row < 9 else pack_text("short")) for row in range(20)}
    groups = [(found.tolist(), some) for found, some in unpacked(held, True)]
    assert [row for found, _ in groups for row in found] == list(range(20))
    assert [len(found) for found, _ in groups[:3]] == [3, 3, 3]
    assert all(len(some) == len(found) for found, some in groups) and groups[0][1][0][1] == "a" * (7 << 20)
    assert list(unpacked({}, True)) == list(unpacked({}, False)) == []
