"""Audit: a person judges random removals, and the share of right ones follows with its interval.

Answers are lines of `audit.jsonl` in the findings folder, appended one by one. They hold for the findings they were
given for; an answer counts while its document is removed for the same keeper.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.errors import FormatError
from neardup.findings.decisions import identity
from neardup.findings.folder import Findings
from neardup.findings.summary import dropped_rows
from neardup.values.intervals import wilson

__all__ = ["AUDIT", "Answer", "Audit", "Verdict", "audited", "draw_removals", "read_audit", "record"]

AUDIT = "audit.jsonl"
Verdict = Literal["right", "wrong", "unsure"]


@dataclass(frozen=True)
class Answer:
    """What a person said of one removal."""

    row: int
    keeper: int
    verdict: Verdict
    date: str = ""


@dataclass(frozen=True)
class Audit:
    """What the answers say of all removals: `share` of them are right, with a 95% interval; None without answers.
    `unsure` answers count for nothing."""

    removals: int
    right: int
    wrong: int
    unsure: int
    share: float | None
    low: float
    high: float

    @classmethod
    def of(cls, removals: int, answers: list[Answer]) -> Audit:
        """The estimate for so many removals. An audit of all of them is no estimate: its interval is the share."""
        said = [answer.verdict for answer in answers]
        right, wrong = said.count("right"), said.count("wrong")
        judged = right + wrong
        if not judged:
            return cls(removals, 0, 0, said.count("unsure"), None, 0.0, 1.0)
        share = right / judged
        low = high = share
        if judged < removals:
            # Of a finite number of removals, a sample says more than of an endless one.
            effective = judged * (removals - 1) / (removals - judged)
            low, high = wilson(share, effective)
        return cls(removals, right, wrong, said.count("unsure"), share, low, high)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        if self.share is None:
            return f"No removal of {self.removals:,} is judged yet."
        judged = self.right + self.wrong
        return (
            f"{self.share:.0%} of {self.removals:,} removals are right "
            f"(95% interval {self.low:.0%} to {self.high:.0%}), "
            f"from {judged:,} judged: {self.right:,} right, {self.wrong:,} wrong, {self.unsure:,} unsure."
        )


def draw_removals(findings: Findings, cut: Cut, many: int, seed: int = 1) -> list[tuple[int, int]]:
    """Random removals, each with its keeper; those that are judged already are left out. The same seed draws the same
    removals in the same order, so that an audit can go on later."""
    rows = dropped_rows(findings, cut)
    judged = {(answer.row, answer.keeper) for answer in read_audit(findings)}
    drawn = np.random.default_rng(seed).permutation(rows)[:many]
    pairs = [(int(row), int(cut.clusters.keeper[row])) for row in drawn]
    return [pair for pair in pairs if pair not in judged]


def record(findings: Findings, row: int, keeper: int, verdict: Verdict) -> Answer:
    """Append an answer to the findings folder."""
    answer = Answer(row, keeper, verdict, datetime.now(UTC).isoformat(timespec="seconds"))
    line = json.dumps(asdict(answer) | {"findings": identity(findings)})
    with (findings.path / AUDIT).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return answer


def read_audit(findings: Findings) -> list[Answer]:
    """The answers that were given for these findings; of several for one removal the last."""
    return list({(answer.row, answer.keeper): answer for answer in _lines(findings)}.values())


def audited(findings: Findings, cut: Cut) -> Audit:
    """What the answers say of the removals of this cut."""
    rows: NDArray[np.int64] = dropped_rows(findings, cut)
    gone = {(int(row), int(cut.clusters.keeper[row])) for row in rows}
    return Audit.of(len(rows), [a for a in read_audit(findings) if (a.row, a.keeper) in gone])


def _lines(findings: Findings) -> Iterator[Answer]:
    path, own = findings.path / AUDIT, identity(findings)
    if not path.exists():
        return
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            said = json.loads(line)
            answer = Answer(int(said["row"]), int(said["keeper"]), said["verdict"], str(said["date"]))
            mine = said["findings"] == own
        except (ValueError, KeyError, TypeError):
            raise FormatError(path, "an answer", f"something else in line {number}") from None
        if answer.verdict not in get_args(Verdict):
            raise FormatError(
                path, f"one of {', '.join(get_args(Verdict))}", f"{answer.verdict!r} in line {number}"
            )
        if mine:
            yield answer
