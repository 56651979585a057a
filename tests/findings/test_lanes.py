"""Every removal is in the lane that its change says, and the doubtful ones come first."""

from __future__ import annotations

import numpy as np
import pytest
from support.reviewing import ferry, scanned

import neardup as nd
from neardup.findings import Findings
from neardup.findings.cluster_table import cluster_table
from neardup.findings.doubt import doubt_of
from neardup.findings.lanes import LANES, removals_of
from neardup.findings.scan import scan

BASE = ferry(1)


def form(number: int) -> str:
    words = [f"form{n}" for n in range(60)]
    words[30] = f"filled{number}"
    return " ".join(words) + "."


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    rows = [
        ("keeper", BASE + " and the last words of it"), ("identical", BASE + " and the last words of it"),
        ("words", (BASE + " and the last words of it").upper()),
        ("contained", BASE),
        ("meaning-keeper", "# A title\n\n" + ferry(2) + " more"), ("meaning", "# Another one\n\n" + ferry(2)),
        ("number-keeper", ferry(3) + " costs 15 and more"), ("number", ferry(3) + " costs 27"),
        ("tiny-keeper", ferry(4) + " then it stops here"), ("tiny", ferry(4) + " then it ends here"),
        *((f"form{n}", form(n)) for n in range(4)),
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("lanes")
    return scanned(folder, [{"id": id, "text": text, "site": "s"} for id, text in rows])


def lane_of(found: Findings, id: str) -> str:
    removals = removals_of(found, found.cut(protect=()))
    at = removals.of(found.row_of(id))
    assert at is not None, f"{id} is kept"
    return LANES[int(removals.lanes[at])]


@pytest.mark.parametrize(
    ("id", "lane"),
    [
        ("identical", "identical"),
        ("words", "words"),
        ("contained", "contained"),
        ("meaning", "meaning"),
        ("number", "meaning"),
        ("tiny", "tiny"),
        ("form2", "template"),
    ],
)
def test_lanes(found: Findings, id: str, lane: str) -> None:
    assert lane_of(found, id) == lane


def test_every_removal_is_in_one_lane(found: Findings) -> None:
    cut = found.cut(protect=())
    removals = removals_of(found, cut)
    assert sum(removals.lane_counts.values()) == len(removals) == int((~cut.kept).sum())
    summary = nd.summarize(found, cut)
    assert sum(summary.lanes.values()) == summary.dropped
    assert (summary.exact, summary.identical) == (2, 1)
    assert "(1 byte-identical)" in "\n".join(summary.lines())


def test_the_doubtful_come_first(found: Findings) -> None:
    cut = found.cut(protect=())
    removals = removals_of(found, cut)
    order = [found.ids(removals.rows)[at] for at in np.argsort(-doubt_of(removals), kind="stable").tolist()]
    assert order[0] == "meaning" and order[-1] == "identical" and order[-2] == "words"
    table = cluster_table(found, cut)
    assert len(table.places) == len(removals)
    first = int(np.argmax(table.doubt))
    assert table.lanes_of(first) == ["meaning"] and table.keeper[first] == found.row_of("meaning-keeper")


def test_a_chain_was_never_compared(tmp_path) -> None:
    words = [f"w{n}" for n in range(300)]
    parts = [" ".join(words[start : start + 150]) for start in (0, 20, 40)]
    rows = [{"id": str(at), "text": text, "site": "s"} for at, text in enumerate(parts)]
    from support.corpora import write_jsonl

    config = nd.Config(verify=nd.Jaccard(0.7, 0.7), clusters="components")
    chained = scan(write_jsonl(tmp_path / "in.jsonl", rows), tmp_path / "found", config)
    removals = removals_of(chained, chained.cut())
    assert removals.lane_counts["chain"] == 1 and np.isnan(removals.similarity).sum() == 1


def test_texts_are_distinguished_within_the_same_words(tmp_path) -> None:
    text = ferry(1)
    variants = [text, text.upper(), text, text.upper(), text.title()]
    found = scanned(tmp_path, [{"id": str(at), "text": t, "site": "s"} for at, t in enumerate(variants)])
    assert found.first.tolist() == [0] * 5
    assert found.same_text is not None and found.same_text.tolist() == [0, 1, 0, 1, 4]
