"""Decisions of a person about pairs of scanned documents: one line of the log, and the final state of all lines.

docs/reference/format.md, "Decisions", describes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from neardup.errors import FormatError
from neardup.storage.checked_json import parse_checked
from neardup.storage.regular_file import open_regular, read_regular
from neardup.values.checks import checked_methods

__all__ = ["Decision", "Decisions", "How", "Kind", "decided_labels", "is_log", "parse_decision"]

Kind = Literal["accept", "reject", "keep", "unsure", "clear"]
How = Literal["one", "bulk", "model"]
_NAMES = {
    "sequence", "time", "decision", "left", "right", "label", "similarity", "left_row", "right_row", "documents",
    "name", "note", "how",
}  # fmt: skip
LABELS: dict[str, int | None] = {"accept": 1, "reject": 0, "keep": None, "unsure": None, "clear": None}


@dataclass(frozen=True)
class Decision:
    """One decision of a person about two documents: `left` is the one that is kept, `right` is compared with it.

    accept  they are duplicates                    keep   left is kept, and right is dropped as its duplicate
    reject  they are not, and right is also kept   clear  earlier decisions about them are removed
    unsure  a mark to come back to; it changes nothing else

    `name` says who decided and `note` why, if they said so. `how` is "one" for a pair that a person looked at, "bulk"
    for a whole selection, "model" for a proposal of the learned model that a person accepted.

    sequence             the number of the decision, from 1
    time                 when it was made, ISO 8601 in UTC
    left_row, right_row  the rows of the two documents in the scan
    similarity           what the person saw, or None

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> log = nd.findings.DecisionLog(findings)
    >>> decision = log.add("reject", findings.row_of("page-208"), findings.row_of("page-038"))
    >>> decision.decision, decision.left, decision.right
    ('reject', 'page-208', 'page-038')
    """

    sequence: int
    time: str
    decision: Kind
    left: str
    right: str
    left_row: int
    right_row: int
    similarity: float | None
    name: str = ""
    note: str = ""
    how: How = "one"

    @property
    def pair(self) -> tuple[int, int]:
        """The rows, the smaller first."""
        return min(self.left_row, self.right_row), max(self.left_row, self.right_row)

    @property
    def label(self) -> int | None:
        """1: duplicates, 0: not duplicates, None: neither."""
        return LABELS[self.decision]

    def to_json(self) -> dict[str, Any]:
        return {
            "sequence": self.sequence,
            "time": self.time,
            "decision": self.decision,
            "left": self.left,
            "right": self.right,
            "label": self.label,
            "similarity": self.similarity,
            "left_row": self.left_row,
            "right_row": self.right_row,
            **{name: value for name, value in (("name", self.name), ("note", self.note)) if value},
            **({"how": self.how} if self.how != "one" else {}),
        }


@checked_methods
@dataclass
class Decisions:
    """The decisions in force: `pairs` has the accepted and rejected pairs, `choices` the chosen keepers, `marks` the
    pairs that a person was unsure about and has not decided since. Each has one decision for each pair of rows, the
    latest decision last. Marks change nothing, so they are not counted.

    revision  how many lines of the log were read; it grows with every decision

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> decisions = nd.findings.read_decisions(findings)
    >>> decisions.revision, len(decisions.pairs)
    (0, 0)
    """

    revision: int = 0
    pairs: dict[tuple[int, int], Decision] = field(default_factory=dict)
    choices: dict[tuple[int, int], Decision] = field(default_factory=dict)
    marks: dict[tuple[int, int], Decision] = field(default_factory=dict)

    def add(self, decision: Decision) -> None:
        """The last decision about a pair counts. A document is a chosen keeper until another one is chosen over it."""
        self.revision = decision.sequence
        self.marks.pop(decision.pair, None)
        if decision.decision == "unsure":
            self.marks[decision.pair] = decision
            return
        if decision.decision in ("accept", "reject"):
            self.pairs[decision.pair] = decision
            if decision.decision == "reject":
                self.choices.pop(decision.pair, None)
            return
        self.choices.pop(decision.pair, None)
        if decision.decision == "clear":
            self.pairs.pop(decision.pair, None)
            return
        earlier = self.pairs.get(decision.pair)
        if earlier is not None and earlier.decision == "reject":
            del self.pairs[decision.pair]
        self.choices = {p: d for p, d in self.choices.items() if d.left_row != decision.right_row}
        self.choices[decision.pair] = decision

    @property
    def chosen(self) -> dict[int, Decision]:
        """The rows that were chosen as keepers, each with its last decision, the latest decision last."""
        latest: dict[int, Decision] = {}
        for decision in self.choices.values():
            latest.pop(decision.left_row, None)
            latest[decision.left_row] = decision
        return latest

    def __len__(self) -> int:
        """How many decisions are in force."""
        return len(self.pairs) + len(self.choices)

    def __iter__(self) -> Iterator[Decision]:
        """The decisions in force, in the order they were made."""
        return iter(sorted((*self.pairs.values(), *self.choices.values()), key=lambda d: d.sequence))

    def to_jsonl(self) -> str:
        """The decisions in force, one JSON object per line; `neardup calibrate` and `evaluate` read them as labels."""
        return "".join(json.dumps(decision.to_json(), ensure_ascii=False) + "\n" for decision in self)

    def of(self, kind: Kind) -> list[Decision]:
        return [decision for decision in self if decision.decision == kind]


def is_log(path: Path) -> bool:
    """Whether a file is a log of decisions or an export of one, and not another kind of table."""
    try:
        with open(open_regular(path), "rb") as file:
            first = json.loads(file.readline(1 << 20))
        return isinstance(first, dict) and {"sequence", "decision", "left_row"} <= first.keys()
    except (OSError, ValueError, RecursionError):
        return False


def decided_labels(path: Path) -> list[tuple[str, str, float]]:
    """Pairs that were accepted (1) or rejected (0), by the last decision about each; `path` is a log or an export."""
    decisions = Decisions()
    for number, line in enumerate(_whole_lines(path), 1):
        decisions.add(parse_decision(line, path, number)[0])
    return [(d.left, d.right, float(d.label)) for d in decisions if d.label is not None]


def _whole_lines(path: Path) -> Iterable[bytes]:
    data = read_regular(path)
    return data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]


def parse_decision(line: bytes, path: Path, number: int) -> tuple[Decision, str]:
    try:
        record, checked = parse_checked(line, path, "a decision")
        if not checked and not record.keys() <= _NAMES:
            raise ValueError
        similarity = record["similarity"]
        decision = Decision(
            int(record["sequence"]),
            str(record["time"]),
            record["decision"],
            str(record["left"]),
            str(record["right"]),
            int(record["left_row"]),
            int(record["right_row"]),
            None if similarity is None else float(similarity),
            str(record.get("name", "")),
            str(record.get("note", "")),
            record.get("how", "one"),
        )
        known = decision.decision in get_args(Kind) and decision.how in get_args(How)
        if not known or decision.left_row == decision.right_row:
            raise ValueError
        return decision, str(record.get("documents"))
    except (ValueError, KeyError, TypeError, OverflowError):
        raise FormatError(path, f"a decision on line {number}", "something else, or a damaged one") from None
