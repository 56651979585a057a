"""The result of a search for repeated parts: counts, and the parts that take most space."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from neardup.values.checks import check_fields, checked_methods
from neardup.values.wording import counted

__all__ = ["Occurrence", "Repeat", "Repeats"]


@dataclass(frozen=True)
class Occurrence:
    r"""Where a repeated part occurs: characters [begin, end) of a document's text, words [first, last) of it.

    `row` counts a file's rows from 1. Words are counted for passages only; for lines and paragraphs both are None.

    id, file, row  the document, and where it was read

    >>> import neardup as nd
    >>> reader = nd.read([{"text": "About us\nThe ferry leaves."}, {"text": "About us\nA cake."}])
    >>> occurrences = nd.passages.Lines(min_length=2).find(reader).top[0].occurrences
    >>> [(one.id, one.begin, one.end) for one in occurrences]
    [('rows:1', 0, 9), ('rows:2', 0, 9)]
    """

    id: str
    file: str
    row: int
    begin: int
    end: int
    first: int | None = None
    last: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Repeat:
    r"""One repeated part: the text of its first occurrence, its number of words, of occurrences and of documents.

    `occurrences` are the first few; `count` is all of them. `repeated` is the size of all but the first
    in bytes of UTF-8, if each is as long as the first.

    >>> import neardup as nd
    >>> reader = nd.read([{"text": "About us\nThe ferry leaves."}, {"text": "About us\nA cake."}])
    >>> repeat = nd.passages.Lines(min_length=2).find(reader).top[0]
    >>> repeat.text, repeat.words, repeat.count, repeat.documents
    ('About us\n', 2, 2, 2)
    """

    text: str
    words: int
    count: int
    documents: int
    repeated: int
    occurrences: tuple[Occurrence, ...]

    def __post_init__(self) -> None:
        check_fields(self)


@checked_methods
@dataclass(frozen=True)
class Repeats:
    r"""Repeated lines, paragraphs or passages of a corpus.

    `distinct` counts the repeated parts, each once; `top` are those that take most space. `cut` bytes (of `size`,
    as UTF-8) in `changed` documents would be cut, or were cut if `out` names a file; `emptied` documents have no words
    left after that, and `written` rows are in the file. `spilled` is the number of bytes written to scratch files.

    unit        line, paragraph or passage
    min_length  the smallest number of words
    documents   documents read
    seconds     seconds by stage

    >>> import neardup as nd
    >>> reader = nd.read([{"text": "About us\nThe ferry leaves."}, {"text": "About us\nA cake."}])
    >>> found = nd.passages.Lines(min_length=2).find(reader)
    >>> found.distinct, found.changed, found.cut
    (1, 1, 9)
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

    def __post_init__(self) -> None:
        check_fields(self)

    def summary(self) -> str:
        """The most important counts, in a few lines for people."""
        share = self.cut / self.size if self.size else 0.0
        outcome = "were cut" if self.out else "would be cut"
        lines = [
            f"{counted(self.documents, 'document')}, {self.size:,} bytes: "
            f"{counted(self.distinct, f'repeated {self.unit}')} of at "
            f"least {self.min_length} words",
            f"  {self.cut:,} bytes ({share:.1%}) {outcome} from {counted(self.changed, 'document')}",
        ]
        if self.emptied:
            lines.append(
                f"  {counted(self.emptied, 'document has no words left', 'documents have no words left')}"
            )
        if self.out:
            lines.append(f"  {counted(self.written, 'document')} written to {self.out}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """All values as plain JSON values."""
        return asdict(self)
