"""Guards and changes in findings: stored with the pairs, applied at any threshold, overridden by decisions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import neardup as nd
from neardup.cli import main
from neardup.compare.changes import changes_of, is_brief
from neardup.findings import (
    DecisionLog,
    Findings,
    decided_cut,
    list_clusters,
    list_protected,
    read_decisions,
    summarize,
    write_pairs,
)
from neardup.findings.changes import read_changes
from neardup.findings.columns import MAGICS, PAIRS
from neardup.findings.scan import scan
from neardup.findings.writer import _columns

BODY = " ".join(f"word{i} of the text" for i in range(60))
PAGES = {
    "options": f"# Options\n\n{BODY}.\n\nThe end.",
    "futures": f"# Futures\n\n{BODY}.\n\nThe end of it.",
    "copy": f"# Futures\n\n{BODY}.\n\nThe end.",
    "price": f"# Futures\n\n{BODY}.\n\nThe end for 7 USD.",
}


@pytest.fixture
def found(tmp_path: Path) -> Findings:
    rows = [json.dumps({"id": name, "text": text}) for name, text in PAGES.items()]
    (tmp_path / "pages.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    return scan(tmp_path / "pages.jsonl", tmp_path / "findings")


def test_the_account_adds_up_and_names_the_guards(found: Findings) -> None:
    summary = summarize(found)
    assert summary.kept + summary.exact + summary.near + summary.filtered_out == summary.documents == 4
    assert summary.protected == {"title differs": 1}
    assert any("1 kept although similar to another: title differs" in line for line in summary.lines())
    assert summary.lossless == 2
    assert summary.to_json()["protected"] == {"title differs": 1}


def test_what_is_protected_is_listed(found: Findings) -> None:
    cut = found.cut()
    (one,) = list_protected(found, cut)
    assert (one.id, one.reason) == ("options", "title differs")
    assert one.similar_to in ("price", "futures")
    assert list_protected(found, found.cut(protect=())) == []
    numbers = list_protected(found, found.cut(protect=("numbers",)))
    assert numbers == [] and found.cut(protect=("numbers",)).kept.sum() == 1  # the keeper has the number


def as_version_1(folder: Path) -> None:
    """The manifest as the first version wrote it: without checksums and without guards."""
    manifest = folder / "manifest.json"
    plain = json.loads(manifest.read_text("utf-8"))
    del plain["checksum"], plain["files"], plain["config"]["protect"]
    manifest.write_text(json.dumps(plain | {"format": 1}), "utf-8")


def test_changes_are_stored_and_older_findings_compute_them(found: Findings) -> None:
    texts = list(PAGES.values())
    expected = changes_of(texts, found.pairs.left, found.pairs.right)
    assert np.array_equal(found.changes, expected)
    stored = read_changes(found._columns.open(PAIRS), len(found.pairs))
    assert stored is not None and is_brief(stored).any() and not is_brief(stored).all()
    for places in (np.arange(len(found.pairs)), np.array([2, 0]), np.empty(0, np.int64)):
        assert np.array_equal(found.changes_at(places), expected[places])
    pairs = found.pairs
    columns = {"left": pairs.left, "right": pairs.right, "score": pairs.similarity}
    _columns(found.path / PAIRS, len(pairs), columns)
    as_version_1(found.path)
    older = Findings(found.path)
    assert MAGICS[PAIRS] in (found.path / PAIRS).read_bytes()[:8]
    assert np.array_equal(older.changes, expected)


def test_findings_of_a_version_without_guards_are_cut_as_they_were(found: Findings) -> None:
    as_version_1(found.path)
    older = Findings(found.path)
    assert older.config.protect == ()
    assert older.cut().kept.sum() == 1


def test_a_person_overrides_a_guard(found: Findings) -> None:
    cut = found.cut()
    assert cut.protected is not None
    row, keeper = int(cut.protected.rows[0]), int(cut.protected.keepers[0])
    DecisionLog(found).add("accept", keeper, row)
    decided = decided_cut(found)
    assert len(read_decisions(found)) == 1
    assert not decided.kept[row]
    assert decided.protected is not None and row not in decided.protected.rows


def test_pairs_and_clusters_say_what_differs(found: Findings, tmp_path: Path) -> None:
    write_pairs(found, tmp_path / "pairs.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text("utf-8").splitlines()]
    said = {(row["left"], row["right"]): row["changes"] for row in rows}
    assert said["options", "copy"] == "title,words"
    assert said["futures", "price"] == "numbers,names,words"
    (cluster,) = list_clusters(found, found.cut(), order="change")
    assert {member.id: member.changes for member in cluster.members}["copy"] is not None


def test_the_commands(found: Findings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> str:
        main(list(arguments))
        return capsys.readouterr().out

    place = str(found.path)
    listed = json.loads(run("clusters", place, "--protected", "--json"))
    assert [row["id"] for row in listed["listed"]] == ["options"]
    assert "kept: title differs" in run("clusters", place, "--protected")
    out = str(tmp_path / "kept.jsonl")
    answer = json.loads(run("apply", place, "-o", out, "--allow-mass-removal", "--json", "-q"))
    assert (answer["written"], answer["protected"], answer["lossless"]) == (2, {"title differs": 1}, 2)
    bare = json.loads(
        run(
            "apply",
            place,
            "-o",
            out,
            "--overwrite",
            "--allow-mass-removal",
            "--json",
            "-q",
            "--protect",
            "none",
        )
    )
    assert (bare["written"], bare["protected"]) == (1, {})
    assert "similar to another: title differs" in run("explain", "-f", place, "options", "futures")
    assert "changes" in run("explain", "-f", place, "copy", "futures")


def test_dedup_and_a_scan_agree(found: Findings) -> None:
    made = nd.dedup(list(PAGES.values()))
    assert made.clusters.keeper.tolist() == found.cut().clusters.keeper.tolist()


def test_findings_of_a_scan_without_guards_have_the_same_changes(found: Findings, tmp_path: Path) -> None:
    """What differs is not stored then, but computed when it is asked for."""
    bare = scan(tmp_path / "pages.jsonl", tmp_path / "bare", nd.Config(protect=()))
    assert read_changes(bare._columns.open(PAIRS), len(bare.pairs)) is None, "nothing is stored"
    assert (bare.changes == found.changes).all() and bare.changes.any()
    guards = ("title", "language")
    assert bare.cut(protect=guards).kept.tolist() == found.cut().kept.tolist()
    assert list_protected(bare, bare.cut(protect=guards)) == list_protected(found, found.cut())
    assert list_clusters(bare, bare.cut(), order="change") == list_clusters(
        found, found.cut(protect=()), order="change"
    )
    assert summarize(bare, protect=guards).lossless == summarize(found).lossless
    for one, name in ((bare, "bare.csv"), (found, "found.csv")):
        write_pairs(one, tmp_path / name)
    assert (tmp_path / "bare.csv").read_text() == (tmp_path / "found.csv").read_text()
    assert "title" in (tmp_path / "bare.csv").read_text()
