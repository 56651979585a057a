"""What a page sets apart, and what links say of it, as weights of its words (Sood and Loguinov, 3.2; Manku, 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.features import Features, combine
from neardup.features.shingles import TextFeatures
from neardup.features.weights import Counting, weigh
from neardup.values.checks import check_fields, checked_methods

__all__ = ["URL_FIELD", "WINDOW", "Highlights"]

WINDOW = 8
"""The words on each side of a link that count."""
URL_FIELD = "url"
"""The field of a document that says where it is; without it, its id does."""
_MOST = 1000.0


@checked_methods
@dataclass(frozen=True)
class Highlights:
    """How much the words of a page count that it sets apart: an ordinary word counts once.

    A word in several of these elements counts by the first of them: a heading, bold, an anchor. The title is not part
    of a page's text, so its words are added. `links` is a file of links with the columns from, to and text, and perhaps
    before and after: the words of links to a page are added to it, and those around them, at distance d, count
    1 / (1 + d) as much. The words of documents are compared as ever; these weights decide their simhash.

    title     of the words in the title; 0 leaves them out
    headings  of words in h1 to h6
    bold      of words in b and strong
    anchors   of words in the page's own links
    in_links  of words in links to the page
    links     a TSV, CSV or JSONL file of links
    raises    ConfigError for a weight below 0 or over 1,000

    >>> import neardup as nd
    >>> config = nd.Config.of("simhash", highlights=nd.features.Highlights(title=5))
    >>> config.highlights.title, config.highlights.headings
    (5, 3.0)
    """

    title: float = 4.0
    headings: float = 3.0
    bold: float = 2.0
    anchors: float = 2.0
    in_links: float = 2.0
    links: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("title", "headings", "bold", "anchors", "in_links"):
            if not 0 <= getattr(self, name) <= _MOST:
                raise ConfigError(
                    f"Highlights: {name} is a weight from 0 to {_MOST:,g}, not {getattr(self, name)}"
                )

    @property
    def multipliers(self) -> tuple[float, ...]:
        """What each line of a document's extra text adds to the count of a word: title, headings, bold, anchors, links
        to it, then the words beside links at distance 1, 2 and so on."""
        around = (self.in_links / (1 + distance) for distance in range(WINDOW + 1))
        return (self.title, self.headings - 1, self.bold - 1, self.anchors - 1, *around)

    @property
    def scheme(self) -> str:
        """What decides the weights."""
        named = ("title", "headings", "bold", "anchors", "in_links")
        return f"highlights({','.join(f'{name}*{getattr(self, name):g}' for name in named)})"

    def extract(
        self, features: TextFeatures, texts: _core.Texts, extras: Sequence[bytes], threads: int = 1
    ) -> Features:
        """The features of texts, each with its extra text: a line for each of the multipliers, or less."""
        counts: Counting = "constant" if features.weights == "constant" else "count"
        plain = features.unweighted().scheme
        parts, multipliers = [replace(features, weights=counts).extract(texts, threads=threads)], [1.0]
        rows = [extra.split(b"\n") for extra in extras]
        bare = replace(features, weights=counts, common=None)
        for place, by in enumerate(self.multipliers):
            lines = [row[place] if place < len(row) else b"" for row in rows]
            if by and any(lines):
                column = _core.Texts()
                column.add(tuple(lines))
                parts.append(bare.extract(column, threads=threads))
                multipliers.append(by)
        together = combine([replace(part, scheme=plain) for part in parts], multipliers, plain)
        weighed = together if features.weights == "constant" else weigh(together, features.weights)
        return replace(weighed, scheme=f"{features.scheme} {self.scheme}")
