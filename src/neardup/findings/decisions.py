"""Decisions of a person about pairs of scanned documents: the log in the findings folder, and its final state.

docs/reference/format.md, "Decisions", describes the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from neardup.errors import ConfigError, DataError, FormatError
from neardup.findings.folder import Findings
from neardup.storage.atomic_file import sync_folder, write_at
from neardup.storage.checked_json import checked_json, parse_checked
from neardup.storage.lock import FileLock
from neardup.values.wording import printable

__all__ = [
    "DECISIONS",
    "Decision",
    "DecisionLog",
    "Decisions",
    "FindingsReplaced",
    "decided_labels",
    "is_log",
    "read_decisions",
]

DECISIONS = "decisions.jsonl"
Kind = Literal["accept", "reject", "keep", "clear"]
_NAMES = {
    "sequence", "time", "decision", "left", "right", "label", "similarity", "left_row", "right_row", "documents"
}  # fmt: skip
_END = re.compile(rb'"checksum": "[0-9a-f]{32}"\}.\Z', re.DOTALL)
LABELS: dict[str, int | None] = {"accept": 1, "reject": 0, "keep": None, "clear": None}


@dataclass(frozen=True)
class Decision:
    """One decision of a person about two documents: `left` is the one that is kept, `right` is compared with it.

    accept  they are duplicates                    keep   left is kept, and right is dropped as its duplicate
    reject  they are not, and right is also kept   clear  earlier decisions about them are removed
    """

    sequence: int
    time: str
    decision: Kind
    left: str
    right: str
    left_row: int
    right_row: int
    similarity: float | None

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
        }


@dataclass
class Decisions:
    """The decisions in force: `pairs` has the accepted and rejected pairs, `choices` the chosen keepers. Both have one
    decision for each pair of rows, the latest decision last."""

    revision: int = 0
    pairs: dict[tuple[int, int], Decision] = field(default_factory=dict)
    choices: dict[tuple[int, int], Decision] = field(default_factory=dict)

    def add(self, decision: Decision) -> None:
        """The last decision about a pair counts. A document is a chosen keeper until another one is chosen over it."""
        self.revision = decision.sequence
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


class FindingsReplaced(DataError):
    """The findings were replaced by those of another scan while they were open."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: another scan has replaced these findings. Nothing was saved. Reload the page, or open the "
            "findings again."
        )


