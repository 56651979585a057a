"""One account of everything: files, rows and documents add up, and what filters leave out counts as removed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.corpora import write_jsonl

import neardup as nd
from neardup.errors import NeardupError
from neardup.findings import alarms, decided_cut, summarize
from neardup.findings.scan import scan


@pytest.fixture
def titles(tmp_path):
    rows = [{"id": str(n), "text": f"title number {n}"} for n in range(16)]
    rows += [{"id": f"long{n}", "text": " ".join(f"w{n}x{i}" for i in range(60))} for n in range(2)]
    return write_jsonl(tmp_path / "titles.jsonl", rows)


def test_filters_are_in_the_headline_and_in_the_guard(titles, tmp_path):
    found = scan(titles, tmp_path / "f", nd.Config(filters=nd.Filters(min_words=30)))
    summary = summarize(found)
    assert summary.lines()[0] == "18 documents: 2 kept, 0 dropped, 16 left out by filters (88.9%)"
    assert alarms(found, decided_cut(found)) == ["filters would leave out 16 of all 18 documents"]
    with pytest.raises(nd.DataError, match="filters would leave out 16"):
        nd.apply(found, tmp_path / "kept.jsonl")
    assert not (tmp_path / "kept.jsonl").exists()


def test_files_that_were_not_read_are_in_the_summary_and_its_json(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("some words of a file")
    (folder / "b.bin").write_bytes(bytes(range(256)))
    (folder / ".hidden.txt").write_text("not looked at")
    summary = summarize(scan(folder, tmp_path / "f"))
    files = summary.to_json()["account"]["files"]
    assert files["found"] == files["read"] + sum(files["skipped"].values()) == 3
    said = "\n".join(summary.lines())
    assert "3 files found: 1 read, 2 skipped" in said and "b.bin" in said and ".hidden.txt" in said


def test_counts_that_do_not_add_up_are_an_error(titles, tmp_path):
    summary = summarize(scan(titles, tmp_path / "f"))
    with pytest.raises(NeardupError, match="does not add up"):
        replace(summary, kept=summary.kept + 1)


def test_the_same_account_is_in_json_manifest_report_and_review_page(tmp_path):
    from neardup.pages.report import report
    from neardup.pages.review.figures import figures_of

    folder = tmp_path / "in"
    folder.mkdir()
    rows = [
        {"id": str(n), "text": f"some words of row {n} and {n * 7}, which differ from others"}
        for n in range(18)
    ]
    lines = write_jsonl(
        folder / "a.jsonl", [*rows, {"id": "again", "text": rows[0]["text"]}, {"id": "x", "text": "x"}]
    )
    with open(lines, "a") as file:
        file.write("no json\n")
    (folder / "b.bin").write_bytes(bytes(range(256)))
    found = scan(folder, tmp_path / "f", nd.Config(filters=nd.Filters(min_words=2)))
    summary = summarize(found)
    account = found.manifest["account"]
    assert summary.to_json()["account"] == account and summary.balance.to_json() == account
    assert account["documents"] == {
        "read": 20,
        "kept": 18,
        "exact": 1,
        "near": 0,
        "filtered": {"too short": 1},
    }
    assert account["rows"] == {"read": 21, "documents": 20, "rejected": {"bad JSON": 1}, "passed_over": {}}
    printed = [
        "2 files found: 1 read, 1 skipped",
        "  binary: 1 (b.bin)",
        "21 rows read: 20 documents, 1 rejected",
        "  bad JSON: 1 (a.jsonl, row 21)",
        "20 documents: 18 kept, 1 dropped with the same words as another, 0 dropped as near-duplicates, "
        "1 left out by filters",
        "  too short: 1",
    ]
    assert list(summary.balance.lines()) == printed
    said = summary.lines()
    at = said.index("Account")
    assert said[at + 1 : at + 1 + len(printed)] == [f"  {line}" for line in printed]
    assert figures_of(found, found.cut(), found.threshold, 0).account == printed
    report(found, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert all(line.strip() in page for line in printed)
    plain = write_jsonl(tmp_path / "plain.jsonl", rows)
    assert list(summarize(scan(plain, tmp_path / "g")).balance.lines()) == [], "there is no more to say"
