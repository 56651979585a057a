"""Which links of a near-duplicate page are worth following.

The links of a copied article lead to more copies, so they are not followed. A page that is mostly links (a list, a
search result, a calendar, a home page) is different: its text is short or repeated, but its links may lead to new
pages. They are followed as long as some of them are new and of a kind of URL that still brings new pages. Pages that
only lead to more of their own kind, such as the months of a calendar, are followed a limited number of times in a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

__all__ = ["CHAIN", "Followed", "Links", "url_pattern"]

CHAIN = 5  # pages in a row that lead only to their own kind
RECENT = 20  # verdicts that show whether a kind of URL still brings new pages
LEAST_NEW = 2  # new pages among the recent ones
WORDS, WORDS_PER_LINK = 30, 8  # a page with fewer words than this is a list
PATTERNS, URLS = 100_000, 5_000_000  # kept in memory; when there are more, what is known is forgotten

_DIGITS = re.compile(r"\d+")


class Followed(NamedTuple):
    """Whether the links of a page are followed, as which kind of page, and after how many unproductive pages."""

    follow: bool
    reason: str
    chain: int = 0


class Links:
    """What a crawl knows about the links it has seen and about kinds of URLs."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._recent: dict[str, tuple[int, int]] = {}  # verdicts as bits, and how many there are

    def judged(self, url: str, new: bool) -> None:
        """A page was judged: its kind of URL brought a new page, or did not."""
        if len(self._recent) > PATTERNS:
            self._recent.clear()
        pattern = url_pattern(url)
        bits, many = self._recent.get(pattern, (0, 0))
        self._recent[pattern] = ((bits << 1 | new) & ((1 << RECENT) - 1), min(many + 1, RECENT))

    def found(self, urls: Sequence[str]) -> None:
        """Links of a page that is not a duplicate."""
        if len(self._seen) > URLS:
            self._seen.clear()
        self._seen.update(map(hash, urls))

    def of_duplicate(self, url: str, urls: Sequence[str], words: int, chain: int) -> Followed:
        """What becomes of the links (`urls`) of a near-duplicate with this many words, reached after `chain` pages that
        led only to their own kind."""
        if words >= WORDS + WORDS_PER_LINK * len(set(urls)):
            return Followed(False, "copy")
        own = url_pattern(url)
        fresh = [link for link in urls if hash(link) not in self._seen]
        self.found(fresh)
        if any((pattern := url_pattern(link)) != own and self._brings_new(pattern) for link in fresh):
            return Followed(True, "list")
        return Followed(chain < CHAIN, "list" if chain < CHAIN else "trap", chain + 1)

    def _brings_new(self, pattern: str) -> bool:
        bits, many = self._recent.get(pattern, (0, 0))
        return many < RECENT or bits.bit_count() >= LEAST_NEW


def url_pattern(url: str) -> str:
    """The kind of a URL: host and path with numbers as one sign, and the names of its parameters."""
    try:
        parts = urlsplit(url)
        names = sorted(
            {name for name, _ in parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100)}
        )
    except ValueError:
        return url
    return f"{parts.netloc}{_DIGITS.sub('#', parts.path)}?{'&'.join(names)}"
