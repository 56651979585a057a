"""Calibration against brute force over all pairs, and what labels do to it."""

import json
import math
from itertools import combinations

import numpy as np
import pytest

import neardup as nd
from neardup import sample
from neardup.compare import similarity
from neardup.compare.diff import difference, differences
from neardup.evaluate import measure_documents
from neardup.evaluate.labels import Belief, append_label, read_labels
from neardup.evaluate.settings import Setting, shares_band


@pytest.fixture(scope="module")
def pages():
    return list(nd.read(sample.path()).documents())


@pytest.fixture(scope="module")
def measured(pages):
    return measure_documents(pages)


def outcome(found, **setting):
    def same(row):
        return all(getattr(row.setting, name) == value for name, value in setting.items())

    (row,) = [row for row in found.outcomes if same(row)]
    return row


def test_a_small_corpus_is_compared_whole(pages, measured):
    """Every number, by brute force over all pairs of documents of different words."""
    found = measured.calibrated()
    assert found.census and found.documents == len(pages) and not found.empty
    texts, seen = [], set()
    for page in pages:
        words = tuple(nd.features.tokens([page.text])[0])
        if words not in seen:
            texts.append(page.text)
            seen.add(words)
    assert found.exact == len(pages) - len(texts)
    left, right = np.triu_indices(len(texts), 1)
    exact = similarity.jaccard(nd.Shingles().extract(texts), left, right)
    weights = nd.Words(weights=nd.Idf.fit(texts))
    cosine = similarity.cosine(weights.extract(texts), left, right)
    true = exact >= 0.8
    assert found.duplicates == true.sum() and found.queries == len(texts)
    for bits in (64, 128):
        near = similarity.hamming(nd.fingerprint(texts, weights, nd.Simhash(bits)), left, right)
        for radius in (0, 2, 4, 12):
            hit = near <= radius
            row = outcome(found, bits=bits, radius=radius, verified=False)
            assert row.precision.value == pytest.approx((hit & true).sum() / hit.sum())
            assert row.recall.value == pytest.approx((hit & true).sum() / true.sum())
            assert row.pairs == hit.sum() and row.precision.low == row.precision.high
            row = outcome(found, bits=bits, radius=radius, verified=True)
            assert (
                row.recall.value == pytest.approx((hit & true).sum() / true.sum())
                and row.precision.value == 1
            )
            (radius_row,) = [r for r in found.radii if (r.bits, r.radius) == (bits, radius)]
            duplicate = cosine >= 0.9
            assert radius_row.precision.value == pytest.approx((hit & duplicate).sum() / hit.sum())
            assert radius_row.recall.value == pytest.approx((hit & duplicate).sum() / duplicate.sum())
            assert radius_row.mean_cosine == pytest.approx(cosine[near == radius].mean())
            if radius_row.flips is not None:
                assert radius_row.total_recall == pytest.approx(
                    radius_row.recall.value * radius_row.relative_recall
                )
    assert any(row.flips is not None for row in found.radii)


def test_what_would_be_removed_is_what_dedup_removes(pages, measured):
    found = measured.calibrated()
    for threshold in (0.6, 0.8, 0.9):
        row = outcome(found, method="minhash", threshold=threshold, verified=True)
        result = nd.dedup(pages, threshold=threshold, protect=())
        assert row.removed.value == len(pages) - len(result.kept)
        assert row.pairs == len(result.pairs)


def test_without_labels_nothing_is_recommended(measured):
    found = measured.calibrated()
    assert found.recommended is None
    assert "Nothing is recommended without labels" in found.reason and "--label" in found.reason


def test_without_duplicates_there_is_nothing_to_calibrate_on():
    texts = [" ".join(f"w{i * 100 + j}" for j in range(60)) for i in range(30)]
    for labels in ((), [("0", "1", 0.0), ("2", "3", 0.0)]):
        found = nd.evaluate.calibrate(texts, labels=labels)
        assert found.recommended is None or labels
        assert "nan" not in found.reason
    assert "no duplicates to calibrate on" in nd.evaluate.calibrate(texts).reason


