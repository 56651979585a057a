"""Decisions against every keep policy: whatever was decided, no document is lost that somebody spoke for."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget
from support.corpora import WORDS, write_jsonl

import neardup as nd
from neardup.clusters.selection import Cut
from neardup.errors import DataError
from neardup.findings import DecisionLog, Decisions, Findings, decided_cut
from neardup.findings.decisions import Decision
from neardup.findings.scan import scan

POLICIES = [
    nd.Keep(by=by, many=many, among=among, source="site")
    for by in ("longest", "first", "last")
    for many in (1, 2)
    for among in ("all", "within", "across")
]
SHAPES = [(clusters, against) for clusters in ("keepers", "components") for against in (False, True)]


def chained(seed: int) -> list[dict]:
    """Families of documents, each a few words on from the one before; of some there are several, of three sources."""
    random_ = random.Random(seed)
    rows = []
    for family in range(4):
        words = random_.choices(WORDS, k=40)
        for step in range(4):
            for copy in range(random_.choice((1, 1, 2, 3))):
                rows.append((f"f{family}-{step}-{copy}", words))
            words = words.copy()
            for _ in range(random_.randint(1, 2)):
                words[random_.randrange(len(words))] = random_.choice(WORDS)
            words = [*words, *random_.choices(WORDS, k=random_.randint(0, 2))]
    rows.append(("short", ["ka"]))
    rows.append(("short too", ["ka"]))
    random_.shuffle(rows)
    return [{"id": id, "text": " ".join(words), "site": random_.choice("xyz")} for id, words in rows]


@pytest.fixture(scope="module", params=SHAPES, ids=lambda shape: f"{shape[0]}{'-against' * shape[1]}")
def found(request, tmp_path_factory) -> Findings:
    clusters, against = request.param
    folder = tmp_path_factory.mktemp("deciding")
    config = nd.Config(
        keep=nd.Keep(source="site"),
        verify=nd.Jaccard(0.7, floor=0.4),
        clusters=clusters,
        filters=nd.Filters(min_words=3),
    )
    rows = chained(3)
    other = [write_jsonl(folder / "other.jsonl", rows[:8])] if against else []
    mine = [row | {"id": f"my {row['id']}"} for row in rows[:4]] + rows[8:] if against else rows
    made = scan(write_jsonl(folder / "in.jsonl", mine), folder / "in.findings", config, against=other)
    assert (made.filtered != 0).any() and len(made.pairs) > 10 and (made.first != np.arange(len(made))).any()
    return made


@dataclass
class Said:
    """Decisions, and what they are about."""

    found: Findings
    decisions: Decisions
    cut: Cut
    threshold: float

    def same(self, a: int, b: int) -> bool:
        return bool(self.found.first[a] == self.found.first[b])

    def agreed(self, a: int, b: int) -> bool:
        """Whether these very two are duplicates by a person's word."""
        pair = (min(a, b), max(a, b))
        if self.found.filtered[list(pair)].any():
            return False
        return any(d.pair == pair and d.decision != "reject" for d in self.decisions)

    def tied(self, a: int, b: int) -> bool:
        """Whether two documents of other words are duplicates: by the last word on documents of these words, or else
        because they are similar enough."""
        words = {int(self.found.first[a]), int(self.found.first[b])}
        about = [
            d
            for d in self.decisions
            if {int(self.found.first[row]) for row in d.pair} == words
            and not self.found.filtered[list(d.pair)].any()
        ]
        if about:
            return about[-1].decision != "reject"
        pairs = self.found.pairs
        there = (
            (pairs.left == min(words)) & (pairs.right == max(words)) & (pairs.similarity >= self.threshold)
        )
        return bool(there.any())

    def explained(self, row: int, keeper: int) -> bool:
        """Whether the one that is kept explains why the other is dropped: tied, or by components through others."""
        if self.same(row, keeper) or self.tied(row, keeper):
            return True
        if self.found.config.clusters == "keepers":
            return False
        reached, todo = {row}, [row]
        while todo:
            one = todo.pop()
            for other in range(len(self.found)):
                if other not in reached and (self.same(one, other) or self.tied(one, other)):
                    reached.add(other)
                    todo.append(other)
        return keeper in reached


