"""The pages of a crawl as trees: a host, the beginning of a path, and the pages below it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neardup.web.urls.contents import Contents
from neardup.web.urls.rules import UrlRules
from neardup.web.urls.steps import Parts

__all__ = ["Crawl", "CrawledPage", "Tree"]

# The URLs of Contents are already canonical: here they are only split.
_AS_IT_IS = UrlRules.only("host-case", "default-port", "dot-segments")


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A URL as host, names along its path, and query."""

    host: str
    names: tuple[str, ...]
    query: str

    @classmethod
    def of(cls, parts: Parts) -> CrawledPage:
        host = f"{parts.host}:{parts.port}" if parts.port else parts.host
        names = parts.path.split("/")[1:] if parts.path != "/" else []
        # Everything after the path distinguishes pages, including a kept fragment.
        query = (f"?{'&'.join(parts.pieces)}" if parts.pieces else "") + parts.fragment
        return cls(host, tuple(names), query)

    @property
    def key(self) -> str:
        """Path and query; the root's path is empty."""
        return "".join(f"/{name}" for name in self.names) + self.query

    @property
    def url(self) -> str:
        key = self.key
        return f"https://{self.host}{key if key.startswith('/') else '/' + key}"


@dataclass(frozen=True, slots=True, order=True)
class Tree:
    """All pages of a host below a path, and the page with that path. The prefix is empty for a whole host."""

    host: str
    prefix: str

    @classmethod
    def of(cls, host: str, names: Sequence[str]) -> Tree:
        return cls(host, "".join(f"/{name}" for name in names))

    def __str__(self) -> str:
        return f"{self.host}{self.prefix}/"

    @property
    def depth(self) -> int:
        return self.prefix.count("/")

    @property
    def last(self) -> str:
        return self.prefix.rpartition("/")[2]

    @property
    def parent(self) -> Tree:
        return Tree(self.host, self.prefix.rpartition("/")[0])

    def holds(self, page: CrawledPage) -> bool:
        return page.host == self.host and self.holds_key(page.key)

    def holds_key(self, key: str) -> bool:
        return key.startswith(self.prefix) and key[len(self.prefix) : len(self.prefix) + 1] in (
            "",
            "/",
            "?",
            "#",
        )

    def page(self, rest: str) -> CrawledPage:
        """The page of this tree whose path and query continue with `rest`."""
        key = self.prefix + rest
        path = re.split("[?#]", key, maxsplit=1)[0]
        return CrawledPage(self.host, tuple(path.split("/")[1:]), key[len(path) :])

    def url(self, rest: str) -> str:
        return self.page(rest).url


class Crawl:
    """The pages of each host in the order of their paths, with their labels. Pages below a tree are one range."""

    def __init__(self, page: list[CrawledPage | None], labels: dict[str, dict[str, int]]) -> None:
        self.page, self._labels = page, labels
        self._keys = {host: sorted(keys) for host, keys in labels.items()}

    @classmethod
    def of(cls, contents: Contents) -> Crawl:
        pages: list[CrawledPage | None] = []
        labels: dict[str, dict[str, int]] = {}
        for url, label in zip(contents.urls, contents.labels.tolist(), strict=True):
            parts = _AS_IT_IS.parts(url)
            page = CrawledPage.of(parts) if parts is not None else None
            pages.append(page)
            if page is not None:
                labels.setdefault(page.host, {})[page.key] = label
        return cls(pages, labels)

    def size(self, row: int) -> int:
        """The number of pages of the host of a row."""
        page = self.page[row]
        return len(self._keys[page.host]) if page is not None else 0

    def order(self, row: int) -> tuple[str, str]:
        page = self.page[row]
        return (page.host, page.key) if page is not None else ("", "")

    def __contains__(self, page: CrawledPage) -> bool:
        return page.key in self._labels.get(page.host, {})

    def label(self, tree: Tree, rest: str, without: Tree) -> int | None:
        """The label of a page of a tree, None if it does not exist or is in another tree inside it."""
        key = tree.prefix + rest
        if _inside(without, tree) and without.holds_key(key):
            return None
        return self._labels.get(tree.host, {}).get(key)

    def _stretches(self, tree: Tree) -> Iterator[tuple[int, int]]:
        keys = self._keys.get(tree.host, [])
        # Sorted by code point: the page itself, its fragments, its folder and its queries are four ranges.
        start = bisect_left(keys, tree.prefix)
        if start < len(keys) and keys[start] == tree.prefix:
            yield start, start + 1
        for sign, after in (("#", "$"), ("/", "0"), ("?", "@")):
            yield bisect_left(keys, tree.prefix + sign), bisect_left(keys, tree.prefix + after)

    def pages(self, tree: Tree, without: Tree | None = None) -> int:
        """The number of pages in a tree, without those of another tree inside it."""
        count = sum(end - start for start, end in self._stretches(tree))
        if without is not None and _inside(without, tree):
            count -= self.pages(without)
        return count

    def under(self, tree: Tree, without: Tree) -> Iterator[tuple[str, int]]:
        """The rest of the path and the label of each page in a tree, without those of another tree inside it."""
        keys, labels = self._keys.get(tree.host, []), self._labels.get(tree.host, {})
        skip = _inside(without, tree)
        for start, end in self._stretches(tree):
            for key in keys[start:end]:
                if not (skip and without.holds_key(key)):
                    yield key[len(tree.prefix) :], labels[key]


def _inside(inner: Tree, outer: Tree) -> bool:
    return inner.host == outer.host and inner.prefix != outer.prefix and outer.holds_key(inner.prefix)
