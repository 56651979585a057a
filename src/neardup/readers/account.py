"""What became of everything that was found: files read or skipped, rows turned into documents or rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from neardup.errors import NeardupError, UnreadableInput
from neardup.readers.rejects import Rejects
from neardup.values.wording import counted, printable

__all__ = [
    "NO_VECTOR",
    "TOLERATED",
    "Account",
    "CountedRejects",
    "Reason",
    "account_notes",
    "account_sums",
    "given_reason",
    "page_reason",
]

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
        where = printable(_place(self.file, self.row))
        return f"{where}: {self.reason}" + (f": {printable(self.detail, 300)}" if self.detail else "")


@dataclass(slots=True)
class Account:
    """The account of one read. Once the read is complete, these hold:

    found = read + skipped, where `skipped` counts files by kind;
    rows = documents + rejected + passed over, where `rejected` and `passed_over` count rows by reason.

    A file that could not be opened as what it is counts as one rejected row. `examples` names a few files of each kind
    that was skipped, `reasons` are the first rejections, `notes` counts values that were read as something
    else (numbers as text, nulls as empty documents), and `shapes` says how the first tables are written.
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
        named = self.examples.setdefault(kind, [])
        if len(named) < EXAMPLES:
            named.append(name)

    def take(self, many: int = 1) -> None:
        """Count files that were found and read."""
        self.found += many
        self.read += many

    def skip_after_all(self, kind: str, name: str) -> None:
        """A file that was counted as read, and could not be read."""
        self.found -= 1
        self.read -= 1
        self.skip(kind, name)

    def of_files(self) -> Account:
        """A new account of the same files, for another pass over them."""
        examples = {kind: list(names) for kind, names in self.examples.items()}
        return Account(self.found, self.read, Counter(self.skipped), examples)

    def add(self, part: Account) -> None:
        """Add what became of some of the files, which this account counts as read."""
        self.read -= part.skipped.total()
        self.skipped.update(part.skipped)
        for kind, names in part.examples.items():
            self.examples[kind] = [*self.examples.get(kind, ()), *names][:EXAMPLES]
        self.rows += part.rows
        self.documents += part.documents
        for mine, theirs in (
            (self.rejected, part.rejected),
            (self.passed_over, part.passed_over),
            (self.notes, part.notes),
        ):
            mine.update(theirs)
        self.reasons = [*self.reasons, *part.reasons][:REASONS]
        for name, said in part.shapes.items():
            self.shape(name, said)

    def shape(self, name: str, said: str) -> None:
        if said and len(self.shapes) < FILES:
            self.shapes[name] = said

    def reject_page(self, file: str, row: int, detail: str) -> str:
        """A page that was counted as a document, and has no text; returns the reason it counts under."""
        reason = page_reason(detail)
        self.documents -= 1
        self.rejected[reason] += 1
        if len(self.reasons) < REASONS:
            self.reasons.append(Reason(file, row, reason, detail))
        return reason

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
        """The account in words, without counts that are zero."""
        plain = self.to_json()
        yield from account_sums(plain)
        yield from account_notes(plain)

    def exceptions(self) -> Iterator[str]:
        """The account in words if anything that was found is no document; else only its notes."""
        if self.skipped or self.rejected or self.passed_over:
            return self.lines()
        return account_notes(self.to_json())

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Account:
        """The account that `to_json` made plain values of."""
        files, rows = plain["files"], plain["rows"]
        return cls(
            files["found"],
            files["read"],
            Counter(files["skipped"]),
            {kind: list(names) for kind, names in files["examples"].items()},
            rows["read"],
            rows["documents"],
            Counter(rows["rejected"]),
            [Reason(one["file"], one["row"], one["reason"], one["detail"]) for one in plain["reasons"]],
            Counter(rows["passed_over"]),
            Counter(plain["notes"]),
            dict(plain["shapes"]),
        )

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


NO_VECTOR = "no vector"


def given_reason(detail: str) -> str:
    """Why a document that was given in memory is none: it has no text, or no vector."""
    return NO_VECTOR if detail.startswith(f"{NO_VECTOR}: ") else "no text"


def page_reason(detail: str) -> str:
    """The kind of an error of the HTML extractor, or of a vector."""
    if detail.startswith(f"{NO_VECTOR}: "):
        return NO_VECTOR
    return f"HTML: {detail.partition(':')[0]}"


def account_sums(account: Mapping[str, Any]) -> Iterator[str]:
    """The sums of an account, as `to_json` gives it, in words: files and rows."""
    files, rows = account.get("files", {}), account.get("rows", {})
    if files.get("found"):
        skipped = files["skipped"]
        yield f"{counted(files['found'], 'file')} found: {files['read']:,} read, {sum(skipped.values()):,} skipped"
        for kind, many in _most_first(skipped):
            yield f"  {kind}: {many:,}{_examples(files['examples'].get(kind, ()), many)}"
    if rows:
        lost, over = sum(rows["rejected"].values()), sum(rows["passed_over"].values())
        yield (
            f"{counted(rows['read'], 'row')} read: {counted(rows['documents'], 'document')}, {lost:,} rejected"
            + (f", {over:,} passed over" if over else "")
        )
        for reason, many in _most_first(rows["rejected"]):
            places = [
                _place(one["file"], one["row"]) for one in account["reasons"] if one["reason"] == reason
            ]
            yield f"  {printable(reason)}: {many:,}{_examples(places, many)}"
        for reason, many in _most_first(rows["passed_over"]):
            yield f"  {printable(reason)}: {many:,}"


def account_notes(account: Mapping[str, Any]) -> Iterator[str]:
    """The notes of an account in words: values that were no texts, and how tables are written."""
    for note, many in account.get("notes", {}).items():
        yield f"{printable(note)}: {many:,}"
    shapes: dict[str, list[str]] = {}
    for name, said in account.get("shapes", {}).items():
        shapes.setdefault(said, []).append(name)
    for said, names in shapes.items():
        yield f"read as {said}{_examples(names[:EXAMPLES], len(names))}"


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _place(file: str, row: int | None) -> str:
    """Where a row is; objects in memory have no file."""
    return ", ".join([*([file] if file else []), *([f"row {row:,}"] if row is not None else [])])


def _examples(names: Sequence[str], many: int) -> str:
    shown = "; ".join(printable(name, 60) for name in names)
    return f" ({shown}{'; ...' if many > len(names) else ''})" if shown else ""


class CountedRejects(Rejects):
    """Rejects of one read: each is counted in its account and passed on to a sink that may serve several reads."""

    def __init__(self, account: Account, sink: Rejects) -> None:
        super().__init__()
        self.account, self._sink = account, sink

    def add(
        self, file: str, row: int | None, reason: str, detail: str = "", sample: bytes | str = ""
    ) -> None:
        """The same; readers call this for each row, so their arguments are not checked."""
        self._take(file, row, reason, detail, sample)

    def _count(self, file: str, row: int | None, reason: str, detail: str, sample: str) -> None:
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