@st.composite
def saying(draw, found: Findings) -> Said:
    said, pairs = Decisions(), found.pairs
    rows = list(range(len(found)))
    repeated = found.first[found.first != np.arange(len(found))].tolist()
    for sequence in range(1, draw(st.integers(1, 10)) + 1):
        kind = draw(st.sampled_from(["accept", "reject", "reject", "keep", "clear"]))
        which = draw(st.sampled_from(["a pair", "the same words", "any"]))
        if which == "a pair":
            at = draw(st.integers(0, len(pairs) - 1))
            words = draw(st.permutations([pairs.left[at], pairs.right[at]]))
        elif which == "the same words":
            words = [draw(st.sampled_from(repeated))] * 2
        else:
            words = [found.first[draw(st.sampled_from(rows))] for _ in range(2)]
        left, right = (draw(st.sampled_from(np.flatnonzero(found.first == word).tolist())) for word in words)
        if left == right or (kind == "keep" and left >= found.reference > right):
            continue
        said.add(Decision(sequence, "", kind, "", "", left, right, None))
    threshold = draw(st.sampled_from([0.4, 0.55, 0.7, 0.9, 1.0]))
    keep = draw(st.sampled_from(POLICIES))
    return Said(found, said, decided_cut(found, threshold, keep, decisions=said), threshold)


@given(data=st.data())
@settings(max_examples=budget(60))
def test_documents_that_a_person_kept_are_not_dropped(found, data):
    said = data.draw(saying(found))
    kept, keepers = said.cut.kept, said.cut.clusters.keeper
    assert (kept[: found.reference] == (found.filtered[: found.reference] == 0)).all()
    assert not kept[found.filtered != 0].any()
    for d in said.decisions.of("reject"):
        right = int(d.right_row)
        assert kept[right] or found.filtered[right] or said.agreed(right, int(keepers[right]))
        for row, other in (d.pair, d.pair[::-1]):
            keeper = int(keepers[row])
            for_it = keeper == other or (said.same(keeper, other) and not said.same(row, other))
            assert kept[row] or found.filtered[row] or not for_it or said.agreed(row, keeper)
    for row in said.decisions.chosen:
        assert kept[row] or found.filtered[row] or said.agreed(row, int(keepers[row]))
    for row in np.flatnonzero(~kept & (found.filtered == 0)).tolist():
        assert kept[keepers[row]] and keepers[row] != row
        assert said.explained(row, int(keepers[row]))


def test_rejected_copies_are_both_kept_when_another_policy_turns_them_round(tmp_path):
    text = " ".join(WORDS[:30])
    rows = [{"id": "a", "text": text, "site": "x"}, {"id": "b", "text": text.upper(), "site": "x"}]
    found = scan(
        write_jsonl(tmp_path / "in.jsonl", rows), tmp_path / "f", nd.Config(keep=nd.Keep(source="site"))
    )
    said = Decisions()
    said.add(Decision(1, "", "reject", "a", "b", 0, 1, 1.0))
    for keep in POLICIES:
        assert decided_cut(found, keep=keep, decisions=said).kept.all(), keep


def test_nothing_is_dropped_for_what_a_filter_leaves_out(tmp_path):
    """Decisions outlive a scan with other settings: what was accepted may be filtered by the next one."""
    rows = [{"id": "short", "text": "ka lo mi"}, {"id": "long", "text": " ".join(WORDS[:30])}]
    config = nd.Config(filters=nd.Filters(min_words=5))
    found = scan(write_jsonl(tmp_path / "in.jsonl", rows), tmp_path / "f", config)
    assert found.filtered.tolist() == [1, 0]
    for kind in ("accept", "keep"):
        for keep in (nd.Keep(by="first"), nd.Keep()):
            said = Decisions()
            said.add(Decision(1, "", kind, "short", "long", 0, 1, 0.1))
            assert decided_cut(found, keep=keep, decisions=said).kept.tolist() == [False, True]
    log = DecisionLog(found)
    with pytest.raises(DataError, match="left out by a filter"):
        log.add("accept", 0, 1)
