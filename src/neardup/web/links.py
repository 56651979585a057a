"""Links between pages: a file of them, the words of those to a page, and links moved to the pages that are kept."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from os import PathLike, fspath
from typing import NamedTuple

from neardup.errors import DataError
from neardup.readers.sources import format_of
from neardup.web.url_lists import numbered_lines
from neardup.web.urls.canonical import canonical_url

__all__ = ["InLinks", "Link", "MergedLink", "merge_links", "read_links"]

_COLUMNS = ("from", "to", "text", "before", "after")
_MOST_TEXTS = 100  # different links to one page that count


class Link(NamedTuple):
    """A link: the page it is on, the page it leads to, its words, and the words right before and after them."""

    source: str
    target: str
    text: str = ""
    before: str = ""
    after: str = ""


class MergedLink(NamedTuple):
    """A link that leads to a kept page: itself, or by way of one that it was kept for (`target`)."""

    kept: str
    source: str
    target: str
    text: str


def read_links(path: str | PathLike[str]) -> Iterator[Link]:
    """The links of a TSV, CSV or JSONL file with the columns from, to, text, before and after; only the first two are
    needed. Without a header the columns have this order. DataError names the line that cannot be read."""
    name = fspath(path)
    format = format_of(name)
    places: tuple[int, ...] | None = None
    for number, line in numbered_lines(name):
        where = f"{name}, line {number}"
        if format == "jsonl" or (format is None and line.lstrip().startswith("{")):
            yield _json_link(line, where)
            continue
        cells = next(csv.reader([line], strict=False)) if format == "csv" else line.split("\t")
        if places is None:
            lowered = [cell.strip().lower() for cell in cells]
            named = "from" in lowered and "to" in lowered
            places = tuple(
                lowered.index(column) if column in lowered else len(lowered) for column in _COLUMNS
            )
            if named:
                continue
            places = tuple(range(len(_COLUMNS)))
        values = [cells[place].strip() if place < len(cells) else "" for place in places]
        if not values[0] or not values[1]:
            raise DataError(f"{where}: expected the columns from and to, got {line[:80]!r}")
        yield Link(*values)


def _json_link(line: str, where: str) -> Link:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON: {error}") from error
    values = [said.get(column, "") for column in _COLUMNS] if isinstance(said, dict) else []
    if not values or not all(isinstance(value, str) for value in values) or not values[0] or not values[1]:
        raise DataError(f"{where}: expected an object with the texts from and to, got {line[:80]!r}")
    return Link(*values)


@dataclass
class InLinks:
    """The words of the links to each page, by its canonical URL. Equal ones count once, and 100 of a page at most, so
    that no number of links outweighs the page."""

    identifier: str = ""
    _found: dict[str, dict[tuple[str, str, str], None]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> InLinks:
        """Read a file of links; it is held in memory."""
        made, digest = cls(), blake2b(digest_size=8)
        for link in read_links(path):
            digest.update("\0".join((*link, "")).encode("utf-8", "replace"))
            words = tuple(" ".join(part.split()) for part in link[2:])
            texts = made._found.setdefault(canonical_url(link.target), {})
            if any(words) and len(texts) < _MOST_TEXTS:
                texts[words[0], words[1], words[2]] = None
        made.identifier = digest.hexdigest()
        return made

    def lines(self, url: str, window: int) -> list[str]:
        """The words of the links to a page, then those beside them at distance 1 to `window`."""
        found: list[list[str]] = [[] for _ in range(window + 1)]
        for text, before, after in self._found.get(canonical_url(url), ()):
            found[0].append(text)
            for words in (before.split()[::-1], after.split()):
                for distance, word in enumerate(words[:window], 1):
                    found[distance].append(word)
        return [" ".join(filter(None, words)) for words in found]


def merge_links(links: Iterable[Link], kept: Callable[[str], str | None]) -> Iterator[MergedLink]:
    """The links, each at the page that is kept for its target, once for each page and words; `kept` gives None for a
    target that is unknown, whose links are left out."""
    seen: set[bytes] = set()
    for link in links:
        place = kept(link.target)
        if place is None:
            continue
        made = MergedLink(place, link.source, link.target, link.text)
        key = blake2b("\0".join(made).encode("utf-8", "replace"), digest_size=16).digest()
        if key not in seen:
            seen.add(key)
            yield made
