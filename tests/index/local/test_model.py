"""Random histories of an index against a plain list: batches, updates, removals, reopening, lost caches."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from reference.index import IndexModel
from support.budgets import budget

import neardup as nd
from neardup.index.local import session as session_module

IDS = [f"page-{i}" for i in range(14)]
TEXT = "the old mill by river turns slowly while rain falls on quiet roofs and nobody comes to look at it now"
WORDS = TEXT.split()


class Machine(RuleBasedStateMachine):
    """What the kinds of index share; `make`, `document` and `match` differ."""

    arguments: ClassVar[dict[str, Any]] = {}

    @initialize(seed=st.integers(0, 2**32 - 1), save=st.sampled_from([1, 7, 1 << 18]))
    def start(self, seed: int, save: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.folder = Path(tempfile.mkdtemp())
        self.before = session_module.ROWS_BEFORE_SAVE, session_module.FEW_ROWS
        session_module.ROWS_BEFORE_SAVE, session_module.FEW_ROWS = save, 1
        self.index = nd.Index(self.folder / "i", **self.arguments)
        self.model = IndexModel(self.match)
        self.known: dict[bytes | str, Any] = {}

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
            session_module.ROWS_BEFORE_SAVE, session_module.FEW_ROWS = self.before
            shutil.rmtree(self.folder)

    def put(self, batch: list[tuple[str, Any]]) -> nd.index.Answers:
        return self.index.seen([nd.Document(id, content or "") for id, content in batch])

    def look(self, content: Any) -> list[nd.index.Hit]:
        return self.index.search(content)

    @rule(count=st.sampled_from([1, 2, 5, 12]))
    def seen(self, count: int) -> None:
        batch = [(IDS[self.rng.integers(len(IDS))], self.document()) for _ in range(count)]
        expected = self.model.seen(batch)
        answers = self.put(batch)
        got = [(a.new, a.duplicate_of, a.distance, a.similarity) for a in answers]
        assert got == expected
        assert [a.id for a in answers] == [id for id, _ in batch]

    @rule(count=st.integers(1, 4))
    def remove(self, count: int) -> None:
        ids = [IDS[i] for i in self.rng.integers(0, len(IDS), count)]
        assert self.index.remove(ids) == self.model.remove(ids)

    @rule()
    def remove_a_keeper(self) -> None:
        keepers = sorted(set(self.model.keepers().values()))
        if keepers:
            assert self.index.remove(keepers[0]) == self.model.remove([keepers[0]]) == 1

    @rule()
    def compact(self) -> None:
        self.index.compact()

    @rule(lose=st.booleans())
    def reopen(self, lose: bool) -> None:
        self.index.close()
        if lose:
            shutil.rmtree(self.folder / "i" / "cache", ignore_errors=True)
        self.index = nd.Index(self.folder / "i")

    @rule()
    def search(self) -> None:
        content = self.document()
        if content is not None:
            assert [(h.id, h.distance, h.similarity) for h in self.look(content)] == self.model.search(
                content
            )

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "index"):
            return
        stored = {entry.id: entry.keeper for entry in self.index.documents()}
        assert stored == self.model.keepers()
        assert len(self.index) == len(stored)
        assert self.index.stats().keepers == len(set(stored.values()))
        assert self.index.verify().problems == ()
        for id in IDS:
            found = self.index.cluster(id)
            members = {other for other, keeper in stored.items() if keeper == stored.get(id)}
            assert (set() if found is None else {hit.id for hit in found.members}) == members


def codes(words: list[int | None]) -> nd.fingerprints.Codes:
    column = np.array([[0 if word is None else word] for word in words], np.uint64).reshape(-1, 1)
    return nd.fingerprints.Codes("bare64", np.array([word is None for word in words], bool), 64, column)


class CodesMachine(Machine):
    """Ready codes, not verified."""

    arguments: ClassVar[dict[str, Any]] = {
        "config": nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3)),
        "scheme": "bare64",
    }

    def document(self) -> int | None:
        if self.rng.random() < 0.05:
            return None
        centre = [0x0123456789ABCDEF, 0x0123456789ABCDE0 ^ 0b111, 2**64 - 1][self.rng.integers(3)]
        for bit in self.rng.integers(0, 12, self.rng.integers(0, 5)):
            centre ^= 1 << int(bit)
        return centre

    @staticmethod
    def match(left: int, right: int) -> tuple[float, int, None] | None:
        distance = (left ^ right).bit_count()
        return (distance, distance, None) if distance <= 3 else None

    def put(self, batch):
        return self.index.seen_prints([id for id, _ in batch], codes([content for _, content in batch]))

    def look(self, content):
        return self.index.search_prints(codes([content]))[0]


class TextMachine(Machine):
    """Texts, verified by Jaccard similarity; the radius is wide enough to find every pair."""

    arguments: ClassVar[dict[str, Any]] = {
        "config": nd.Config(
            features=nd.Shingles(2),
            fingerprint=nd.BitMinHash(),
            search=nd.search.Scan(40),
            verify=nd.Jaccard(0.6),
        ),
        "seed": 7,
    }

    def document(self) -> str | None:
        if self.rng.random() < 0.05:
            return None
        words = list(WORDS)
        for _ in range(self.rng.integers(0, 5)):
            words[self.rng.integers(len(words))] = WORDS[self.rng.integers(len(WORDS))]
        return " ".join(words)

    def match(self, left: str, right: str) -> tuple[float, int, float] | None:
        one, two = (self._features(text) for text in (left, right))
        share = len(one[0] & two[0]) / len(one[0] | two[0])
        distance = (one[1] ^ two[1]).bit_count()
        return (-share, distance, share) if share >= 0.6 and distance <= 40 else None

    def _features(self, text: str) -> tuple[frozenset[int], int]:
        if text not in self.known:
            config = self.index.config
            hashes = frozenset(config.features.extract([text]).hashes.tolist())
            self.known[text] = hashes, int(self.index.fingerprint([text]).codes[0, 0])
        return self.known[text]


class FeaturesMachine(TextMachine):
    arguments: ClassVar[dict[str, Any]] = {**TextMachine.arguments, "store": "features"}


class ExactMachine(TextMachine):
    """Equal words."""

    arguments: ClassVar[dict[str, Any]] = {"config": nd.Config(near=False), "store": "none"}

    def document(self) -> str | None:
        return None if self.rng.random() < 0.05 else " ".join(WORDS[: self.rng.integers(1, 6)])

    def match(self, left: str, right: str) -> tuple[float, int, float] | None:
        return (-1.0, 0, 1.0) if left == right else None


class SketchMachine(TextMachine):
    """MinHash bands; the share of equal values is the estimate of the similarity."""

    arguments: ClassVar[dict[str, Any]] = {
        "config": nd.Config(
            features=nd.Shingles(2),
            fingerprint=nd.MinHash(32),
            search=nd.LSH(bands=16, rows=2),
            verify=nd.Jaccard(0.6),
        ),
        "store": "none",
    }

    def match(self, left: str, right: str) -> tuple[float, None, float] | None:
        one, two = (self.index.fingerprint([text]).values[0] for text in (left, right))
        banded = (one.reshape(16, 2) == two.reshape(16, 2)).all(axis=1).any()
        share = float((one == two).mean())
        return (-share, None, share) if banded and share >= 0.6 else None


# Shrinking a history opens the index thousands of times; a failure is reported as it was found.
QUICK = settings(
    max_examples=budget(8),
    stateful_step_count=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    deadline=None,
)


@pytest.mark.parametrize(
    "machine",
    [CodesMachine, TextMachine, FeaturesMachine, ExactMachine, SketchMachine],
    ids=lambda m: m.__name__,
)
def test_any_history(machine: type[Machine]) -> None:
    run_state_machine_as_test(machine, settings=QUICK)
