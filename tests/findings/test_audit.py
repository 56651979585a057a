"""Audits: random removals, judged by a person, and the share of right ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from neardup.cli import cli
from neardup.errors import FormatError
from neardup.evaluate.metrics import wilson
from neardup.findings import Findings
from neardup.findings.audit import AUDIT, Answer, Audit, audited, draw_removals, read_audit, record
from neardup.findings.scan import scan


@pytest.fixture
def found(tmp_path: Path) -> Findings:
    words = " ".join(f"word{n}" for n in range(80))
    rows = [{"id": f"d{n}", "text": f"{words} and the number {n}"} for n in range(30)]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return scan(tmp_path / "pages.jsonl", tmp_path / "findings")


def test_the_interval_narrows_and_ends() -> None:
    answers = [Answer(row, 0, "wrong" if row < 2 else "right") for row in range(20)]
    many, some = Audit.of(1_000_000, answers), Audit.of(40, answers)
    assert many.share == some.share == pytest.approx(0.9)
    assert (many.low, many.high) == pytest.approx(wilson(0.9, 20), abs=1e-3)
    assert many.low < some.low < 0.9 < some.high < many.high
    whole = Audit.of(20, answers)
    assert (whole.low, whole.high) == (0.9, 0.9)
    assert Audit.of(10, [Answer(1, 0, "unsure")]).share is None


def test_an_audit_goes_on_where_it_stopped(found: Findings) -> None:
    cut = found.cut()
    drawn = draw_removals(found, cut, 10, seed=3)
    assert len(drawn) == 10 and all(not cut.kept[row] and cut.kept[keeper] for row, keeper in drawn)
    assert draw_removals(found, cut, 10, seed=3) == drawn != draw_removals(found, cut, 10, seed=4)
    record(found, *drawn[0], "wrong")
    record(found, *drawn[0], "right")  # the last answer counts
    assert draw_removals(found, cut, 10, seed=3) == drawn[1:]
    assert [answer.verdict for answer in read_audit(found)] == ["right"]
    assert (audited(found, cut).right, audited(found, cut).removals) == (1, 29)


def test_answers_for_other_findings_or_keepers_do_not_count(found: Findings) -> None:
    cut = found.cut()
    (row, keeper), *_ = draw_removals(found, cut, 1)
    record(found, row, keeper + 1, "wrong")
    line = json.loads((found.path / AUDIT).read_text("utf-8"))
    strange = json.dumps(line | {"findings": "of another scan", "keeper": keeper})
    (found.path / AUDIT).write_text(f"{json.dumps(line)}\n{strange}\n", "utf-8")
    assert audited(found, cut).share is None


def test_a_damaged_file_is_told(found: Findings) -> None:
    (found.path / AUDIT).write_text('{"row": 1}\n', "utf-8")
    with pytest.raises(FormatError, match="line 1"):
        read_audit(found)


def test_the_command(found: Findings) -> None:
    run = CliRunner()
    said = run.invoke(cli, ["audit", str(found.path), "-n", "4", "--json"], input="y\nn\n?\ny\n")
    assert said.exit_code == 0, said.output
    answer = json.loads(said.stdout.splitlines()[-1])
    assert (answer["right"], answer["wrong"], answer["unsure"], answer["removals"]) == (2, 1, 1, 29)
    assert answer["low"] < answer["share"] < answer["high"]
    again = run.invoke(cli, ["audit", str(found.path), "--no-ask"])
    assert "67% of 29 removals are right (95% interval" in again.output
