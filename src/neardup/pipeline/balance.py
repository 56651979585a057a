"""The balance of a run: what became of every file, row and document, in one place, and checked to add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup.errors import NeardupError
from neardup.readers.account import account_notes, account_sums
from neardup.values.wording import counted

__all__ = ["Balance", "exception_lines"]


@dataclass(frozen=True)
class Balance:
    """Three sums, each checked when the balance is made:

    files found = read + skipped, by kind;
    rows read = documents + rejected + passed over, by reason;
    documents = kept + dropped as exact or near-duplicates + left out by filters, by filter.

    `account` holds the first two, as `Account.to_json` gives them; findings of earlier versions have none.
    """

    documents: int
    kept: int
    exact: int
    near: int
    filtered: Mapping[str, int]
    account: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        files, rows = self.account.get("files", {}), self.account.get("rows", {})
        sums = [("documents", self.documents, self.kept + self.removed)]
        if files:
            sums.append(("files found", files["found"], files["read"] + sum(files["skipped"].values())))
        if rows:
            rest = sum(rows["rejected"].values()) + sum(rows["passed_over"].values())
            sums.append(("rows read", rows["read"], rows["documents"] + rest))
            sums.append(("documents read", rows["documents"], self.documents))
        for name, whole, parts in sums:
            if whole != parts:
                raise NeardupError(
                    f"the account does not add up: {whole:,} {name}, {parts:,} named. This is an error in neardup; "
                    "please report it"
                )

    @property
    def dropped(self) -> int:
        return self.exact + self.near

    @property
    def filtered_out(self) -> int:
        return sum(self.filtered.values())

    @property
    def removed(self) -> int:
        """The documents that are not kept: duplicates, and those that filters leave out."""
        return self.dropped + self.filtered_out

    @property
    def exceptions(self) -> bool:
        """Whether anything that was found is neither kept nor dropped."""
        files, rows = self.account.get("files", {}), self.account.get("rows", {})
        return bool(
            self.filtered_out or files.get("skipped") or rows.get("rejected") or rows.get("passed_over")
        )

    def headline(self) -> str:
        """The one line that a person reads first; its share is that of all removed documents."""
        left_out = f", {self.filtered_out:,} left out by filters" if self.filtered_out else ""
        share = self.removed / self.documents if self.documents else 0.0
        return (
            f"{counted(self.documents, 'document')}: {self.kept:,} kept, {self.dropped:,} dropped{left_out} "
            f"({share:.1%})"
        )

    def lines(self) -> Iterator[str]:
        """The whole balance in words if there is anything but kept and dropped documents, else only notes on how the
        inputs were read."""
        if self.exceptions:
            yield from account_sums(self.account)
            left_out = f", {self.filtered_out:,} left out by filters" if self.filtered_out else ""
            yield (
                f"{counted(self.documents, 'document')}: {self.kept:,} kept, {self.exact:,} dropped with the same "
                f"words as another, {self.near:,} dropped as near-duplicates{left_out}"
            )
            for reason, many in self.filtered.items():
                yield f"  {reason}: {many:,}"
        yield from account_notes(self.account)

    def to_json(self) -> dict[str, Any]:
        """The balance as plain values."""
        outcome = {
            "read": self.documents,
            "kept": self.kept,
            "exact": self.exact,
            "near": self.near,
            "filtered": dict(self.filtered),
        }
        return {**self.account, "documents": outcome}


def exception_lines(empty: int, figures: int, capped: int) -> Iterator[str]:
    """What a summary says of documents without words, of those that differ only in numbers, and of groups of which
    not every pair was compared."""
    if empty:
        yield f"{counted(empty, 'document has no words and is', 'documents have no words and are')} always kept"
    if figures:
        yield f"warning: {figures:,} differ from another only in numbers, which these settings ignore"
    if capped:
        were = "was" if capped == 1 else "were"
        yield f"{counted(capped, 'group')} of similar documents {were} too large to compare every pair"
