"""The live index against a plain list of codes."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numpy.typing import NDArray
from papers.bits import bit_count
from reference.engine import brute, clustered, neighbours, uniform
from support.budgets import budget

from neardup.errors import DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.live import LiveSearcher
from neardup.search.hamming.tables import BPHS, Compact, Covering, TableMethod


def codes_of(words: NDArray[np.uint64], bits: int = 64, empty: NDArray[np.bool_] | None = None) -> Codes:
    return Codes("test", np.zeros(len(words), bool) if empty is None else empty, bits, words)


class LiveMachine(RuleBasedStateMachine):
    """Random adds, removals and searches, checked against brute force over what should be there."""

    @initialize(
        method=st.sampled_from(
            [Compact(), Covering(), BPHS(radius=2), Compact(2, bits=32), Compact(4, bits=128)]
        ),
        seed=st.integers(0, 2**32 - 1),
    )
    def start(self, method: TableMethod, seed: int) -> None:
        self.method = method
        self.rng = np.random.default_rng(seed)
        self.live = LiveSearcher(method)
        self.words = np.empty((0, max(1, method.bits // 64)), np.uint64)
        self.alive = np.empty(0, bool)
        self.centres = uniform(self.rng, 3, method.bits)

    @rule(count=st.sampled_from([0, 1, 30, 300, 9000]), empty=st.booleans())
    def add(self, count: int, empty: bool) -> None:
        close = self.centres[self.rng.integers(0, 3, min(count, 40))]
        near = neighbours(self.rng, close, self.method.bits, 5)
        words = np.concatenate([near, uniform(self.rng, count - len(near), self.method.bits)])
        flags = self.rng.random(count) < (0.2 if empty else 0)
        rows = self.live.add(codes_of(words, self.method.bits, flags))
        assert rows == range(len(self.words), len(self.words) + count)
        self.words = np.concatenate([self.words, words])
        self.alive = np.concatenate([self.alive, ~flags])

    @rule(share=st.floats(0, 0.6))
    def remove(self, share: float) -> None:
        close = np.flatnonzero(self._near_centres())
        rows = close[self.rng.random(len(close)) < share]
        self.live.remove(np.concatenate([rows, rows[:2]]))
        self.alive[rows] = False

    @rule()
    def compact(self) -> None:
        self.live.compact()
        assert self.live.state().tail == 0

    @invariant()
    def finds_what_is_there(self) -> None:
        if not hasattr(self, "live"):
            return
        queries = neighbours(self.rng, np.repeat(self.centres, 3, axis=0), self.method.bits, 3)
        keep = np.flatnonzero(self.alive & self._near_centres())
        query, row, distance = brute(self.words[keep], queries, self.method.radius)
        hits = self.live.search(codes_of(queries, self.method.bits))
        np.testing.assert_array_equal(hits.query, query)
        np.testing.assert_array_equal(hits.row, keep[row])
        np.testing.assert_array_equal(hits.distance, distance)
        first = self.live.search(codes_of(queries, self.method.bits), mode="first", threads=2)
        assert first.query.tolist() == np.unique(query).tolist()
        some = set(zip(hits.query.tolist(), hits.row.tolist(), strict=True))
        assert set(zip(first.query.tolist(), first.row.tolist(), strict=True)) <= some

    def _near_centres(self) -> NDArray[np.bool_]:
        gaps = bit_count(self.words[:, None, :] ^ self.centres[None]).sum(axis=2)
        return np.asarray((gaps <= 12).any(axis=1))


LiveMachine.TestCase.settings = settings(max_examples=budget(20), stateful_step_count=12, deadline=None)
TestLiveMachine = LiveMachine.TestCase


def test_segments_form_and_merge_the_same_way_for_any_batches() -> None:
    rng = np.random.default_rng(1)
    words = np.concatenate([uniform(rng, 150_000, 64), clustered(rng, 5_000, 64, 4, 6)])
    queries = codes_of(neighbours(rng, words[::1500], 64, 4))
    live = {size: LiveSearcher() for size in (777, 40_000, len(words))}
    for size, index in live.items():
        for start in range(0, len(words), size):
            index.add(codes_of(words[start : start + size]))
    states = {(index.state().segments, index.state().tail) for index in live.values()}
    assert len(states) == 1
    segments, tail = states.pop()
    assert 1 <= len(segments) <= 6 and sum(segments) + tail == len(words)
    answers = [index.search(queries, mode="first").row.tolist() for index in live.values()]
    assert answers[0] == answers[1] == answers[2]
    query, row, distance = brute(words, queries.codes, 3)
    hits = live[777].search(queries, threads=2)
    for got, want in zip((hits.query, hits.row, hits.distance), (query, row, distance), strict=True):
        np.testing.assert_array_equal(got, want)
    index = live[777]
    index.remove(np.arange(0, len(words), 2))
    index.compact()
    state = index.state()
    assert state.segments == (len(words) // 2,) and state.removed == len(words) // 2
    np.testing.assert_array_equal(index.search(queries).row, row[row % 2 == 1])


def test_equal_codes_are_cheap_in_the_tail() -> None:
    live = LiveSearcher()
    same = np.zeros((15_000, 1), np.uint64)
    live.add(codes_of(same))
    assert live.search(codes_of(same[:1])).row.tolist() == list(range(15_000))
    live.remove(range(10))
    assert live.search(codes_of(same[:1]), mode="first").row.tolist() == [10]


def test_readers_see_one_state_while_a_writer_works() -> None:
    rng = np.random.default_rng(2)
    live = LiveSearcher()
    words = uniform(rng, 120_000, 64)
    pairs = np.repeat(words[:20_000], 2, axis=0)  # every code twice, in rows 2i and 2i + 1
    failures: list[str] = []
    done = threading.Event()

    def read() -> None:
        asked = codes_of(words[:20_000:40])
        while not done.is_set():
            hits = live.search(asked)
            rows = hits.row.tolist()
            if any(row // 2 != query * 40 for query, row in zip(hits.query.tolist(), rows, strict=True)):
                failures.append("a wrong row")
            seen = np.unique(hits.query)
            if seen.tolist() != list(range(len(seen))):
                failures.append("codes did not appear in order")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for start in range(0, len(pairs), 1000):
        live.add(codes_of(pairs[start : start + 1000]))
    live.add(codes_of(words[20_000:]))
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert len(live) == len(pairs) + 100_000


def test_mistakes() -> None:
    live = LiveSearcher()
    words = np.arange(5, dtype=np.uint64)[:, None]
    assert len(live.search(codes_of(words))) == 0
    live.add(codes_of(words))
    with pytest.raises(SchemeError):
        live.add(replace(codes_of(words), scheme="other"))
    with pytest.raises(SchemeError):
        live.search(replace(codes_of(words), scheme="other"))
    with pytest.raises(DataError, match="never added"):
        live.remove([5])
    with pytest.raises(DataError, match="never added"):
        live.remove([-1])
    with pytest.raises(DataError, match="whole"):
        live.remove([0.5])
    with pytest.raises(DataError):
        live.add(replace(codes_of(words), bits=128))
    assert live.remove([1, 1, 3]) == 2 and live.remove([1]) == 0
