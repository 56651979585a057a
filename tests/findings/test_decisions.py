"""Decisions: none is lost, the last word counts, and what apply does is what was decided."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget
from support.command import run
from support.corpora import planted, read_jsonl
from support.reviewing import documents, run_cli, scanned

import neardup as nd
from neardup.errors import ConfigError, DataError, FormatError
from neardup.evaluate.labels import read_labels
from neardup.findings import DecisionLog, Decisions, Findings, decided_cut, read_decisions, summarize
from neardup.findings.apply import apply
from neardup.findings.decision_log import DECISIONS
from neardup.findings.decisions import Decision


@pytest.fixture
def found(tmp_path) -> Findings:
    return scanned(tmp_path)


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Findings:
    return scanned(tmp_path_factory.mktemp("many"), planted(60))


def rows(found: Findings, *ids: str) -> list[int]:
    return [found.row_of(id) for id in ids]


def kept(found: Findings, **options) -> set[str]:
    cut = decided_cut(found, **options)
    return set(found.ids(np.flatnonzero(cut.kept)))


def test_a_log_is_read_as_it_was_written(found):
    log = DecisionLog(found)
    a, near, b = rows(found, "a", "a-near", "b")
    assert len(log.refresh()) == 0
    log.add("reject", a, near, 0.9)
    log.add("accept", near, a, 0.9)  # either way round it is one pair, and the last word counts
    log.add("keep", near, a, 0.9)
    log.add("reject", b, rows(found, "b-far")[0], 0.8)
    again = read_decisions(found)
    assert [d.decision for d in again] == ["accept", "keep", "reject"] and again.revision == 4
    assert [d.sequence for d in again] == [2, 3, 4] and list(again) == list(log.decisions)
    lines = read_jsonl(found.path / DECISIONS)
    assert len(lines) == 4 and lines[0]["left"] == "a" and lines[0]["label"] == 0 and lines[1]["label"] == 1
    log.add("clear", a, near)
    assert [d.decision for d in read_decisions(found)] == ["reject"]


def test_a_torn_line_has_no_effect_and_is_removed(found):
    log = DecisionLog(found)
    a, near, b, far = rows(found, "a", "a-near", "b", "b-far")
    log.add("reject", a, near)
    path = found.path / DECISIONS
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    assert len(read_decisions(found)) == 1
    other = DecisionLog(found)
    other.add("accept", b, far)
    assert len(read_decisions(found)) == 2 and len(log.refresh()) == 2
    assert len(read_jsonl(path)) == 2


def test_two_logs_do_not_lose_each_others(found):
    one, other = DecisionLog(found), DecisionLog(found)
    a, near, b, far = rows(found, "a", "a-near", "b", "b-far")
    one.add("reject", a, near)
    other.add("accept", b, far)
    one.add("keep", far, b)
    assert [d.sequence for d in other.refresh()] == [1, 2, 3] == [d.sequence for d in read_decisions(found)]


@pytest.mark.process
def test_many_processes_write_one_log(found):
    script = (
        "import sys; from neardup.findings import DecisionLog, Findings\n"
        "log = DecisionLog(Findings(sys.argv[1]))\n"
        "for row in range(1, 10): log.add('reject', 0, row)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(found.path)]) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    lines = read_jsonl(found.path / DECISIONS)
    assert [line["sequence"] for line in lines] == list(range(1, 28))
    assert len(read_decisions(found)) == 9


def test_decisions_of_other_documents_are_refused(found, tmp_path):
    a, near = rows(found, "a", "a-near")
    DecisionLog(found).add("reject", a, near)
    (tmp_path / "other").mkdir()
    other = scanned(tmp_path / "other", documents()[:-1])
    (other.path / DECISIONS).write_bytes((found.path / DECISIONS).read_bytes())
    with pytest.raises(DataError, match=r"decisions\.jsonl, line 1: this decision is about other documents"):
        read_decisions(other)
    with pytest.raises(DataError, match="--no-decisions"):
        apply(other, tmp_path / "kept.jsonl")
    assert apply(other, tmp_path / "kept.jsonl", decisions=False).written == int(other.cut().kept.sum())
    assert run_cli("apply", str(other.path), "--out", str(tmp_path / "more.jsonl"))[0] == 1
    # The same documents scanned again with other settings keep theirs.
    again = nd.scan(
        str(tmp_path / "in.jsonl"),
        tmp_path / "again",
        nd.Config(keep=nd.Keep(source="site"), verify=nd.Jaccard(0.7)),
    )
    (again.path / DECISIONS).write_bytes((found.path / DECISIONS).read_bytes())
    assert len(read_decisions(again)) == 1


OVERFLOW = (
    b'{"sequence": 1e999, "time": "", "decision": "accept", "left": "a", "right": "b", "left_row": 0, '
    b'"right_row": 1, "similarity": 1}\n'
)


@pytest.mark.parametrize(
    "line", [b"{}\n", b"nonsense\n", b"[1]\n", b'{"sequence": "x"}\n', b"[" * 9000 + b"\n", OVERFLOW]
)
def test_a_damaged_log_is_named(found, line):
    (found.path / DECISIONS).write_bytes(line)
    with pytest.raises(FormatError, match="line 1"):
        read_decisions(found)


def test_what_cannot_be_decided(found):
    log = DecisionLog(found)
    with pytest.raises(DataError):
        log.add("reject", 0, 0)
    with pytest.raises(DataError):
        log.add("reject", 0, len(found))
    with pytest.raises(ConfigError):
        log.add("perhaps", 0, 1)  # type: ignore[arg-type]
    assert not (found.path / DECISIONS).exists()


def test_a_rejected_member_is_kept(found):
    before = kept(found)
    assert "b-far" not in before
    b, far = rows(found, "b", "b-far")
    DecisionLog(found).add("reject", b, far, 0.8)
    assert kept(found) == before | {"b-far"}
    assert kept(found, decisions=Decisions()) == before
    # Documents of the same words share the fate of a pair, and a pair of the same words can be rejected.
    DecisionLog(found).add("reject", b, *rows(found, "b-same"), 1.0)
    assert kept(found) == before | {"b-far", "b-same"}


def test_a_chosen_keeper_is_kept_and_the_other_is_dropped_for_it(found):
    a, near = rows(found, "a", "a-near")
    assert "a" in kept(found)
    DecisionLog(found).add("keep", near, a, 0.9)
    cut = decided_cut(found)
    assert cut.kept[near] and not cut.kept[a] and cut.clusters.keeper[a] == near
    # It holds at a threshold at which the scan would not tie them, and until it is undone.
    high = decided_cut(found, 1.0)
    assert high.kept[near] and not high.kept[a] and found.cut(1.0).kept[a]
    DecisionLog(found).add("keep", a, near, 0.9)
    assert decided_cut(found).kept[a] and not decided_cut(found).kept[near]


def test_an_accepted_pair_is_one_at_every_threshold(found):
    a, alone = rows(found, "a", "alone")
    assert {"a", "alone"} <= kept(found)
    DecisionLog(found).add("accept", a, alone, 0.01)
    for threshold in (0.5, 0.8, 1.0):
        cut = decided_cut(found, threshold)
        assert cut.clusters.labels[a] == cut.clusters.labels[alone]
        assert not (cut.kept[a] and cut.kept[alone])
    assert 0.01 in decided_cut(found).clusters.similarity


def test_kept_by_one_decision_but_accepted_elsewhere(found):
    b, near, far = rows(found, "b", "b-near", "b-far")
    log = DecisionLog(found)
    log.add("reject", b, far, 0.8)
    log.add("keep", near, b, 0.9)
    assert decided_cut(found).kept[far]  # of the new keeper nobody has said anything
    log.add("accept", near, far, 0.8)
    assert not decided_cut(found).kept[far] and decided_cut(found).clusters.keeper[far] == near


@given(st.data())
@settings(max_examples=budget(60))
def test_decisions_always_hold(many, data):
    """For any decisions: nothing is dropped for a rejected pair, a document decided to be kept is kept, and every
    dropped one is tied to a kept one by a pair that is similar enough or was agreed to."""
    said = Decisions()
    pairs, first = many.pairs, many.first
    chosen = data.draw(st.lists(st.integers(0, len(pairs) - 1), max_size=12))
    for sequence, at in enumerate(chosen, 1):
        kind = data.draw(st.sampled_from(["accept", "reject", "keep", "clear"]))
        left, right = int(pairs.left[at]), int(pairs.right[at])
        if data.draw(st.booleans()):
            left, right = right, left
        said.add(Decision(sequence, "", kind, "", "", left, right, float(pairs.similarity[at])))
    threshold = data.draw(st.sampled_from([0.5, 0.8, 0.95]))
    cut = decided_cut(many, threshold, decisions=said)
    stored = dict(
        zip(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True), pairs.similarity, strict=True)
    )
    agreed = {d.pair for d in said if d.decision != "reject"}
    rejected = {d.pair for d in said.of("reject")}
    for row in cut.dropped.tolist():
        keeper = int(cut.clusters.keeper[row])
        a, b = sorted((int(first[row]), int(first[keeper])))
        assert cut.kept[keeper] and (row, keeper) != (keeper, row)
        assert (min(row, keeper), max(row, keeper)) not in rejected
        assert a == b or (a, b) in agreed or ((a, b) not in rejected and stored[a, b] >= threshold)
    for d in said.of("reject"):
        keeper = int(cut.clusters.keeper[d.right_row])
        assert cut.kept[d.right_row] or tuple(sorted((d.right_row, keeper))) in agreed
    for d in said.of("keep"):
        # Of the two the one that was chosen is never the one to go for the other.
        assert int(cut.clusters.keeper[d.left_row]) != d.right_row
    last = list(said.chosen.values())[-1:]
    assert all(cut.kept[d.left_row] and not cut.kept[d.right_row] for d in last if _free(said, d))


def _free(said: Decisions, d: Decision) -> bool:
    """Whether nothing else is said about the document that was not chosen, and no other was chosen over the one that
    was: that one is kept before it."""
    others = [other for other in said if other is not d]
    return not any(d.right_row in other.pair for other in others) and not any(
        d.left_row == other.right_row for other in others if other.decision == "keep"
    )


def test_apply_does_what_was_decided(found, tmp_path):
    a, near, b, far = rows(found, "a", "a-near", "b", "b-far")
    log = DecisionLog(found)
    plain, decided = tmp_path / "plain.jsonl", tmp_path / "decided.jsonl"
    log.add("keep", near, a, 0.9)
    log.add("reject", b, far, 0.8)
    code, said = run_cli("apply", str(found.path), "--out", str(decided), "--json")
    answer = json.loads(said)
    assert answer["decisions"] == 2 and code == 0
    ids = {row["id"] for row in read_jsonl(decided)}
    assert "a-near" in ids and "a" not in ids and {"b", "b-far"} <= ids
    assert len(ids) == summarize(found, decisions=read_decisions(found)).kept == answer["written"]
    shown = run("apply", str(found.path), "--out", str(tmp_path / "shown.jsonl"))
    assert b"applied with 2 decisions of a review" in shown.stdout
    run_cli("apply", str(found.path), "--out", str(plain), "--no-decisions")
    ids = {row["id"] for row in read_jsonl(plain)}
    assert "a" in ids and "a-near" not in ids and "b-far" not in ids
    assert json.loads(run_cli("clusters", str(found.path), "--json")[1])["decisions"] == 2
    assert json.loads(run_cli("clusters", str(found.path), "--json", "--no-decisions")[1])["decisions"] == 0
    explained = run_cli("explain", "-f", str(found.path), "a", "a-near")[1]
    assert "a is dropped" in explained and "a-near is kept" in explained


def test_decisions_are_labels(found, tmp_path):
    with pytest.raises(DataError, match="neardup review"):
        read_labels(found.path)
    a, near, b, far = rows(found, "a", "a-near", "b", "b-far")
    log = DecisionLog(found)
    log.add("reject", a, near, 0.9)
    log.add("accept", a, near, 0.9)
    log.add("reject", b, far, 0.8)
    log.add("keep", near, a, 0.9)
    wanted = [("a", "a-near", 1.0), ("b", "b-far", 0.0)]
    assert read_labels(found.path) == read_labels(found.path / DECISIONS) == wanted
    out = tmp_path / "export.jsonl"
    code, said = run_cli("review", str(found.path), "--export", str(out))
    assert code == 0 and "3 decisions" in said
    assert read_labels(out) == wanted
    assert run("review", str(found.path), "--export", "-").stdout == out.read_bytes()
    corpus = found.manifest["inputs"][0]["path"]
    code, said = run_cli("calibrate", corpus, "--labels", str(found.path), "--json")
    assert code == 0 and json.loads(said)["labels"] == 2
    assert run_cli("calibrate", corpus, "--labels", str(found.path), "--label")[0] == 2


def test_a_log_that_was_replaced_is_read_again(found):
    """Moved away, rewritten by an editor, or put back: what is in the file counts, and none of it is cut off."""
    a, near, b, far = rows(found, "a", "a-near", "b", "b-far")
    log, path = DecisionLog(found), found.path / DECISIONS
    log.add("reject", a, near)
    log.add("reject", b, far)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[1] + lines[0] * 2)  # in place, and longer
    assert len(log.refresh()) == 2
    path.unlink()
    other = DecisionLog(found)
    other.add("accept", b, far)
    other.add("accept", a, far)
    other.add("accept", a, b)
    assert [d.decision for d in log.refresh()] == ["accept"] * 3
    path.write_bytes(lines[0] + lines[1][:-1] + b" " * 500)  # a whole line, and one that lost its end
    path.write_bytes(path.read_bytes() + b"\n" + lines[1])
    log.add("keep", near, b)
    assert [d.decision for d in read_decisions(found)] == ["reject", "reject", "keep"]
    assert log.refresh().revision == read_decisions(found).revision


def test_a_damaged_line_takes_nothing_and_keeps_its_number(found):
    a, near = rows(found, "a", "a-near")
    log, path = DecisionLog(found), found.path / DECISIONS
    log.add("reject", a, near)
    whole = path.read_bytes()
    path.write_bytes(whole + whole + b"nonsense\n")
    for _ in range(2):
        with pytest.raises(FormatError, match="line 3"):
            log.refresh()
        with pytest.raises(FormatError, match="line 3"):
            log.add("accept", a, near)
    assert path.read_bytes() == whole + whole + b"nonsense\n"


def test_decisions_of_other_documents_are_named_to_a_reviewer(found, tmp_path):
    """With a way out that is there: `review` has no --no-decisions."""
    (tmp_path / "other").mkdir()
    other = scanned(tmp_path / "other", documents()[:-1])
    a, near = rows(found, "a", "a-near")
    DecisionLog(found).add("reject", a, near)
    (other.path / DECISIONS).write_bytes((found.path / DECISIONS).read_bytes())
    shown = run("review", str(other.path), "--no-open")
    assert shown.returncode == 1 and b"move the file away to start over" in shown.stderr
    (other.path / DECISIONS).rename(tmp_path / "away.jsonl")
    for command in ("apply", "dedup", "clusters", "explain", "report"):
        wanted = "--help-all" if command == "dedup" else "--help"
        assert "--no-decisions" in run_cli(command, wanted)[1]
        assert command in shown.stderr.decode()


def test_pairs_are_written_as_decided(found, tmp_path):
    log, out = DecisionLog(found), tmp_path / "pairs.jsonl"

    def written(*options: str) -> set[frozenset[str]]:
        assert run_cli("apply", str(found.path), "--pairs", str(out), "--overwrite", *options)[0] == 0
        return {frozenset((pair["left"], pair["right"])) for pair in read_jsonl(out)}

    before = written()
    near, same, alone = frozenset(("a", "a-near")), frozenset(("b", "b-same")), frozenset(("a", "alone"))
    assert {near, same} <= before and alone not in before
    log.add("reject", *rows(found, "a", "a-near"), 0.9)
    log.add("reject", *rows(found, "b", "b-same"), 1.0)
    log.add("accept", *rows(found, "a", "alone"), 0.01)
    assert written() == (before - {near, same}) | {alone}
    assert written("--no-decisions") == before
    assert same not in written("--implied") and same in written("--implied", "--no-decisions")
    assert run_cli("clusters", str(found.path), "--pairs", str(out), "--overwrite")[0] == 0
    assert len(read_jsonl(out)) == len(before) - 1


def test_a_document_kept_by_decision_is_in_no_cluster_of_others(found, tmp_path):
    b, same = rows(found, "b", "b-same")
    DecisionLog(found).add("reject", b, same, 1.0)
    apply(found, tmp_path / "notes.jsonl", write="annotated")
    note = {row["id"]: row for row in read_jsonl(tmp_path / "notes.jsonl")}["b-same"]
    assert note["neardup_keep"] and note["neardup_cluster"] == note["neardup_keeper"] == "b-same"
    assert note["neardup_similarity"] == 1
    assert (
        "b-same is kept: a person decided this" in run_cli("explain", "-f", str(found.path), "b", "b-same")[1]
    )
    # The others keep together, under the name of one of them.
    cut = decided_cut(found)
    near, far = rows(found, "b-near", "b-far")
    assert len({int(cut.clusters.labels[row]) for row in (b, near, far)}) == 1
    assert cut.clusters.labels[same] == same


def test_one_document_chosen_over_several(found):
    b, near, far, alone = rows(found, "b", "b-near", "b-far", "alone")
    log = DecisionLog(found)
    log.add("keep", far, b, 0.8)
    log.add("keep", far, alone, 0.01)
    assert len(read_decisions(found)) == 2
    cut = decided_cut(found, 1.0)
    assert cut.kept[far] and not cut.kept[b] and not cut.kept[alone]
    assert cut.clusters.keeper[b] == cut.clusters.keeper[alone] == far
    # One of the two is taken back, and then the keeper itself is dropped for another.
    log.add("clear", b, far)
    assert decided_cut(found, 1.0).kept[b] and not decided_cut(found, 1.0).kept[alone]
    log.add("keep", near, far, 0.8)
    assert [d.sequence for d in read_decisions(found)] == [4] and not decided_cut(found, 1.0).kept[far]


def test_a_chosen_document_is_kept_when_the_other_is_chosen_over_a_third(found):
    b, near, far = rows(found, "b", "b-near", "b-far")
    log = DecisionLog(found)
    log.add("keep", near, b, 0.9)
    log.add("keep", b, far, 0.8)
    assert len(read_decisions(found)) == 2
    cut = decided_cut(found)
    assert cut.kept[near] and not cut.kept[b] and cut.clusters.keeper[b] == near
    # Only if it is chosen over the first itself does that one go.
    log.add("keep", b, near, 0.9)
    assert decided_cut(found).clusters.keeper[near] == decided_cut(found).clusters.keeper[far] == b


def test_dedup_does_what_was_decided(tmp_path):
    found = scanned(tmp_path)
    corpus, out = str(tmp_path / "in.jsonl"), tmp_path / "kept.jsonl"
    arguments = ("dedup", corpus, "--out", str(out), "--json")
    assert run_cli(*arguments)[0] == 0
    before = {row["id"] for row in read_jsonl(out)}
    of_dedup = Findings(f"{out}.findings")
    DecisionLog(of_dedup).add("reject", *rows(of_dedup, "b", "b-same"), 1.0)
    code, said = run_cli(*arguments, "--overwrite")
    assert code == 0 and json.loads(said)["decisions"] == 1
    assert {row["id"] for row in read_jsonl(out)} == before | {"b-same"}
    assert run_cli(*arguments, "--overwrite", "--no-decisions")[0] == 0
    assert {row["id"] for row in read_jsonl(out)} == before
    assert len(found) == len(of_dedup)
