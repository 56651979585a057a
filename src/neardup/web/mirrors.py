"""Mirrors: trees of pages (Host1/a, Host2/b) most of whose paths exist on both with near-identical content.

Host1/a and Host2/b are mirrors if for most paths p under Host1/a there is Host2/b/p with the same content, and vice
versa. Two pages with the same content and the same end of the path suggest a pair of trees: the parts of their paths
before the common end, and every longer beginning. Only trees that are suggested often enough for their size are
compared, so the work grows with the number of pairs and never with the square of the hosts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from neardup.errors import ConfigError
from neardup.values.checks import checked, checked_methods
from neardup.web.mirror_trees import Crawl, CrawledPage, Tree
from neardup.web.suffixes import names_a_copy, registered_name
from neardup.web.urls.canonical import DEFAULT, canonical_url
from neardup.web.urls.contents import Contents
from neardup.web.urls.rules import UrlRules

__all__ = ["Mirror", "MirrorGroup", "Mirrors", "SamePage", "find_mirrors"]

DEEPEST, SAMPLES = 16, 3
# Two trees are compared only if pairs cover at least this share of what two mirrors have in common.
LEAST_SHOWN = 0.25


@dataclass(frozen=True)
class Mirror:
    """Two trees that hold the same pages: page `left/p` is the same as page `right/p`.

    `left_pages` and `right_pages` are the numbers of known paths under each, `both` of those that exist under both,
    `matched` of those that also have the same content. `samples` are pairs of URLs that match; `missing` are URLs
    without a match.

    >>> import neardup as nd
    >>> pairs = [(f"http://a.org/{page}", f"http://b.org/{page}") for page in "pqrstu"]
    >>> found = nd.mirrors.find_mirrors(pairs)
    >>> mirror = found.mirrors[0]
    >>> mirror.left_pages, mirror.both, mirror.matched
    (6, 6, 6)
    """

    left: Tree
    right: Tree
    left_pages: int
    right_pages: int
    both: int
    matched: int
    samples: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]

    @property
    def left_share(self) -> float:
        """The share of the left tree's paths that the right tree has with the same content."""
        return self.matched / self.left_pages

    @property
    def right_share(self) -> float:
        """The share of the right tree's paths that the left tree has with the same content."""
        return self.matched / self.right_pages

    @property
    def same_owner(self) -> bool:
        """Whether both hosts have the same registered name, like a site and its CDN alias."""
        owners = [registered_name(tree.host.partition(":")[0]) for tree in (self.left, self.right)]
        return owners[0] is not None and owners[0] == owners[1]

    def to_json(self) -> dict[str, object]:
        return {
            "left": str(self.left),
            "right": str(self.right),
            "left_pages": self.left_pages,
            "right_pages": self.right_pages,
            "both": self.both,
            "matched": self.matched,
            "left_share": round(self.left_share, 6),
            "right_share": round(self.right_share, 6),
            "same_owner": self.same_owner,
            "samples": self.samples,
            "missing": self.missing,
        }


@dataclass(frozen=True)
class MirrorGroup:
    """Trees that mirror each other, the preferred one first: on a preferred host, then on a host whose name does not
    suggest a copy (cdn., mirror., m.), then on the largest host, then on the one with the shortest name.

    trees  the trees, preferred one first
    pages  the number of pages of each tree

    >>> import neardup as nd
    >>> pairs = [(f"http://a.org/{page}", f"http://b.org/{page}") for page in "pqrstu"]
    >>> found = nd.mirrors.find_mirrors(pairs)
    >>> [str(tree) for tree in found.groups[0].trees]
    ['a.org/', 'b.org/']
    """

    trees: tuple[Tree, ...]
    pages: tuple[int, ...]

    @property
    def preferred(self) -> Tree:
        return self.trees[0]


@dataclass(frozen=True)
class SamePage:
    """The same page on a mirror. `known` says whether the URL was given; if not, it may exist.

    url  the address of the page on the mirror

    >>> import neardup as nd
    >>> pairs = [(f"http://a.org/{page}", f"http://b.org/{page}") for page in "pqrstu"]
    >>> found = nd.mirrors.find_mirrors(pairs)
    >>> found.same_page("http://a.org/p")
    (SamePage(url='https://b.org/p', known=True),)
    """

    url: str
    known: bool


