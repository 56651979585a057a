"""What became of everything that was found: files read or skipped, rows turned into documents or rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from neardup.errors import NeardupError, UnreadableInput
from neardup.readers.rejects import Rejects
from neardup.values.wording import counted, printable

__all__ = ["TOLERATED", "Account", "CountedRejects", "Reason"]

EXAMPLES, REASONS, FILES = 3, 3, 20
TOLERATED = 0.1  # the share of rows that may be rejected before a run stops


@dataclass(frozen=True, slots=True)
class Reason:
    """One rejection: where it was, and why."""

    file: str
    row: int | None
    reason: str
    detail: str

    def __str__(self) -> str:
        where = printable(self.file) + (f", row {self.row:,}" if self.row is not None else "")
        return f"{where}: {self.reason}" + (f": {printable(self.detail, 300)}" if self.detail else "")


@dataclass(slots=True)
class Account:
    """The account of one read. Once the read is complete, these hold:

    found = read + skipped, where `skipped` counts files by kind;
    rows = documents + rejected + passed over, where `rejected` and `passed_over` count rows by reason.

    A file that could not be opened as what it is counts as one rejected row. `examples` names a few files of each kind
    that was skipped, `reasons` are the first rejections, `notes` counts what was read otherwise than it was
    written (numbers as text, nulls as empty documents), and `shapes` says how the first tables are written.
    """

    found: int = 0
    read: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    rows: int = 0
    documents: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    reasons: list[Reason] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    shapes: dict[str, str] = field(default_factory=dict)
    complete: bool = False

    def skip(self, kind: str, name: str, many: int = 1) -> None:
        """Files found and not read."""
        self.found += many
        self.skipped[kind] += many
        told = self.examples.setdefault(kind, [])
        if len(told) < EXAMPLES:
            told.append(name)

    def take(self, many: int = 1) -> None:
        """Files found and read."""
        self.found += many
        self.read += many

    def skip_after_all(self, kind: str, name: str) -> None:
        """A file that was to be read, and turned out not to be."""
        self.found -= 1
        self.read -= 1
        self.skip(kind, name)

    def of_files(self) -> Account:
        """A new account of the same files, for another pass over them."""
        examples = {kind: list(names) for kind, names in self.examples.items()}
        return Account(self.found, self.read, Counter(self.skipped), examples)

    def shape(self, name: str, said: str) -> None:
        if said and len(self.shapes) < FILES:
            self.shapes[name] = said

    def reject_document(self, why: Reason) -> None:
        """A document that was read, and turned out to hold no text."""
        self.documents -= 1
        self.rejected[why.reason] += 1
        if len(self.reasons) < REASONS:
            self.reasons.append(why)

    def settle(self) -> None:
        """Mark the read as complete; raise if something is missing from the account."""
        self.complete = True
        files = self.read + self.skipped.total()
        rows = self.documents + self.rejected.total() + self.passed_over.total()
        if files != self.found or rows != self.rows:
            raise NeardupError(
                f"the account does not add up: {self.found:,} files found, {files:,} named; {self.rows:,} rows read, "
                f"{rows:,} named. This is an error in neardup; please report it"
            )

    def check(
        self,
        allow: float = TOLERATED,
        *,
        strict: bool = False,
        rejects: str | PathLike[str] | None = None,
    ) -> None:
        """Raise UnreadableInput if there are no documents, or if a larger share of the rows than `allow` was rejected
        (with `strict`, any). `rejects` is the file that lists the rejected rows."""
        lost = self.rejected.total()
        share = lost / self.rows if self.rows else 0.0
        if self.documents and not (share > allow or (strict and lost)):
            return
        where = fspath(rejects) if rejects is not None else None
        raise UnreadableInput(
            self.rows, self.documents, dict(self.rejected), [str(one) for one in self.reasons], where
        )

    def lines(self) -> Iterator[str]:
        """The account in words; nothing of what is zero."""
        if self.found:
            yield f"{counted(self.found, 'file')} found: {self.read:,} read, {self.skipped.total():,} skipped"
            for kind, many in self.skipped.most_common():
                names = ", ".join(printable(name, 60) for name in self.examples.get(kind, ()))
                yield f"  {many:,} {kind} ({names}{', ...' if many > EXAMPLES else ''})"
        lost, over = self.rejected.total(), self.passed_over.total()
        yield (
            f"{counted(self.rows, 'row')} read: {counted(self.documents, 'document')}, {lost:,} rejected"
            + (f", {over:,} passed over" if over else "")
        )
        for reason, many in (*self.rejected.most_common(), *self.passed_over.most_common()):
            yield f"  {many:,} {reason}"
        for note, many in self.notes.most_common():
            yield f"{many:,} {note}"
        for name, said in self.shapes.items():
            yield f"{printable(name, 100)}: {said}"

    def to_json(self) -> dict[str, Any]:
        """The account as plain values."""
        return {
            "files": {
                "found": self.found,
                "read": self.read,
                "skipped": dict(self.skipped),
                "examples": {kind: list(names) for kind, names in self.examples.items()},
            },
            "rows": {
                "read": self.rows,
                "documents": self.documents,
                "rejected": dict(self.rejected),
                "passed_over": dict(self.passed_over),
            },
            "reasons": [
                {"file": one.file, "row": one.row, "reason": one.reason, "detail": one.detail}
                for one in self.reasons
            ],
            "notes": dict(self.notes),
            "shapes": dict(self.shapes),
        }


class CountedRejects(Rejects):
    """Rejects of one read: told to its account, and handed on to a sink that may serve several."""

    def __init__(self, account: Account, sink: Rejects) -> None:
        super().__init__()
        self.account, self._sink = account, sink

    def add(
        self, file: str, row: int | None, reason: str, detail: str = "", sample: bytes | str = ""
    ) -> None:
        account = self.account
        account.rows += 1
        account.rejected[reason] += 1
        if len(account.reasons) < REASONS:
            account.reasons.append(Reason(file, row, reason, detail))
        self.counts[reason] += 1
        self._sink.add(file, row, reason, detail, sample)

    def skip(self, reason: str) -> None:
        self.account.rows += 1
        self.account.passed_over[reason] += 1
        self.skipped[reason] += 1
        self._sink.skip(reason)
