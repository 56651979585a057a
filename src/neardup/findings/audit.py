"""Audit: a person judges random removals, and the share of right ones follows with its interval.

Answers are lines of `audit.jsonl` in the findings folder, appended one by one. They hold for the findings they were
given for; an answer counts while its document is removed for the same keeper. If a person rejects a pair that was
judged wrong, its document is kept, and the answer still says how many of the others are wrong.

Removals are drawn from all lanes in proportion (findings/lanes.py). Byte-identical ones are not asked about: they count
as right.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.errors import ConfigError, FormatError
from neardup.findings.decision_log import FindingsReplaced, identity, read_decisions
from neardup.findings.decisions import Decisions
from neardup.findings.estimate import JudgedCase, estimate
from neardup.findings.folder import Findings
from neardup.findings.lanes import LANES, Removals, described, removals_of
from neardup.storage.atomic_file import write_at
from neardup.storage.checked_json import check_names, checked_json, complete_lines, parse_checked
from neardup.storage.lock import FileLock
from neardup.storage.regular_file import read_regular
from neardup.values.wording import counted

__all__ = [
    "AUDIT", "Answer", "Audit", "Drawn", "Verdict", "audit_of", "audit_order", "audited", "draw_removals", "read_audit",
    "record",
]  # fmt: skip

AUDIT = "audit.jsonl"
Verdict = Literal["right", "wrong", "unsure", "withdrawn"]
LONGEST_NAME = 100
_NAMES = {"row", "keeper", "verdict", "date", "name", "lane", "findings"}
_IDENTICAL = LANES.index("identical")


class Drawn(NamedTuple):
    """A removal to judge: the removed row, its keeper, and the lane it was in."""

    row: int
    keeper: int
    lane: str


@dataclass(frozen=True)
class Answer:
    """What a person said of one removal, when, and who it was; `lane` is the one it was drawn from."""

    row: int
    keeper: int
    verdict: Verdict
    date: str = ""
    name: str = ""
    lane: str = ""


@dataclass(frozen=True)
class Audit:
    """What the answers say of all removals: `share` of them are right, with a 95% interval; None if nothing is known.

    `identical` removals count as right without an answer. `unsure` answers count for nothing. `corrected` were judged
    wrong and are no longer removed. `cases` is the number of independent answers that would say as much. `names` are
    those of the people who answered, `last` is the date of the last answer.
    """

    removals: int
    identical: int
    right: int
    wrong: int
    unsure: int
    corrected: int
    share: float | None
    low: float
    high: float
    cases: float | None = None
    names: tuple[str, ...] = ()
    last: str = ""

    @property
    def judged(self) -> int:
        return self.right + self.wrong

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self) | {"judged": self.judged, "names": list(self.names)}

    def __str__(self) -> str:
        if self.share is None:
            return f"No removal of {self.removals:,} is judged yet."
        if not self.judged:
            return f"All {counted(self.removals, 'removal')} are byte-identical to their keepers."
        more = f"; {self.identical:,} byte-identical ones count as right" if self.identical else ""
        corrected = f" ({self.corrected:,} of them corrected since)" if self.corrected else ""
        return (
            f"{self.share:.0%} of {self.removals:,} removals are right "
            f"(95% interval {self.low:.0%} to {self.high:.0%}), "
            f"from {self.judged:,} judged: {self.right:,} right, {self.wrong:,} wrong{corrected}, "
            f"{self.unsure:,} unsure{more}."
        )


def audit_order(removals: Removals, seed: int = 1) -> NDArray[np.int64]:
    """Places of all removals but the byte-identical ones in random order, such that every beginning has about the same
    share of each lane."""
    random = np.random.default_rng(seed)
    places, turns = [], []
    for lane in range(len(LANES)):
        mine = random.permutation(np.flatnonzero(removals.lanes == lane))
        if lane != _IDENTICAL and len(mine):
            places.append(mine)
            turns.append((np.arange(len(mine)) + random.random()) / len(mine))
    if not places:
        return np.zeros(0, np.int64)
    return np.concatenate(places)[np.argsort(np.concatenate(turns), kind="stable")]


def draw_removals(findings: Findings, cut: Cut, many: int, seed: int = 1) -> list[Drawn]:
    """Random removals, each with its keeper; those that are judged already are left out. The same seed draws the same
    removals in the same order, so that an audit can go on later."""
    removals = removals_of(findings, cut)
    judged = {(answer.row, answer.keeper) for answer in read_audit(findings)}
    drawn = audit_order(removals, seed)[:many]
    columns = (removals.rows[drawn], removals.keepers[drawn], removals.lanes[drawn])
    pairs = zip(*(column.tolist() for column in columns), strict=True)
    return [Drawn(row, keeper, LANES[lane]) for row, keeper, lane in pairs if (row, keeper) not in judged]


def record(findings: Findings, drawn: Drawn, verdict: Verdict, name: str = "") -> Answer:
    """Append an answer to the findings folder; it is on disk when this returns."""
    if verdict not in get_args(Verdict):
        raise ConfigError(f"an answer is {', '.join(get_args(Verdict))}, not {verdict!r}")
    if findings.replaced():
        raise FindingsReplaced(findings.path)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    answer = Answer(drawn.row, drawn.keeper, verdict, date, name.strip()[:LONGEST_NAME], drawn.lane)
    line = checked_json(asdict(answer) | {"findings": identity(findings)}, indent=None) + b"\n"
    path = findings.path / AUDIT
    with FileLock(path, mode=0o666) as lock:
        end = len(complete_lines(path.read_bytes(), path))
        os.ftruncate(lock.handle, end)  # remove the beginning of a line that was never confirmed
        write_at(lock.handle, line, end)
        os.fsync(lock.handle)
    return answer


def read_audit(findings: Findings) -> list[Answer]:
    """The answers that were given for these findings; of several for one removal the last."""
    last = {(answer.row, answer.keeper): answer for answer in _lines(findings)}
    return [answer for answer in last.values() if answer.verdict != "withdrawn"]


def audited(findings: Findings, cut: Cut, decisions: Decisions | None = None) -> Audit:
    """What the answers say of the removals of this cut; `decisions` are those that the cut was made with."""
    decisions = read_decisions(findings) if decisions is None else decisions
    return audit_of(findings, cut, removals_of(findings, cut), decisions)


def audit_of(findings: Findings, cut: Cut, removals: Removals, decisions: Decisions) -> Audit:
    """The same for removals that are known already."""
    answers, corrected = [], []
    for answer in read_audit(findings):
        at = removals.of(answer.row)
        if at is not None and removals.keepers[at] == answer.keeper:
            answers.append((answer, int(removals.lanes[at]), int(removals.labels[at])))
        elif answer.verdict == "wrong" and _rejected(answer, decisions):
            corrected.append(answer)
    rows, keepers = (np.array([getattr(a, name) for a in corrected], np.int64) for name in ("row", "keeper"))
    again = described(findings, cut, rows, keepers)
    # A corrected removal is of the lane it was drawn from: that of what is left of its cluster may be another one.
    lanes = [
        LANES.index(answer.lane) if answer.lane in LANES else lane
        for answer, lane in zip(corrected, again.lanes.tolist(), strict=True)
    ]
    answers += list(zip(corrected, lanes, cut.clusters.labels[keepers].tolist(), strict=True))
    said = Counter(answer.verdict for answer, *_ in answers)
    identical = int((removals.lanes == _IDENTICAL).sum())
    sizes = Counter(removals.lanes.tolist())
    del sizes[_IDENTICAL]
    sizes.update(lane for lane in lanes if lane != _IDENTICAL)
    cases = [
        JudgedCase(lane, label, answer.verdict == "right")
        for answer, lane, label in answers
        if answer.verdict != "unsure" and lane != _IDENTICAL
    ]
    found = estimate(sizes, cases)
    known = len(removals) > 0 and identical == len(removals)
    nothing = Audit(
        len(removals), identical, said["right"], said["wrong"], said["unsure"], len(corrected),
        share=1.0 if known else None, low=float(known), high=1.0,
        names=tuple(sorted({answer.name for answer, *_ in answers if answer.name})),
        last=max((answer.date for answer, *_ in answers), default=""),
    )  # fmt: skip
    if found is None:
        return nothing
    # Of the population, the corrected ones are wrong and no longer removed: all right ones are among the rest.
    population = sum(sizes.values())

    def now(share: float) -> float:
        return min(1.0, (identical + share * population) / max(1, len(removals)))

    finite = None if found.cases == float("inf") else round(found.cases, 1)
    return replace(nothing, share=now(found.value), low=now(found.low), high=now(found.high), cases=finite)


def _rejected(answer: Answer, decisions: Decisions) -> bool:
    made = decisions.pairs.get((min(answer.row, answer.keeper), max(answer.row, answer.keeper)))
    return made is not None and made.decision == "reject"


def _lines(findings: Findings) -> Iterator[Answer]:
    path, own = findings.path / AUDIT, identity(findings)
    if not path.exists():
        return
    for number, line in enumerate(complete_lines(read_regular(path), path).split(b"\n")[:-1], 1):
        said, _ = parse_checked(line, path, f"an answer in line {number}")
        check_names(said, _NAMES, path, f"line {number}")
        try:
            name, lane = str(said.get("name", "")), str(said.get("lane", ""))
            answer = Answer(
                int(said["row"]), int(said["keeper"]), said["verdict"], str(said["date"]), name, lane
            )
            mine = said["findings"] == own
        except (ValueError, KeyError, TypeError):
            raise FormatError(path, "an answer", f"something else in line {number}") from None
        if answer.verdict not in get_args(Verdict):
            raise FormatError(
                path, f"one of {', '.join(get_args(Verdict))}", f"{answer.verdict!r} in line {number}"
            )
        inside = min(answer.row, answer.keeper) >= 0 and max(answer.row, answer.keeper) < len(findings)
        if mine and inside:
            yield answer
