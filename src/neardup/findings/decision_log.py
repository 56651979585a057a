"""The log of decisions in a findings folder: appended under a lock, read as it grows.

docs/reference/format.md, "Decisions", describes the file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import numpy as np

from neardup.errors import ConfigError, DataError, FormatError
from neardup.findings.decisions import Decision, Decisions, How, Kind, parse_decision
from neardup.findings.folder import Findings
from neardup.storage.atomic_file import sync_folder, write_at
from neardup.storage.checked_json import checked_json, complete_lines
from neardup.storage.lock import FileLock
from neardup.storage.regular_file import open_regular
from neardup.values.checks import checked, checked_methods
from neardup.values.wording import printable

__all__ = ["DECISIONS", "Asked", "DecisionLog", "FindingsReplaced", "identity", "read_decisions"]

DECISIONS = "decisions.jsonl"
LONGEST_NAME, LONGEST_NOTE = 100, 1000


@dataclass(frozen=True)
class Asked:
    """A decision that is to be saved; `left` is the document that is kept."""

    kind: Kind
    left: int
    right: int
    similarity: float | None = None
    name: str = ""
    note: str = ""
    how: How = "one"


class FindingsReplaced(DataError):
    """The findings were replaced by those of another scan while they were open."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: another scan has replaced these findings. Nothing was saved. Reload the page, or open the "
            "findings again."
        )


@checked_methods
class DecisionLog:
    """The log of one findings folder. New lines are read as the log grows; lines are appended under a lock.

    A decision is on disk before `add` returns. Any number of processes may have the same log open; each sees the
    decisions of the others when it next reads or writes. A crash can leave an incomplete last line, which was never
    confirmed: it is ignored, and the next decision overwrites it.

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> log = nd.findings.DecisionLog(findings)
    >>> _ = log.add("reject", findings.row_of("page-208"), findings.row_of("page-038"))
    >>> log.refresh().revision
    1
    """

    @checked
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
            with open(open_regular(self.path), "rb") as file:
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
        return self.add_all([Asked(kind, left, right, similarity)])[0]

    def add_all(self, asked: Sequence[Asked]) -> list[Decision]:
        """Add decisions, all or none of them; they are safely on disk when this returns."""
        for one in asked:
            self._check(one)
        names = self.findings.ids(np.array([row for one in asked for row in (one.left, one.right)], np.int64))
        with self._locked() as lock:
            if self.findings.replaced():
                raise FindingsReplaced(self.findings.path)
            handle = lock.handle
            self._take(handle)
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            made = [
                Decision(
                    self.decisions.revision + 1 + at, time, one.kind, names[2 * at], names[2 * at + 1], one.left,
                    one.right, one.similarity, one.name.strip()[:LONGEST_NAME], one.note.strip()[:LONGEST_NOTE],
                    one.how,
                )
                for at, one in enumerate(asked)
            ]  # fmt: skip
            lines = [
                checked_json(decision.to_json() | {"documents": self._identity}, indent=None) + b"\n"
                for decision in made
            ]
            if lines:
                os.ftruncate(handle, self._read)  # remove an incomplete line that a crash left
                try:
                    write_at(handle, b"".join(lines), self._read)
                    os.fsync(handle)
                except OSError:
                    os.ftruncate(handle, self._read)  # none of them was confirmed
                    raise
                if self._read == 0:
                    sync_folder(self.path.parent)
                self._read += sum(map(len, lines))
                self._lines += len(lines)
                self._last = lines[-1]
            for decision in made:
                self.decisions.add(decision)
            return made

    def take_back(self, first: int, last: int, name: str = "") -> list[Decision]:
        """Undo the decisions of these sequence numbers: about each of their pairs, what was decided before `first`
        holds again. Pairs that were decided again after `last` are left as they are."""
        self.refresh()
        before, touched, later = Decisions(), set(), set()
        for line in self.path.read_bytes()[: self._read].split(b"\n")[:-1] if self._read else []:
            decision = parse_decision(line, self.path, 0)[0]
            if decision.sequence < first:
                before.add(decision)
            elif decision.sequence <= last:
                touched.add(decision.pair)
            else:
                later.add(decision.pair)
        asked: list[Asked] = []
        for pair in sorted(touched - later):
            asked.append(Asked("clear", *pair, name=name))
            for known in (before.choices, before.pairs, before.marks):
                if pair in known:
                    d = known[pair]
                    asked.append(
                        Asked(d.decision, d.left_row, d.right_row, d.similarity, d.name, d.note, d.how)
                    )
        return self.add_all(asked)

    def _check(self, asked: Asked) -> None:
        if not isinstance(asked, Asked):
            raise DataError(f"asked must be decisions, not {asked!r:.80}")
        if asked.kind not in get_args(Kind):
            raise ConfigError(f"a decision is {', '.join(get_args(Kind))}, not {asked.kind!r}")
        rows = asked.left, asked.right
        for row in rows:
            if not 0 <= row < len(self.findings):
                raise DataError(f"{self.findings.path}: there is no row {row}")
        if asked.left == asked.right:
            raise DataError("a decision is about two different documents")
        if asked.kind == "keep" and asked.left >= self.findings.reference > asked.right:
            raise DataError("a reference document is always kept; no other document can be chosen over it")
        for row in rows:
            if asked.kind != "clear" and self.findings.filtered[row]:
                name = printable(self.findings.ids(np.array([row]))[0])
                raise DataError(f"{name}: was left out by a filter, so there is nothing to decide about it")

    def _locked(self) -> FileLock:
        """The lock on the log; `set_aside` may have moved the file while this waited."""
        while True:
            lock = FileLock(self.path, mode=0o666)  # a file of its own, not only a lock
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
                    None  # damaged, maybe about these documents: the next reader gets an error that says so
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
        whole = complete_lines(data, self.path, self._lines)
        taken = []
        for number, line in enumerate(whole.split(b"\n")[:-1], self._lines + 1):
            decision, documents = parse_decision(line, self.path, number)
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
        ).with_options("--no-decisions")


@checked
def read_decisions(findings: Findings) -> Decisions:
    """The decisions in force for these findings; none if there is no log yet.

    raises  DataError if the log is damaged or belongs to other findings

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> nd.findings.read_decisions(findings).revision
    0
    """
    return DecisionLog(findings).refresh()


def identity(findings: Findings) -> str:
    """A digest of which documents were scanned, as 16 hexadecimal digits. It does not depend on the settings, so that
    decisions remain valid for another scan of the same documents."""
    manifest = findings.manifest
    counts = manifest["counts"]
    what = [
        [
            [entry["name"], entry["bytes"], entry.get("digest") or entry["sha256"]]
            for entry in manifest["inputs"]
        ],
        manifest["columns"],
        [counts["documents"], counts["reference"]],
    ]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
