"""Audits: random removals, judged by a person, and the share of right ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from neardup.cli import cli
from neardup.errors import FormatError
from neardup.findings import DecisionLog, Findings, decided_cut
from neardup.findings.audit import AUDIT, Drawn, audited, draw_removals, read_audit, record
from neardup.findings.scan import scan


@pytest.fixture
def found(tmp_path: Path) -> Findings:
    words = " ".join(f"word{n}" for n in range(80))
    rows = [{"id": f"d{n}", "text": f"{words} and the number {n}"} for n in range(30)]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return scan(tmp_path / "pages.jsonl", tmp_path / "findings")


def test_an_audit_continues_where_it_stopped(found: Findings) -> None:
    cut = found.cut()
    drawn = draw_removals(found, cut, 10, seed=3)
    assert len(drawn) == 10 and all(not cut.kept[row] and cut.kept[keeper] for row, keeper, _ in drawn)
    assert draw_removals(found, cut, 10, seed=3) == drawn != draw_removals(found, cut, 10, seed=4)
    record(found, drawn[0], "wrong")
    record(found, drawn[0], "right")  # the last answer counts
    assert draw_removals(found, cut, 10, seed=3) == drawn[1:]
    assert [answer.verdict for answer in read_audit(found)] == ["right"]
    assert (audited(found, cut).right, audited(found, cut).removals) == (1, 29)


def test_answers_for_other_findings_or_keepers_do_not_count(found: Findings) -> None:
    cut = found.cut()
    (row, keeper, lane), *_ = draw_removals(found, cut, 1)
    record(found, Drawn(row, keeper + 1, lane), "wrong")
    line = json.loads((found.path / AUDIT).read_text("utf-8"))
    line.pop("checksum")  # answers of earlier versions have none
    strange = json.dumps(line | {"findings": "of another scan", "keeper": keeper})
    (found.path / AUDIT).write_text(f"{json.dumps(line)}\n{strange}\n", "utf-8")
    assert audited(found, cut).share is None


def test_a_damaged_file_is_reported(found: Findings) -> None:
    (found.path / AUDIT).write_text('{"row": 1}\n', "utf-8")
    with pytest.raises(FormatError, match="line 1"):
        read_audit(found)


def test_no_flipped_bit_changes_an_answer(found: Findings) -> None:
    drawn = draw_removals(found, found.cut(), 2)
    for pair in drawn:
        record(found, pair, "right")
    path = found.path / AUDIT
    sound, answers = path.read_bytes(), read_audit(found)
    for bit in range(8 * len(sound)):
        path.write_bytes(sound[: bit // 8] + bytes([sound[bit // 8] ^ 1 << bit % 8]) + sound[bit // 8 + 1 :])
        with pytest.raises(FormatError, match=AUDIT):
            read_audit(found)
    path.write_bytes(sound[:-9])  # a crash in the middle of the last line
    assert read_audit(found) == answers[:1]
    record(found, drawn[1], "unsure")
    assert [answer.verdict for answer in read_audit(found)] == ["right", "unsure"]


def test_the_command(found: Findings) -> None:
    run = CliRunner()
    said = run.invoke(cli, ["audit", str(found.path), "-n", "4", "--json"], input="y\nn\n?\ny\n")
    assert said.exit_code == 0, said.output
    answer = json.loads(said.stdout.splitlines()[-1])
    assert (answer["right"], answer["wrong"], answer["unsure"], answer["removals"]) == (2, 1, 1, 29)
    assert answer["low"] < answer["share"] < answer["high"]
    again = run.invoke(cli, ["audit", str(found.path), "--no-ask"])
    assert "67% of 29 removals are right (95% interval" in again.output


def test_a_corrected_mistake_still_counts_for_the_others(found: Findings) -> None:
    drawn = draw_removals(found, found.cut(), 10)
    for at, one in enumerate(drawn):
        record(found, one, "wrong" if at < 2 else "right", "Ada")
    before = audited(found, found.cut())
    assert (before.share, before.corrected, before.names) == (pytest.approx(0.8), 0, ("Ada",))
    log = DecisionLog(found)
    for row, keeper, _ in drawn[:2]:
        log.add("reject", keeper, row)
    cut = decided_cut(found)
    after = audited(found, cut)
    # 8 of 10 were right: of the 27 that are still removed, about 29 * .8 are right, not all.
    assert (after.removals, after.corrected, after.judged) == (27, 2, 10)
    assert after.share == pytest.approx(29 * 0.8 / 27)
    assert "2 wrong (2 of them corrected since)" in str(after)


def test_an_answer_is_withdrawn_and_a_torn_line_ignored(found: Findings) -> None:
    cut = found.cut()
    one, *_ = draw_removals(found, cut, 5)
    record(found, one, "wrong")
    record(found, one, "withdrawn")
    assert not read_audit(found)
    with (found.path / AUDIT).open("a") as file:
        file.write('{"row": 1, "kee')  # a crash
    assert not read_audit(found)
    record(found, one, "right")
    assert [answer.verdict for answer in read_audit(found)] == ["right"]


def test_identical_removals_count_as_right_without_a_question(tmp_path: Path) -> None:
    words = " ".join(f"word{n}" for n in range(80))
    rows = [{"id": f"d{n}", "text": words if n < 6 else words + " more"} for n in range(7)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = scan(tmp_path / "in.jsonl", tmp_path / "findings")
    cut = found.cut()
    assert audited(found, found.cut(1.0)).share == 1.0  # five copies, all identical
    drawn = draw_removals(found, cut, 99)
    assert (
        len(drawn) == 6 and audited(found, cut).share is None
    )  # the longer one is kept: none is identical to it