@checked_methods
@dataclass(frozen=True)
class Mirrors:
    """The result: `mirrors` match in both directions, `partial` ones in one (a tree that is part of another).

    groups     trees that mirror each other, joined
    urls       the number of URLs that were read
    pairs      the number of pairs of URLs with the same content
    threshold  the smallest share of equal pages
    prefer     the preferred hosts
    crawl      the pages, by tree
    rules      how URLs are made canonical

    >>> import neardup as nd
    >>> pairs = [(f"http://a.org/{page}", f"http://b.org/{page}") for page in "pqrstu"]
    >>> found = nd.mirrors.find_mirrors(pairs)
    >>> len(found.mirrors), len(found.partial), found.urls
    (1, 0, 12)
    """

    mirrors: tuple[Mirror, ...]
    partial: tuple[Mirror, ...]
    groups: tuple[MirrorGroup, ...]
    urls: int
    pairs: int
    threshold: float
    prefer: frozenset[str]
    crawl: Crawl = field(repr=False, compare=False)
    rules: UrlRules = field(repr=False, compare=False)

    def same_page(self, url: str) -> tuple[SamePage, ...]:
        """`<mirror>/samepath`: the URLs of a page on all mirrors of its trees, the preferred first."""
        return tuple(SamePage(page.url, page in self.crawl) for page in self._pages(url)[1:])

    def preferred_url(self, url: str) -> str:
        """The page's URL on the preferred host of its mirrors; its canonical form if there are none."""
        pages = self._pages(url)
        if not pages:
            return canonical_url(url, self.rules)
        return min(pages, key=lambda page: _rank(page.host, self.crawl, self.prefer)).url

    def _pages(self, url: str) -> list[CrawledPage]:
        """The page itself, then its copies on mirrors, and on their mirrors, by preference."""
        parts = self.rules.parts(url)
        if parts is None:
            return []
        start = CrawledPage.of(parts)
        found, hosts, waiting = {start}, {start.host}, [start]
        while waiting:
            page = waiting.pop()
            for tree, group in self._trees.get(page.host, ()):
                if tree.holds(page):
                    for other in group.trees:
                        twin = other.page(page.key[len(tree.prefix) :])
                        # On a host that was already visited, only existing pages: a tree inside its own mirror would
                        # never end.
                        if twin not in found and (twin.host not in hosts or twin in self.crawl):
                            found.add(twin)
                            hosts.add(twin.host)
                            waiting.append(twin)
        others = sorted(
            found - {start}, key=lambda page: (_rank(page.host, self.crawl, self.prefer), page.key)
        )
        return [start, *others]

    @cached_property
    def _trees(self) -> dict[str, list[tuple[Tree, MirrorGroup]]]:
        trees: dict[str, list[tuple[Tree, MirrorGroup]]] = defaultdict(list)
        for group in self.groups:
            for tree in group.trees:
                trees[tree.host].append((tree, group))
        return dict(trees)


@checked
def find_mirrors(
    pairs: Iterable[tuple[str, str]] = (),
    urls: Iterable[str] = (),
    contents: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    *,
    threshold: float = 0.8,
    min_pages: int = 5,
    prefer: Iterable[str] = (),
    rules: UrlRules = DEFAULT,
) -> Mirrors:
    """Find mirrors from duplicate pairs of URLs, or from `contents` (url and digest or cluster), or from both.

    `urls` are all URLs of the crawl: without them, pages without a duplicate are unknown and shares are too high.
    `threshold` is the least share of paths that must match in each direction, inclusive; trees with fewer than
    `min_pages` matches are left out. `prefer` lists hosts to be preferred in groups.

    rules   how URLs are made canonical before they are compared
    raises  ConfigError for a threshold that is out of bounds, or `min_pages` below 1

    >>> import neardup as nd
    >>> pairs = [(f"http://a.org/{page}", f"http://b.org/{page}") for page in "pqrstu"]
    >>> found = nd.mirrors.find_mirrors(pairs)
    >>> len(found.mirrors), found.mirrors[0].matched
    (1, 6)
    """
    if not 0 < threshold <= 1 or min_pages < 1:
        raise ConfigError("threshold must be above 0 and at most 1, and min_pages 1 or more")
    found = Contents.of(pairs, contents, urls, rules)
    crawl = Crawl.of(found)
    shown = _suggested(found, crawl)
    # Parents come first, so that a tree is not reported again for each folder in it.
    ordered = sorted(shown, key=lambda two: (two[0].depth + two[1].depth, two))
    mirrors: dict[tuple[Tree, Tree], Mirror] = {}
    halves: dict[tuple[Tree, Tree], Mirror] = {}
    for two in ordered:
        smaller = min(crawl.pages(two[0], two[1]), crawl.pages(two[1], two[0]))
        least = max(min_pages * LEAST_SHOWN, threshold * LEAST_SHOWN * smaller)
        if shown[two] < least or _below(two, mirrors):
            continue
        mirror = _compare(crawl, *two)
        if mirror.matched < min_pages:
            continue
        low, high = sorted((mirror.left_share, mirror.right_share))
        if low >= threshold:
            mirrors[two] = mirror
        elif high >= threshold and not _below(two, halves):
            halves[two] = mirror
    hosts = {(left.host, right.host) for left, right in mirrors}
    partial = [half for (left, right), half in halves.items() if (left.host, right.host) not in hosts]
    whole = sorted(mirrors.values(), key=lambda m: (-m.matched, m.left, m.right))
    partial.sort(key=lambda m: (-m.matched, m.left, m.right))
    chosen = frozenset(prefer)
    groups = _groups(whole, crawl, chosen)
    facts = len(found), len(found.pairs), threshold
    return Mirrors(tuple(whole), tuple(partial), groups, *facts, chosen, crawl, rules)


