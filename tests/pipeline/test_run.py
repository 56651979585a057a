"""Deduplication as a whole: against brute force, on real corpora, and on the odd ones."""

import gzip
import json

import numpy as np
import pytest
from reference import core as reference

import neardup as nd
from neardup import sample
from neardup.compare import similarity
from neardup.values.wording import counted


def pages() -> list[nd.Document]:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        return [nd.Document(page["id"], page["text"]) for page in map(json.loads, file)]


def exact_jaccard(texts: list[str], width: int = 5) -> np.ndarray:
    rows = [set(reference.word_shingles(text, width, nd.fingerprints.DEFAULT_SEED)) for text in texts]
    return np.array([[len(a & b) / max(1, len(a | b)) for b in rows] for a in rows])


def naive_keepers(similar: np.ndarray, rank: list[int]) -> list[int]:
    keeper = [-1] * len(rank)
    for row in sorted(range(len(rank)), key=rank.__getitem__):
        if keeper[row] >= 0:
            continue
        keeper[row] = row
        for other in np.flatnonzero(similar[row]):
            if keeper[other] < 0:
                keeper[other] = row
    return keeper


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8])
def test_the_sample_equals_brute_force(threshold):
    documents = pages()[:150]
    texts = [document.text for document in documents]
    exact = exact_jaccard(texts)
    result = nd.dedup(documents, threshold=threshold, recall=0.9999, protect=())
    order = sorted(range(len(texts)), key=lambda row: (-len(texts[row]), row))
    rank = [order.index(row) for row in range(len(texts))]
    assert result.clusters.keeper.tolist() == naive_keepers(exact >= threshold, rank)
    for pair in zip(result.pairs.left, result.pairs.right, result.pairs.similarity, strict=True):
        assert pair[2] == pytest.approx(exact[pair[0], pair[1]]) and pair[2] >= threshold


def test_the_planted_clusters_of_the_sample_are_found():
    truth = dict(line.split("\t")[:2] for line in sample.path("truth.tsv").read_text().splitlines()[1:])
    result = nd.dedup(pages(), threshold=0.6)
    dropped = result.dropped
    right = sum(truth[result.ids[d.row]] == truth[result.ids[d.keeper]] for d in dropped)
    assert len(dropped) > 120 and right / len(dropped) > 0.95


@pytest.mark.parametrize(
    ("name", "threshold", "recall"),
    [
        ("k8s_docs_rev", 0.8, 0.99),
        ("k8s_docs_rev", 0.5, 0.98),
        ("tldr_short", 0.8, 0.99),
        ("tldr_short", 0.5, 0.98),
        ("electron_i18n_rev", 0.7, 0.98),
        ("gov2_human", 0.7, 0.98),
        pytest.param("licenses", 0.8, 0.99, marks=pytest.mark.slow),
    ],
)
def test_recall_on_real_corpora(data, name, threshold, recall):
    with gzip.open(data / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [nd.Document(d["id"], d["text"]) for d in map(json.loads, file)]
    result = nd.dedup(documents, threshold=threshold)
    words = [bytes(row) for row in nd.fingerprints.digest(documents, normalized=nd.Normalize()).digests]
    of = dict(zip(result.ids, words, strict=True))
    found = {
        frozenset((words[a], words[b])) for a, b in zip(result.pairs.left, result.pairs.right, strict=True)
    }
    with gzip.open(data / name / "exact_pairs.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.split("\t") for line in file.read().splitlines()[1:]]
    wanted = [frozenset((of[a], of[b])) for a, b, jaccard, *_ in rows if float(jaccard) >= threshold]
    assert len(wanted) > 50
    assert sum(len(pair) == 1 or pair in found for pair in wanted) / len(wanted) >= recall


def test_no_member_is_below_the_threshold_to_its_keeper(data):
    with gzip.open(data / "licenses" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file][:2000]
    result = nd.dedup(texts, threshold=0.7)
    members = [d for d in result.dropped if d.similarity < 1]
    features = nd.Shingles().extract(texts)
    exact = similarity.jaccard(features, [d.row for d in members], [d.keeper for d in members])
    assert len(members) > 100 and (exact >= 0.7).all()
    assert exact.tolist() == pytest.approx([d.similarity for d in members])


def test_threads_do_not_matter():
    one, two = nd.dedup(pages(), threshold=0.6), nd.dedup(pages(), threshold=0.6, threads=2)
    for name in ("labels", "keeper", "similarity"):
        assert getattr(one.clusters, name).tobytes() == getattr(two.clusters, name).tobytes()


def test_a_floor_keeps_pairs_for_later():
    low = nd.dedup(pages(), threshold=0.8, floor=0.6)
    assert low.pairs.similarity.min() < 0.8
    assert low.clusters.keeper.tolist() == nd.dedup(pages(), threshold=0.8).clusters.keeper.tolist()


def test_which_one_is_kept():
    texts = [
        "one two three four five six",
        "One two, three four five six!!!",
        "ONE TWO THREE FOUR FIVE SIX",
        "other",
    ]
    keepers = {
        keep: nd.dedup(texts, keep=keep).clusters.keeper.tolist() for keep in ("longest", "first", "last")
    }
    assert keepers == {"longest": [1, 1, 1, 3], "first": [0, 0, 0, 3], "last": [2, 2, 2, 3]}
    result = nd.dedup(texts)
    assert [(d.row, d.keeper, d.similarity) for d in result.dropped] == [(0, 1, 1.0), (2, 1, 1.0)]
    assert result.kept.tolist() == [1, 3] and result.exact == 2


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        ([], 0),
        (["alone"], 1),
        (["", " ", "..."], 3),
        (["same words here"] * 5, 1),
        (["", "x", "", "x"], 3),
    ],
)
def test_tiny_and_odd_corpora(texts, kept):
    result = nd.dedup(texts)
    assert len(result.kept) == kept and len(result) == len(texts)
    assert result.summary().startswith(counted(len(texts), "document"))


def test_many_identical_documents_cost_nothing():
    texts = ["the same page again and again and again"] * 200_000 + [
        "another page altogether, with other words"
    ]
    result = nd.dedup(texts)
    assert len(result.kept) == 2 and result.exact == 199_999 and len(result.pairs) == 0


def test_streams_and_wrong_settings():
    assert len(nd.dedup(iter(["a b c", "a b c"])).kept) == 1
    for bad in (
        {"threshold": 0},
        {"threshold": 1.5},
        {"recall": 1.0},
        {"keep": "best"},
        {"features": "words"},
    ):
        with pytest.raises(nd.NeardupError):
            nd.dedup(["x"], **bad)


def test_many_similar_documents_behind_one_sketch():
    """A thousand texts with the same shingles in another order have equal sketches but other digests."""
    base = [f"w{i}" for i in range(60)]
    texts = [" ".join(base + base[: i % 50 + 5]) for i in range(2000)]
    result = nd.dedup(texts, threshold=0.9)
    features = nd.Shingles().extract(texts)
    members = result.dropped
    exact = similarity.jaccard(features, [d.row for d in members], [d.keeper for d in members])
    assert (exact >= 0.9).all() and len(result.kept) <= 3