@pytest.mark.slow
def test_drawn_pairs_estimate_what_all_pairs_say(manuals):
    """Over many draws the estimates scatter around brute force, and intervals hold it."""
    texts = manuals[:330]
    whole = nd.evaluate.calibrate(texts, pairs=10_000_000, queries=len(texts))
    assert whole.census
    kinds = [
        {"bits": 64, "radius": 3, "verified": False},
        {"bits": 64, "radius": 10, "verified": False},
        {"method": "minhash", "threshold": 0.65, "verified": True},
    ]
    runs = [nd.evaluate.calibrate(texts, queries=160, pairs=4000, seed=seed) for seed in range(8)]
    assert not any(run.census for run in runs)
    held = tries = 0
    for kind in kinds:
        truth = outcome(whole, **kind)
        for name in ("precision", "recall", "removed"):
            value = getattr(truth, name).value
            rows = [getattr(outcome(run, **kind), name) for run in runs]
            error = np.std([row.value for row in rows], ddof=1) / math.sqrt(len(rows))
            # Removals are counted a little high where chains form, which the census does not.
            slack = 0.03 * value if name == "removed" else 0.01
            assert abs(np.mean([row.value for row in rows]) - value) <= 3.5 * error + slack, (kind, name)
            held += sum(row.low - 1e-9 <= value <= row.high + 1e-9 for row in rows if name != "removed")
            tries += len(rows) if name != "removed" else 0
        pairs = [outcome(run, **kind).pairs for run in runs]
        assert abs(np.mean(pairs) - truth.pairs) <= 3.5 * np.std(pairs, ddof=1) / math.sqrt(len(pairs)) + 0.01
    assert held / tries >= 0.85
    duplicates = [run.duplicates for run in runs]
    assert (
        abs(np.mean(duplicates) - whole.duplicates) <= 3.5 * np.std(duplicates, ddof=1) / math.sqrt(8) + 0.01
    )


def test_the_same_seed_gives_the_same_bytes(manuals):
    runs = [
        nd.evaluate.calibrate(manuals[:150], queries=60, pairs=2000, seed=4, threads=threads).to_json()
        for threads in (1, 2)
    ]
    assert json.dumps(runs[0], allow_nan=False) == json.dumps(runs[1])
    other = nd.evaluate.calibrate(manuals[:150], queries=60, pairs=2000, seed=5).to_json()
    assert json.dumps(other) != json.dumps(runs[0])


def test_cosine_may_define_a_duplicate(pages):
    found = nd.evaluate.calibrate(pages, similarity="cosine")
    assert found.threshold == 0.9 and found.duplicates > 0
    raw = outcome(found, bits=64, radius=3, verified=False)
    (radius,) = [row for row in found.radii if (row.bits, row.radius) == (64, 3)]
    assert raw.recall.value == radius.recall.value and raw.precision.value == radius.precision.value


def test_columns_are_the_outcomes(measured):
    found = measured.calibrated()
    columns = found.columns()
    assert {len(column) for column in columns.values()} == {len(found.outcomes)}
    assert columns["recall"].tolist() == [row.recall.value for row in found.outcomes]
    assert set(columns["method"]) == {"minhash", "simhash"}


def test_fewer_documents_than_there_are(pages):
    found = nd.evaluate.calibrate(iter(pages), limit=100)
    assert found.documents == 100 and "100 of 287" in found.notes[0]


def test_short_repeated_and_empty_documents():
    texts = [
        "one two",
        "One, two!",
        "",
        "  ",
        "three",
        "one two three four five six",
        "one two three four five seven",
    ]
    found = nd.evaluate.calibrate(texts, threshold=0.3)
    assert (found.documents, found.exact, found.empty, found.queries) == (7, 1, 2, 4)
    assert found.duplicates == 1 and any("too few neighbours" in note for note in found.notes)
    with pytest.raises(nd.DataError, match="two documents"):
        nd.evaluate.calibrate(["same", "same", ""])
    for wrong in (
        {"threshold": 0},
        {"similarity": "odd"},
        {"queries": 1},
        {"pairs": 3},
        {"limit": 1},
        {"threads": 0},
    ):
        with pytest.raises(nd.ConfigError):
            nd.evaluate.calibrate(texts + [f"word {i} " * 20 for i in range(60)], **wrong)


# Labels


def test_beliefs_follow_answers():
    prior = Belief.around(0.8)
    assert prior.middle_between()[0] == pytest.approx(0.76, abs=0.03)
    near = np.linspace(0.3, 0.95, 40)
    belief = Belief.around(0.8, near, near >= 0.6)
    middle, low, high = belief.middle_between()
    assert middle == pytest.approx(0.6, abs=0.03) and low < 0.6 < high < 0.7
    assert (
        belief.duplicate([0.0, 0.09]).tolist() == [0, 0]
        and belief.duplicate([0.3])[0] < 1e-6
        and belief.duplicate([0.95])[0] > 0.99
    )
    assert (np.diff(belief.duplicate(np.linspace(0, 1, 101))) >= -1e-12).all()
    assert belief.doubt([0.6])[0] > belief.doubt([0.9])[0] and belief.doubt([0.05])[0] == 0
    # After a single answer, too, the countless unrelated pairs are none.
    assert Belief.around(0.8, [0.75], [1]).duplicate([0.09])[0] == 0
    assert Belief.around(0.9, [0.85], [1], scale=0.35).duplicate([0.6])[0] == 0
    # One slip of the finger among forty answers moves little.
    slip = Belief.around(0.8, [*near, 0.9], [*(near >= 0.6), 0])
    assert abs(slip.middle_between()[0] - middle) < 0.05


