"""What a search for repeated parts gives: how much there is, and the parts that cost most."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from neardup.values.wording import counted

__all__ = ["Occurrence", "Repeat", "Repeats"]


@dataclass(frozen=True)
class Occurrence:
    """Where a repeated part stands: characters [begin, end) of a document's text, words [first, last) of it.

    `row` counts a file's rows from 1. Words are counted for passages only; for lines and paragraphs both are None.
    """

    id: str
    file: str
    row: int
    begin: int
    end: int
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True)
class Repeat:
    """One repeated part: its text as it stands first, its words, and how often and in how many documents it occurs.

    `occurrences` are the first few; `count` is all of them. `repeated` is what all but the first take, in bytes of
    UTF-8, were each as long as the first.
    """

    text: str
    words: int
    count: int
    documents: int
    repeated: int
    occurrences: tuple[Occurrence, ...]


@dataclass(frozen=True)
class Repeats:
    """Repeated lines, paragraphs or passages of a corpus.

    `distinct` is how many different ones there are, each counted once; `top` are the ones that cost most. `cut` bytes
    (of `size`, as UTF-8) in `changed` documents would go, or went if `out` names a file; `emptied` documents have no
    words left then, and `written` rows are in the file. `spilled` is what was written to scratch files on the way.
    """

    unit: str
    min_length: int
    documents: int
    size: int
    distinct: int
    changed: int
    emptied: int
    cut: int
    written: int
    out: str | None
    top: tuple[Repeat, ...] = field(repr=False)
    spilled: int = 0
    seconds: dict[str, float] = field(default_factory=dict, repr=False)

    def summary(self) -> str:
        """What a person wants to know first, in a few lines."""
        share = self.cut / self.size if self.size else 0.0
        went = "went" if self.out else "would go"
        lines = [
            f"{counted(self.documents, 'document')}, {self.size:,} bytes: "
            f"{counted(self.distinct, f'repeated {self.unit}')} of at "
            f"least {self.min_length} words",
            f"  {self.cut:,} bytes ({share:.1%}) {went} from {counted(self.changed, 'document')}",
        ]
        if self.emptied:
            lines.append(
                f"  {counted(self.emptied, 'document has no words left', 'documents have no words left')}"
            )
        if self.out:
            lines.append(f"  {counted(self.written, 'document')} written to {self.out}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)
