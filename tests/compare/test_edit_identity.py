"""Edit similarity and identity as verdicts: equal to their naive twins, through every way in."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.stages import edit_similarity, identity
from support.command import run

import neardup as nd
from neardup import _core
from neardup.compare import Edit, Identity
from neardup.errors import DataError

thresholds = st.sampled_from([0.05, 0.3, 0.5, 0.6, 0.75, 0.8, 0.9, 1.0])
words = st.lists(st.sampled_from(["red", "green", "blue", "white"]), max_size=40)


@dataclass
class Both:
    left: np.ndarray
    right: np.ndarray


PAIR = Both(np.array([0]), np.array([1]))


def found(verify, texts, threads=1):
    features = verify.measured_on(nd.Words()).extract(texts)
    pairs = verify.check(PAIR, features, threads)
    return pairs.similarity[0] if len(pairs) else None


def enough(value, threshold):
    return value if value >= threshold and value > 0 else None


@given(words, words, thresholds)
def test_edit_of_words_equals_its_twin(left, right, threshold):
    want = enough(edit_similarity(left, right), threshold)
    assert found(Edit(threshold), [" ".join(left), " ".join(right)]) == want


@st.composite
def edited(draw):
    """A text, and the same with insertions and deletions, perhaps with its parts exchanged: longer than a stripe."""
    random = draw(st.randoms(use_true_random=False))
    letters = "abcdefghijklmnop"[: draw(st.sampled_from([1, 2, 4, 16]))]
    left = [random.choice(letters) for _ in range(random.choice([1, 60, 300, 400]))]
    right = list(left)
    for _ in range(random.randrange(1 + len(left) // random.choice([2, 5, 50]))):
        place = random.randrange(len(right) + 1)
        if right and random.random() < 0.5:
            del right[min(place, len(right) - 1)]
        else:
            right.insert(place, random.choice(letters))
    if random.random() < 0.3:
        cut = len(right) // 3
        right = right[cut:] + right[:cut]
    return "".join(left), "".join(right)


@settings(max_examples=60)
@given(edited(), thresholds)
def test_edit_of_characters_equals_its_twin(pair, threshold):
    left, right = pair
    assert found(Edit(threshold, unit="characters"), [left, right]) == enough(
        edit_similarity(left, right), threshold
    )


@settings(max_examples=30)
@given(st.lists(words, min_size=2, max_size=5), thresholds, st.randoms(use_true_random=False))
def test_pairs_in_any_order_equal_their_twins(rows, threshold, random):
    """A left row is numbered once for the pairs that follow each other with it."""
    asked = [(a, b) for a in range(len(rows)) for b in range(len(rows)) if a != b]
    random.shuffle(asked)
    verify = Edit(threshold)
    features = verify.measured_on(nd.Words()).extract([" ".join(row) for row in rows])
    left, right = np.array(asked).T
    pairs = verify.check(Both(left, right), features)
    got = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.similarity, strict=True)
    values = {(a, b): edit_similarity(rows[a], rows[b]) for a, b in asked if a < b}
    want = {pair: value for pair, value in values.items() if enough(value, threshold) is not None}
    assert {(a, b): value for a, b, value in got} == want


def test_white_space_and_case_do_not_count():
    assert found(Edit(1.0, unit="characters"), ["The  Ferry\nleaves", "the ferry leaves!"]) == 1.0
    assert found(Edit(0.1, unit="characters"), ["", "the ferry"]) is None


@given(words, words, thresholds, st.sampled_from(["relative", "absolute"]))
def test_identity_equals_its_twin(left, right, threshold, differences):
    want = enough(identity(left, right, differences), threshold)
    got = found(Identity(threshold, differences=differences), [" ".join(left), " ".join(right)])
    assert (got is None) == (want is None)
    assert got is None or got == pytest.approx(want, rel=1e-12)


def test_identity_of_equal_counts_is_one_and_a_word_more_costs_a_little():
    assert found(Identity(), ["to be or not to be", "be to not or be to"]) == 1.0
    page = " ".join(f"word{i}" for i in range(100))
    assert found(Identity(), [page, page + " more"]) == pytest.approx(100 / 101 / (1 + 1 / 101))
    assert (
        found(Identity(0.6, differences="absolute"), [page, page + " more"]) is None
    )  # 1 / (1 + ln 2) = .59


def test_edit_refuses_features_without_order():
    with pytest.raises(DataError, match="measured_on"):
        Edit().check(PAIR, nd.Shingles(2).extract(["one two three", "one two four"]))


def test_the_answer_is_the_same_for_any_number_of_threads():
    random = np.random.default_rng(3)
    texts = [" ".join(random.choice(["a", "b", "c", "dd"], 200)) for _ in range(30)]
    left, right = np.triu_indices(30, 1)
    for verify in (Edit(0.3), Identity(0.3)):
        features = verify.measured_on(nd.Words()).extract(texts)
        one, three = (verify.check(Both(left, right), features, threads).similarity for threads in (1, 3))
        assert len(one) and np.array_equal(one, three)


def test_native_arguments_are_checked():
    hashes, offsets = np.zeros(2, np.uint64), np.array([0, 1, 2])
    zero, one = np.array([0]), np.array([1])
    for least in (0.0, 1.1, float("nan")):
        with pytest.raises(ValueError, match="least"):
            _core.edit_at_least(hashes, offsets, zero, one, least)
    with pytest.raises(ValueError, match="row"):
        _core.edit_at_least(hashes, offsets, zero, np.array([2]), 0.5)
    with pytest.raises(ValueError):
        _core.identity_at_least(
            hashes, np.ones(1, np.float32), offsets, zero, one, 0.5, _core.Differences.relative
        )


STORY = "the ferry to the island leaves the harbour at nine and comes back at noon on every day of the summer"


@pytest.fixture
def corpus(tmp_path):
    rows = [
        STORY,
        STORY.replace("nine", "eight"),
        STORY.replace("summer", "long summer"),
        "a text of other words",
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(rows)))
    return path, rows


@pytest.mark.parametrize(
    "verify",
    [Edit(0.8, 0.5), Edit(0.8, 0.5, unit="characters"), Identity(0.8, 0.5)],
    ids=["edit", "characters", "identity"],
)
class TestEveryWayIn:
    def config(self, verify):
        return nd.Config(features=nd.Shingles(2), verify=verify, protect=())

    def expected(self, verify, rows):
        return verify.of_texts(nd.Shingles(2), rows[0], rows[1])

    def test_dedup(self, verify, corpus):
        _, rows = corpus
        result = nd.dedup(rows, self.config(verify))
        assert result.kept.tolist() == [2, 3]  # the longest, and the other
        values = dict(
            zip(zip(result.pairs.left, result.pairs.right, strict=True), result.pairs.similarity, strict=True)
        )
        assert values[0, 1] == self.expected(verify, rows)

    def test_config_file(self, verify, tmp_path):
        path = tmp_path / "config.toml"
        path.write_text(self.config(verify).to_toml())
        assert nd.Config.load(path) == self.config(verify)

    def test_scan_and_explain(self, verify, corpus, tmp_path):
        path, rows = corpus
        findings = nd.scan(path, tmp_path / "found", self.config(verify))
        pair = nd.findings.explain_pair(findings, "0", "1")
        assert (pair.measure, pair.similarity) == (verify.name, self.expected(verify, rows))
        assert len(findings.pairs) == 3

    def test_templates_are_learnt_from_shingles(self, verify, corpus, tmp_path):
        lines = [
            f"menu home about\nthe page of number {i} tells what happened in year {i}" for i in range(150)
        ]
        config = nd.Config(features=nd.Shingles(2), verify=verify, templates=nd.Templates(0.1), protect=())
        result = nd.dedup([*lines, lines[7] + " again"], config)
        assert 150 in result.kept and 7 not in result.kept

    @pytest.mark.parametrize("store", ["text", "features"])
    def test_index(self, verify, corpus, tmp_path, store):
        _, rows = corpus
        with nd.Index(tmp_path / "live", self.config(verify), store=store) as index:
            index.add(nd.Document("a", rows[0]))
            (hit,) = index.search(rows[1])
            assert hit.similarity == pytest.approx(self.expected(verify, rows))
            assert not index.search(rows[3])


@pytest.mark.process
def test_commands(corpus, tmp_path):
    path, rows = corpus
    for measure in ("edit", "identity"):
        out = str(tmp_path / measure)
        options = ["--measure", measure, "--width", "2", "--protect", "none"]
        assert run("scan", str(path), "--out", out, *options).returncode == 0
        said = run("explain", "-f", out, "0", "1", "--json")
        assert json.loads(said.stdout)["measure"] == measure.title()
    for name, text in zip("ab", rows, strict=False):
        (tmp_path / name).write_text(text)
    said = run("explain", *(str(tmp_path / name) for name in "ab"), "--measure", "edit", "--json")
    answer = json.loads(said.stdout)
    assert answer["duplicate"] and answer["jaccard"] < 0.8 < answer["similarity"]