def _rank(host: str, crawl: Crawl, prefer: frozenset[str]) -> tuple[bool, bool, int, int, str]:
    """The sort key of a host, smallest first: preferred hosts, hosts that are not copies by name, large ones, short
    names."""
    return host not in prefer, names_a_copy(host), -crawl.pages(Tree(host, "")), len(host), host


def _suggested(found: Contents, crawl: Crawl) -> Counter[tuple[Tree, Tree]]:
    """The number of pairs of pages that suggest each pair of trees. Linear in pairs and URLs, times the depth of
    paths."""
    shown: Counter[tuple[Tree, Tree]] = Counter()
    for a, b in _same_content(found, crawl):
        left, right = crawl.page[a], crawl.page[b]
        if left is None or right is None or left.query != right.query:
            continue
        names, others = left.names, right.names
        tail = 0
        while tail < min(len(names), len(others)) and names[-1 - tail] == others[-1 - tail]:
            tail += 1
        for more in range(min(tail, DEEPEST)):
            one = Tree.of(left.host, names[: len(names) - tail + more])
            two = Tree.of(right.host, others[: len(others) - tail + more])
            if one != two:
                shown[(one, two) if one < two else (two, one)] += 1
    return shown


def _same_content(found: Contents, crawl: Crawl) -> set[tuple[int, int]]:
    """Pairs of rows to learn from: the given ones, and, in each group with the same content and the same last name,
    neighbours by host, and each page with the page of the largest host. Never all pairs of a group."""
    pairs = {(int(a), int(b)) for a, b in found.pairs}
    buckets: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for row, page in enumerate(crawl.page):
        if page is not None and found.known[row]:
            buckets[int(found.labels[row]), page.names[-1] if page.names else "", page.query].append(row)
    for rows in buckets.values():
        if len(rows) < 2:
            continue
        rows.sort(key=lambda row: crawl.order(row))
        best = min(rows, key=lambda row: (-crawl.size(row), crawl.order(row)))
        pairs.update((min(a, b), max(a, b)) for a, b in pairwise(rows))
        pairs.update((min(best, row), max(best, row)) for row in rows if row != best)
    return pairs


def _below(two: tuple[Tree, Tree], known: Mapping[tuple[Tree, Tree], Mirror]) -> bool:
    """Whether two trees are the same folder of two trees that are known to match."""
    left, right = two
    while left.prefix and right.prefix and left.last == right.last:
        left, right = left.parent, right.parent
        if (left, right) in known or (right, left) in known:
            return True
    return False


def _compare(crawl: Crawl, left: Tree, right: Tree) -> Mirror:
    """Look up every path of the smaller tree in the other tree."""
    sizes = crawl.pages(left, right), crawl.pages(right, left)
    small, large = (left, right) if sizes[0] <= sizes[1] else (right, left)
    both = matched = 0
    samples: list[tuple[str, str]] = []
    missing: list[str] = []
    for rest, label in crawl.under(small, large):
        other = crawl.label(large, rest, small)
        both += other is not None
        if other == label:
            matched += 1
            samples += [(left.url(rest), right.url(rest))] if len(samples) < SAMPLES else []
        elif len(missing) < SAMPLES:
            missing.append(small.url(rest))
    if len(missing) < SAMPLES and matched < max(sizes):
        for rest, label in crawl.under(large, small):
            if crawl.label(small, rest, large) != label:
                missing.append(large.url(rest))
                if len(missing) >= SAMPLES:
                    break
    return Mirror(left, right, *sizes, both, matched, tuple(samples), tuple(missing))


def _groups(mirrors: list[Mirror], crawl: Crawl, prefer: frozenset[str]) -> tuple[MirrorGroup, ...]:
    parent: dict[Tree, Tree] = {}

    def root(tree: Tree) -> Tree:
        parent.setdefault(tree, tree)
        while parent[tree] != tree:
            parent[tree] = parent[parent[tree]]
            tree = parent[tree]
        return tree

    for mirror in mirrors:
        parent[root(mirror.left)] = root(mirror.right)
    members: dict[Tree, list[Tree]] = defaultdict(list)
    for tree in sorted(parent):
        members[root(tree)].append(tree)
    groups = []
    for trees in members.values():
        sizes = {tree: crawl.pages(tree) for tree in trees}
        trees.sort(key=lambda tree: (_rank(tree.host, crawl, prefer), -sizes[tree], tree))
        groups.append(MirrorGroup(tuple(trees), tuple(sizes[tree] for tree in trees)))
    return tuple(sorted(groups, key=lambda group: (-sum(group.pages), group.trees)))
