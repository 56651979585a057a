"""The numbers of the page are the command's, at every step of the slider; risks are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest
from support.corpora import planted, write_jsonl
from support.findings import make_findings
from support.reviewing import ferry, scanned

import neardup as nd
from neardup.errors import ConfigError, DataError
from neardup.findings import DecisionLog, Findings, decided_cut, read_decisions, summarize
from neardup.findings.scan import scan
from neardup.pages.review import Review
from neardup.pages.review.cluster_list import cluster_of, list_clusters
from neardup.pages.review.figures import histogram_of, steps_of
from neardup.pages.review.filters import Wanted
from neardup.pages.review.search import search_rows


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Findings:
    folder = tmp_path_factory.mktemp("figures")
    config = nd.Config(keep=nd.Keep(source="site"), verify=nd.Jaccard(0.8, 0.6))
    return scan(write_jsonl(folder / "in.jsonl", planted(60)), folder / "found", config)


def check_equal(review: Review, threshold: float) -> None:
    findings = review.findings
    said = read_decisions(findings)
    cut = decided_cut(findings, threshold, review.keep, decisions=said)
    wanted, made = summarize(findings, cut, threshold, said), review.figures(threshold)
    assert made.dropped == wanted.dropped, threshold
    for name in ("kept", "exact", "near", "clusters", "bytes_saved", "tokens_saved"):
        assert getattr(made, name) == getattr(wanted, name), (threshold, name)
    assert made.sources[:20] == [row for row in wanted.sources]
    assert sum(many for _, many in made.sizes) == made.clusters
    assert made.pairs == int((findings.pairs.similarity >= threshold).sum())


def test_figures_are_the_commands(found):
    review = Review(found)
    assert review.steps[0] == 0.6 and 0.8 in review.steps and review.steps[-1] == 1.0
    for threshold in review.steps[::4]:
        check_equal(review, threshold)
    review = Review(found, nd.Keep("first", source="site", many=2, among="across"))
    check_equal(review, 0.8)


def test_figures_follow_decisions(tmp_path):
    found = scanned(tmp_path)
    review = Review(found)
    before = review.figures(0.8)
    a, near = found.row_of("a"), found.row_of("a-near")
    review.decide("reject", a, near)
    assert review.figures(0.8).dropped == before.dropped - 1
    check_equal(review, 0.8)
    DecisionLog(found).add("clear", a, near)  # another process
    assert review.figures(0.8).dropped == before.dropped


def test_all_steps_are_made_ahead(found):
    review = Review(found)
    review.start()
    try:
        for _ in range(200):
            if len(review.ready()) == len(review.steps):
                break
            review._thread.join(0.05)
        assert [made.threshold for made in review.ready()] == review.steps
    finally:
        review.close()
    assert not review._thread.is_alive()


def test_the_histogram_holds_every_pair_once(found):
    bins = histogram_of(found)
    assert sum(one["count"] for one in bins) == len(found.pairs)
    for one in bins[:-1]:
        inside = (found.pairs.similarity >= one["from"]) & (found.pairs.similarity < one["to"])
        assert one["count"] == int(inside.sum())
    assert [one["from"] for one in bins] == steps_of(found)[:-1]


@pytest.fixture(scope="module")
def risky(tmp_path_factory) -> Review:
    """A borderline pair, a star whose points are not similar, 25 copies, a filled-in form; a harmless pair."""
    base = [f"w{n}" for n in range(200)]
    form = " ".join(base)
    rows = [("pair", ferry(1)), ("pair-near", ferry(1) + " x")]
    rows += [
        ("edge", " ".join(f"e{n}" for n in range(100))),
        ("edge-near", " ".join(f"e{n}" for n in range(81))),
    ]
    rows += [(f"copy{n}", ferry(4)) for n in range(25)]
    rows += [("form", form + " the keeper is longer than all")]
    rows += [
        (f"form{n}", " ".join([*base[: 20 * n + 20], f"name{n}", *base[20 * n + 21 :]])) for n in range(4)
    ]
    centre = [f"s{n}" for n in range(400)]
    rows += [("star", " ".join(centre))]
    for n in range(5):
        part = centre.copy()
        part[70 * n : 70 * n + 60] = []
        rows += [(f"star{n}", " ".join(part))]
    return Review(
        scanned(tmp_path_factory.mktemp("risky"), [{"id": i, "text": t, "site": "one"} for i, t in rows])
    )


def lanes_of(review: Review, id: str) -> list[str]:
    return cluster_of(review, review.view(0.8), review.findings.row_of(id))["lanes"]


def test_lanes_and_doubt(risky):
    assert lanes_of(risky, "pair") == ["contained"]
    assert lanes_of(risky, "edge") == ["contained"]
    assert lanes_of(risky, "copy3") == ["identical"]
    assert lanes_of(risky, "star") == ["contained"]
    listed = list_clusters(risky.view(0.8), Wanted())["clusters"]
    assert [one["doubt"] for one in listed] == sorted((one["doubt"] for one in listed), reverse=True)
    assert listed[-1]["doubt"] == 0 and listed[-1]["keeper"] == "copy0"


def test_facets_count_what_each_value_would_leave(risky):
    view = risky.view(0.8)
    facets = list_clusters(view, Wanted())["facets"]
    for name in ("lane", "change", "ratio", "show"):
        for value, many in facets[name]:
            assert list_clusters(view, Wanted(**{name: value}))["total"] == many, (name, value)
    narrowed = list_clusters(view, Wanted(lane="contained"))
    assert dict(narrowed["facets"]["lane"]) == dict(facets["lane"])  # its own filter does not count
    assert dict(narrowed["facets"]["show"])["open"] == narrowed["total"]
    some = list_clusters(view, Wanted(least=0.9, most=1.0))
    least = [one["least"] for one in some["clusters"]]
    assert 0 < some["total"] < len(view.table) and some["removals"] >= len(least)


def test_listing(risky):
    view = risky.view(0.8)
    sizes = [one["size"] for one in list_clusters(view, Wanted(order="size"))["clusters"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == 25
    least = [one["least"] for one in list_clusters(view, Wanted(order="similarity"))["clusters"]]
    assert least == sorted(least)
    assert list_clusters(view, Wanted(lane="identical"))["total"] == 1
    page = list_clusters(view, Wanted(offset=1, limit=2))
    assert len(page["clusters"]) == 2 and page["total"] == 5
    assert [one["keeper"] for one in list_clusters(view, Wanted(search="COPY2"))["clusters"]] == ["copy0"]
    assert [one["keeper"] for one in list_clusters(view, Wanted(search="NAME2"))["clusters"]] == ["form"]
    assert list_clusters(view, Wanted(search="nothing like it"))["total"] == 0
    assert list_clusters(view, Wanted(source="one"))["total"] == 5
    for wrong in ({"order": "luck"}, {"show": "luck"}, {"lane": "luck"}):
        with pytest.raises(ConfigError):
            list_clusters(view, Wanted(**wrong))
    with pytest.raises(DataError):
        list_clusters(view, Wanted(source="two"))
    with pytest.raises(ConfigError, match="scan again"):
        risky.view(0.4)


def test_search_is_bounded(risky):
    rows, partial = search_rows(risky.findings, "name2", seconds=-1)
    assert partial and len(rows) == 0


def test_ids_are_found_within_one_id_only(risky):
    """`pairpair` spans the ids pair and pair-near, and in none of them."""
    assert len(search_rows(risky.findings, "pairpair")[0]) == 0
    assert set(risky.findings.ids(search_rows(risky.findings, "pair-")[0])) == {"pair-near"}


@pytest.mark.slow
def test_many_clusters(tmp_path):
    """A hundred thousand clusters: pages come from anywhere, and the numbers are the command's."""
    findings = make_findings(tmp_path / "made", 100_000, 300_000)
    review = Review(findings)
    check_equal(review, 0.9)
    view = review.view(0.9)
    page = list_clusters(view, Wanted(order="size", offset=len(view.table) - 3))
    assert len(page["clusters"]) == 3 and page["total"] == len(view.table) > 50_000
    labels, sizes = view.cut.clusters.sizes()
    assert np.array_equal(labels, view.table.labels) and np.array_equal(sizes, view.table.sizes)
