"""Precision and recall against sets of pairs counted naively, and against the scorer that comes with the corpora."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import scores as naive

import neardup as nd
from neardup import sample
from neardup.evaluate import Intervals
from neardup.evaluate.metrics import cluster_scores, f1_measure, share
from neardup.values.intervals import wilson

IDS = [f"d{number}" for number in range(9)]
ALL = [naive.pair(a, b) for a, b in combinations(IDS, 2)]
some_pairs = st.sets(st.sampled_from(ALL))
clusterings = st.dictionaries(st.sampled_from(IDS), st.sampled_from("xyz"), min_size=1)


def table(path, head, rows):
    path.write_text("\n".join("\t".join(map(str, row)) for row in [head, *rows]) + "\n", encoding="utf-8")
    return path


def counts(scored):
    return {
        name: getattr(scored, name) for name in ("found", "right", "wrong", "apart", "missed", "unlabelled")
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@given(found=some_pairs, positive=some_pairs, negative=some_pairs, similar=some_pairs)
def test_labelled_pairs(folder, found, positive, negative, similar):
    negative = negative - positive
    if not positive:
        return
    gold = table(
        folder / "gold.tsv",
        ("id_a", "id_b", "label"),
        [(b, a, 1) for a, b in sorted(positive)] + [(a, b, 0) for a, b in sorted(negative)],
    )
    near = table(
        folder / "near.tsv", ("left", "right", "similarity"), [(a, b, 0.5) for a, b in sorted(similar)]
    )
    scored = nd.evaluate.score(sorted(found), gold, similarity=near, threshold=0.5)
    assert counts(scored) == naive.scores(found, positive, negative, similar)
    assert scored.right + scored.wrong + scored.apart + scored.unlabelled == scored.found
    for measure in (scored.precision, scored.recall, scored.f1):
        assert math.isnan(measure.value) or 0 <= measure.low <= measure.value <= measure.high <= 1


@given(found=some_pairs, true=clusterings, similar=some_pairs)
def test_labelled_clusters_judge_pairs(folder, found, true, similar):
    gold = table(folder / "gold.tsv", ("id", "cluster"), sorted(true.items()))
    near = table(
        folder / "near.tsv", ("left", "right", "similarity"), [(a, b, 0.7) for a, b in sorted(similar)]
    )
    positive = naive.pairs_of(true)
    negative = {naive.pair(a, b) for a, b in combinations(true, 2)} - positive
    scored = nd.evaluate.score(sorted(found), gold, similarity=near, threshold=0.7)
    assert counts(scored) == naive.scores(found, positive, negative, similar)
    assert scored.clusters is not None
    found_clusters = naive.components(found)
    precision, recall = naive.bcubed(found_clusters, true)
    assert scored.clusters.bcubed_precision.value == pytest.approx(precision)
    assert scored.clusters.bcubed_recall.value == pytest.approx(recall)
    spelled = {p for p in naive.pairs_of(found_clusters) if p[0] in true and p[1] in true}
    assert scored.clusters.right == len(spelled & positive)
    assert scored.clusters.wrong == len(spelled - positive)
    assert scored.clusters.missed == len(positive - spelled)


@given(found=clusterings, true=clusterings, positive=some_pairs, negative=some_pairs, similar=some_pairs)
def test_clusters_are_scored_as_the_pairs_they_hold(folder, found, true, positive, negative, similar):
    """No pair of a found cluster is listed, and every count is as if they all were."""
    theirs = table(folder / "found.csv", ("id,cluster",), [(f"{id},{c}",) for id, c in sorted(found.items())])
    near = table(
        folder / "near.tsv", ("left", "right", "similarity"), [(a, b, 0.6) for a, b in sorted(similar)]
    )
    spelled = sorted(naive.pairs_of(found))
    gold = table(folder / "clusters.tsv", ("id", "cluster"), sorted(true.items()))
    negative = negative - positive
    labels = table(
        folder / "labels.tsv",
        ("id_a", "id_b", "label"),
        [(a, b, int((a, b) in positive)) for a, b in sorted(positive | negative)],
    )
    exact = table(
        folder / "exact.tsv", ("id_a", "id_b", "jaccard"), [(a, b, 0.9) for a, b in sorted(positive)]
    )
    for truth, more in (
        (gold, {"similarity": near}),
        (labels, {"similarity": near}),
        (exact, {"threshold": 0.9}),
    ):
        if truth != gold and not positive:
            continue
        ours, listed = (nd.evaluate.score(given, truth, **more) for given in (theirs, spelled))
        assert counts(ours) == counts(listed)
        assert ours.bands == listed.bands and ours.by_label == listed.by_label


@pytest.mark.parametrize("name", ["gov2_human", "k8s_docs_rev", "wiki_html_variants", "tldr_short"])
def test_the_labelled_corpora_as_they_are(data, name, tmp_path):
    """The same numbers as the corpora's own scorer gives, on pairs with right, wrong, missed and unlabelled ones."""
    folder, threshold = data / name, 0.5
    exact = {naive.pair(a, b): float(j) for a, b, j, *_ in naive.tsv(folder / "exact_pairs.tsv.gz")}
    draw = np.random.default_rng(1)
    ids = sorted({id for both in exact for id in both})
    found = {p for p, j in exact.items() if j >= 0.6 or draw.random() < 0.2}
    found |= {naive.pair(*draw.choice(ids, 2, replace=False).tolist()) for _ in range(200)}
    pairs = tmp_path / "found.tsv"
    pairs.write_text(
        "".join(f"{b}\t{a}\t{exact.get((a, b), 0):.4f}\n" for a, b in sorted(found))
        + f"{ids[0]}\t{ids[0]}\t1\n"
    )

    similar = {p for p, j in exact.items() if j >= threshold}
    scored = nd.evaluate.score(pairs, folder / "exact_pairs.tsv.gz", threshold=threshold)
    assert scored.recall.value == len(found & similar) / len(similar)
    assert scored.precision.value == len(found & similar) / len(found)
    assert len(scored.notes) == 2 and "no header" in scored.notes[0] and "itself" in scored.notes[1]

    labels = [(naive.pair(a, b), int(label)) for a, b, label, *_ in naive.tsv(folder / "truth_pairs.tsv")]
    scored = nd.evaluate.score(pairs, folder / "truth_pairs.tsv")
    hits = {y: [p in found for p, label in labels if label == y] for y in {label for _, label in labels}}
    assert scored.by_label == tuple((y, sum(hit), len(hit)) for y, hit in sorted(hits.items()))
    assert scored.wrong == sum(hits.get(0, []))

    if (folder / "truth_clusters.tsv").exists():
        cluster = dict(naive.tsv(folder / "truth_clusters.tsv"))
        known = [p for p in found if p[0] in cluster and p[1] in cluster]
        same = [p for p in known if cluster[p[0]] == cluster[p[1]]]
        near = [p for p in known if cluster[p[0]] != cluster[p[1]] and p in similar]
        scored = nd.evaluate.score(
            pairs,
            folder / "truth_clusters.tsv",
            similarity=folder / "exact_pairs.tsv.gz",
            threshold=threshold,
        )
        assert (scored.right, scored.apart) == (len(same), len(near))
        assert scored.wrong == len(known) - len(same) - len(near)
        assert scored.unlabelled == len(found) - len(known)
        assert sum(band[3] for band in scored.bands) == scored.right + scored.missed