def test_labels_move_the_recommendation(pages, measured):
    """A person for whom duplicates begin at 0.55 answers what is asked; the threshold follows."""
    labels = []
    for _ in range(25):
        (pair,) = measured.ask(measured.known(labels)[0])
        assert {pair.left, pair.right} not in [{a, b} for a, b, _ in labels]
        labels.append((pair.left, pair.right, float(pair.similarity >= 0.55)))
    found = measured.calibrated([*labels, ("page-001", "no such page", 1.0)])
    assert found.labels == 25 and any("1 labels belong to pairs" in note for note in found.notes)
    assert found.begins[0] == pytest.approx(0.55, abs=0.04)
    assert found.recommended.setting.threshold == pytest.approx(0.55, abs=0.051)
    assert found.recommended.setting.verified and "25 labels say" in found.reason
    # Against that person's own truth on all pairs, the expectation is right.
    row = found.recommended
    all_labels = [
        (pages[a].id, pages[b].id, float(near >= 0.55))
        for (a, b), near in zip(combinations(range(len(pages)), 2), _all_similarities(pages), strict=True)
        if near > 0
    ]
    result = nd.dedup(pages, threshold=row.setting.threshold, floor=row.setting.threshold)
    ids = [(result.ids[a], result.ids[b]) for a, b in zip(result.pairs.left, result.pairs.right, strict=True)]
    scored = nd.evaluate.score(ids, all_labels)
    assert scored.precision.value == pytest.approx(row.precision.value, abs=0.12)
    assert row.precision.low - 0.02 <= scored.precision.value <= row.precision.high + 0.02
    simhash = [o for o in found.outcomes if o.setting.method == "simhash" and o.setting.verified]
    assert {o.setting.threshold for o in simhash} == {row.setting.threshold}


def _all_similarities(pages):
    left, right = np.triu_indices(len(pages), 1)
    return similarity.jaccard(nd.Shingles().extract([page.text for page in pages]), left, right)


def test_labels_are_kept_as_they_come(tmp_path):
    path = tmp_path / "labels.jsonl"
    assert read_labels(path, missing_ok=True) == []
    append_label(path, "a", "b", 1, 0.8)
    append_label(path, "ü", "c", None, 0.7)
    append_label(path, "c", "d", 0, 1 / 3)
    labels = read_labels(path)
    assert [label[:2] for label in labels] == [("a", "b"), ("ü", "c"), ("c", "d")]
    assert labels[0][2] == 1 and math.isnan(labels[1][2]) and labels[2][2] == 0
    with pytest.raises(nd.DataError):
        read_labels(tmp_path / "none.jsonl")
    (tmp_path / "bad.csv").write_text("id,cluster\na,b\n")
    with pytest.raises(nd.DataError, match="with a label"):
        read_labels(tmp_path / "bad.csv")


def test_unknown_answers_are_not_asked_again(measured):
    (first,) = measured.ask([])
    known = measured.known([(first.left, first.right, math.nan)])[0]
    (second,) = measured.ask(known)
    assert {first.left, first.right} != {second.left, second.right}
    assert measured.belief(known) is None and measured.calibrated([known[0][0]]).labels == 0


def test_borderline_pairs_are_near_the_threshold_and_apart(measured):
    pairs = measured.calibrated(borderline=8).borderline
    assert len(pairs) == 8 and len({id for pair in pairs for id in (pair.left, pair.right)}) == 16
    near = [pair.similarity for pair in pairs]
    assert near == sorted(near, reverse=True) and near[-1] > 0.5 and near[0] < 0.95
    assert min(abs(a - b) for a, b in combinations(near, 2)) >= 0.02
    assert all(pair.left_snippet != pair.right_snippet for pair in pairs)


# The small parts


def test_settings_find_what_they_say(pages):
    texts = [page.text for page in pages[:80]]
    lsh = nd.LSH(20, 6)
    sketches = nd.fingerprint(texts, nd.Shingles(), nd.MinHash(128))
    left, right = np.triu_indices(len(texts), 1)
    ours = shares_band(sketches.values, left, right, lsh)
    candidates = lsh.candidates(sketches)
    assert set(zip(left[ours].tolist(), right[ours].tolist(), strict=True)) == set(
        zip(candidates.left.tolist(), candidates.right.tolist(), strict=True)
    )
    assert str(Setting("minhash", True, 0.8, 20, 6)) == "MinHash, 20 bands of 6 rows, verified at 0.8"
    assert (
        str(Setting("simhash", False, 0.8, bits=64, radius=3)) == "simhash of 64 bits, radius 3, unverified"
    )


def test_snippets():
    left, right = "a b c d e f g h i", b"a b c d e X g h i"
    assert difference(left, right) == ("... b c d e f g h i", "... b c d e X g h i")
    assert differences(left, right) == [("... b c d e f g h i", "... b c d e X g h i")]
    assert difference("same words", "same words") == ("same words", "same words")
    assert differences("same words", "same words") == []
    assert difference("a b", "a b c") == ("a b", "a b c") and difference("", "x") == ("", "x")
    long = " ".join(map(str, range(100)))
    assert difference(long, "x " + long)[0].endswith(" ...")
    assert len(differences(long, " ".join(map(str, range(0, 200, 2))), most=3)) <= 3