class DecisionLog:
    """The log of one findings folder. New lines are read as the log grows; lines are appended under a lock.

    A decision is on disk before `add` returns. Any number of processes may have the same log open; each sees the
    decisions of the others when it next reads or writes. A crash can leave an incomplete last line, which was never
    confirmed: it is ignored, and the next decision overwrites it.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.path = findings.path / DECISIONS
        self.decisions = Decisions()
        self._identity = identity(findings)
        self._read = 0  # bytes
        self._lines = 0
        self._last = b""  # the last line read: shows whether the file is still the same

    def refresh(self) -> Decisions:
        """Read new lines of the log and return the decisions in force."""
        try:
            with open(self.path, "rb") as file:
                self._take(file.fileno())
        except FileNotFoundError:
            self._start_over()
        return self.decisions

    def _start_over(self) -> None:
        """Forget what was read: the log was moved away or replaced by another one."""
        if self._read:
            self.decisions, self._read, self._lines, self._last = Decisions(), 0, 0, b""

    def add(self, kind: Kind, left: int, right: int, similarity: float | None = None) -> Decision:
        """Add a decision about two rows; it is safely on disk when this returns."""
        if kind not in get_args(Kind):
            raise ConfigError(f"a decision is {', '.join(get_args(Kind))}, not {kind!r}")
        for row in (left, right):
            if not 0 <= row < len(self.findings):
                raise DataError(f"{self.findings.path}: there is no row {row}")
        if left == right:
            raise DataError("a decision is about two different documents")
        if kind == "keep" and left >= self.findings.reference > right:
            raise DataError("a reference document is always kept; no other document can be chosen over it")
        names = self.findings.ids(np.array([left, right]))
        for row, name in zip((left, right), names, strict=True):
            if kind != "clear" and self.findings.filtered[row]:
                raise DataError(
                    f"{printable(name)}: was left out by a filter, so there is nothing to decide about it"
                )
        with self._locked() as lock:
            if self.findings.replaced():
                raise FindingsReplaced(self.findings.path)
            handle = lock.handle
            self._take(handle)
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            sequence = self.decisions.revision + 1
            made = Decision(sequence, time, kind, names[0], names[1], left, right, similarity)
            record = made.to_json() | {"documents": self._identity}
            line = checked_json(record, indent=None) + b"\n"
            os.ftruncate(handle, self._read)  # remove an incomplete line that a crash left
            write_at(handle, line, self._read)
            os.fsync(handle)
            if self._read == 0:
                sync_folder(self.path.parent)
            self._read += len(line)
            self._lines += 1
            self._last = line
            self.decisions.add(made)
            return made

    def _locked(self) -> FileLock:
        """The lock on the log; `set_aside` may have moved the file while this waited."""
        while True:
            lock = FileLock(self.path)
            if lock.holds():
                return lock
            lock.release()

    def set_aside(self) -> Path | None:
        """Move the log away if its decisions are about other documents, so that it never blocks these findings.
        Returns its new place."""
        if not self.path.exists():
            return None
        with self._locked() as lock:
            try:
                self._take(lock.handle)
                return None
            except FormatError:
                return (
                    None  # damaged, maybe about these documents: whoever reads it gets an error that says so
                )
            except DataError:
                number = 1
                while (target := self.path.with_name(f"decisions-{number}.jsonl")).exists():
                    number += 1
                self.path.rename(target)
                sync_folder(self.path.parent)
                return target

    def _take(self, handle: int) -> None:
        """Read the complete lines added since the last read; if one of them is damaged, none is taken."""
        size = os.fstat(handle).st_size
        if os.pread(handle, len(self._last), self._read - len(self._last)) != self._last:
            self._start_over()
        data = b""
        while self._read + len(data) < size:
            part = os.pread(handle, size - self._read - len(data), self._read + len(data))
            if not part:
                break
            data += part
        whole = data[: data.rfind(b"\n") + 1]
        if _END.search(data, len(whole)):
            # A crash leaves the beginning of a line; behind a whole one only damage leaves another byte than its end.
            last = self._lines + whole.count(b"\n") + 1
            raise FormatError(self.path, f"the end of line {last}", "another byte")
        taken = []
        for number, line in enumerate(whole.split(b"\n")[:-1], self._lines + 1):
            decision, documents = _parsed(line, self.path, number)
            if (
                documents != self._identity
                or decision.pair[0] < 0
                or decision.pair[1] >= len(self.findings)
                or self.findings.ids(np.array([decision.left_row, decision.right_row]))
                != [decision.left, decision.right]
            ):
                raise self._foreign(number)
            taken.append(decision)
        for decision in taken:
            self.decisions.add(decision)
        self._read += len(whole)
        self._lines += len(taken)
        self._last = whole[whole.rfind(b"\n", 0, -1) + 1 :] or self._last

    def _foreign(self, line: int) -> DataError:
        return DataError(
            f"{self.path}, line {line}: this decision is about other documents than these findings hold; move the "
            "file away to start over (apply, dedup, clusters, explain and report can ignore it with --no-decisions)"
        )


def read_decisions(findings: Findings) -> Decisions:
    """The decisions in force for these findings; none if there is no log yet."""
    return DecisionLog(findings).refresh()


def identity(findings: Findings) -> str:
    """A digest of which documents were scanned, as 16 hexadecimal digits. It does not depend on the settings, so that
    decisions stay valid for another scan of the same documents."""
    manifest = findings.manifest
    counts = manifest["counts"]
    what = [
        [[entry["name"], entry["bytes"], entry["sha256"]] for entry in manifest["inputs"]],
        manifest["columns"],
        [counts["documents"], counts["reference"]],
    ]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def is_log(path: Path) -> bool:
    """Whether a file is a log of decisions or an export of one, and not another kind of table."""
    try:
        with open(path, "rb") as file:
            first = json.loads(file.readline(1 << 20))
        return isinstance(first, dict) and {"sequence", "decision", "left_row"} <= first.keys()
    except (OSError, ValueError, RecursionError):
        return False


def decided_labels(path: Path) -> list[tuple[str, str, float]]:
    """Pairs that were accepted (1) or rejected (0), by the last decision about each; `path` is a log or an export."""
    decisions = Decisions()
    for number, line in enumerate(_whole_lines(path), 1):
        decisions.add(_parsed(line, path, number)[0])
    return [(d.left, d.right, float(d.label)) for d in decisions if d.label is not None]


def _whole_lines(path: Path) -> Iterable[bytes]:
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]


def _parsed(line: bytes, path: Path, number: int) -> tuple[Decision, str]:
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
        )
        if decision.decision not in get_args(Kind) or decision.left_row == decision.right_row:
            raise ValueError
        return decision, str(record.get("documents"))
    except (ValueError, KeyError, TypeError, OverflowError):
        raise FormatError(path, f"a decision on line {number}", "something else, or a damaged one") from None