def test_the_sweep_is_many_evaluations(tmp_path):
    draw = np.random.default_rng(5)
    scored = [(a, b, round(float(draw.random()), 2)) for a, b in ALL]
    gold = table(
        tmp_path / "gold.tsv",
        ("id_a", "id_b", "label"),
        [(a, b, int(draw.random() < s)) for a, b, s in scored],
    )
    sweep = nd.evaluate.score(scored, gold).sweep
    for row, cut in enumerate(sweep.threshold):
        alone = nd.evaluate.score([p for p in scored if p[2] >= cut], gold)
        assert (sweep.found[row], sweep.right[row], sweep.wrong[row]) == (
            alone.found,
            alone.right,
            alone.wrong,
        )
        assert sweep.f1[row] == pytest.approx(alone.f1.value, nan_ok=True)
    assert sweep.f1[sweep.best] == np.nanmax(sweep.f1)
    near = table(
        tmp_path / "near.tsv", ("left", "right", "distance"), [(a, b, round(10 * s)) for a, b, s in scored]
    )
    by_distance = nd.evaluate.score(near, gold).sweep
    assert by_distance.threshold.tolist() == list(range(11)) and (np.diff(by_distance.found) >= 0).all()
    assert by_distance.found[3] == sum(round(10 * s) <= 3 for _, _, s in scored)


def test_a_result_is_scored_by_its_clusters():
    result = nd.dedup(nd.read(sample.path()).documents(), threshold=0.6)
    scored = nd.evaluate.score(result, sample.path("truth.tsv"))
    true = {id: cluster for id, cluster, _ in naive.tsv(sample.path("truth.tsv"))}
    found = {id: str(keeper) for id, keeper in zip(result.ids, result.clusters.keeper, strict=True)}
    ours, theirs = naive.pairs_of(found), naive.pairs_of(true)
    assert (scored.right, scored.wrong, scored.missed) == (
        len(ours & theirs),
        len(ours - theirs),
        len(theirs - ours),
    )
    precision, recall = naive.bcubed(found, true)
    assert (scored.clusters.bcubed_precision.value, scored.clusters.bcubed_recall.value) == pytest.approx(
        (precision, recall)
    )
    json.dumps(scored.to_json(), allow_nan=False)


def test_what_a_list_of_similarities_does_not_say_is_unlabelled_below_its_floor(tmp_path):
    exact = table(tmp_path / "exact.tsv", ("id_a", "id_b", "jaccard"), [("a", "b", 0.9), ("c", "d", 0.7)])
    found = [("a", "b"), ("e", "f")]
    whole = nd.evaluate.score(found, exact, threshold=0.7)
    assert (whole.right, whole.wrong, whole.unlabelled, whole.missed) == (1, 1, 0, 1)
    below = nd.evaluate.score(found, exact, threshold=0.5)
    assert (below.right, below.wrong, below.unlabelled) == (1, 0, 1) and "floor" in below.notes[0]
    assert nd.evaluate.score(found, exact, threshold=0.5, floor=0.5).wrong == 1


def test_wilson_and_groups():
    assert wilson(0.95, 100) == pytest.approx((0.8882, 0.9785), abs=1e-3)
    assert wilson(0.5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    assert wilson(1.0, 20) == pytest.approx((0.83887, 1.0), abs=1e-5)
    alone = share(np.r_[np.ones(80), np.zeros(20)], np.ones(100))
    assert (alone.low, alone.high) == pytest.approx(wilson(0.8, 99.0), abs=1e-3)
    # A hundred pairs of ten clusters whose pairs are all right or all wrong say as much as ten pairs.
    tied = share(np.r_[np.full(8, 10), np.zeros(2)], np.full(10, 10))
    assert tied.value == alone.value and tied.low < alone.low and tied.high > alone.high
    assert (tied.low, tied.high) == pytest.approx(wilson(0.8, 9.0), abs=0.01)
    assert share(np.full(3, 5), np.full(3, 5)).low == pytest.approx(wilson(1, 3)[0])
    assert math.isnan(share([], []).value)
    f = f1_measure([8, 0], [1, 1], [2, 0])
    assert f.value == pytest.approx(2 * 0.8 * 0.8 / 1.6)


def test_bootstrap_agrees_and_repeats():
    draw = np.random.default_rng(2)
    whole = draw.integers(1, 9, 300)
    part = draw.binomial(whole, 0.7)
    by_formula, by_draws = share(part, whole), share(part, whole, Intervals("bootstrap", 2000, 3))
    assert by_draws == share(part, whole, Intervals("bootstrap", 2000, 3))
    assert (by_draws.low, by_draws.high) == pytest.approx((by_formula.low, by_formula.high), abs=0.01)


@pytest.mark.slow
def test_intervals_cover_the_truth():
    """Groups whose pairs are all right or all wrong: 95% intervals hold the truth about 95 times of 100."""
    draw, held, tries = np.random.default_rng(7), 0, 1000
    for _ in range(tries):
        whole = draw.integers(1, 20, 80)
        part = np.where(draw.random(80) < 0.5, whole, draw.binomial(whole, 0.6))
        interval = share(part, whole)
        held += interval.low <= 0.8 <= interval.high
    assert 0.92 <= held / tries <= 0.98


def test_cluster_scores_of_known_clusters():
    scores = cluster_scores(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1]))
    assert (scores.right, scores.wrong, scores.missed) == (2, 2, 2)
    assert (scores.precision.value, scores.recall.value, scores.f1.value) == (0.5, 0.5, pytest.approx(0.5))
    assert scores.bcubed_precision.value == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1 + 1) / 5)
