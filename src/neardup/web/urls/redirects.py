"""Redirects and rel=canonical links: statements of site owners that URLs are the same page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from urllib.parse import urljoin

from neardup.errors import ConfigError
from neardup.values.checks import checked_methods
from neardup.web.url_lists import read_pairs
from neardup.web.urls.canonical import DEFAULT, canonical_urls
from neardup.web.urls.rules import UrlRules

__all__ = ["Redirects"]


@checked_methods
@dataclass(frozen=True, eq=False)
class Redirects:
    """The final target of each URL, both in canonical form; chains are followed.

    `loops` are circles, each starting at its smallest URL; their members, and the `trapped` URLs that lead into them,
    are not changed. `conflicts` are URLs with two targets (url, the first target, which is used, and the other).

    table  the final target of each URL

    >>> import neardup as nd
    >>> redirects = nd.urls.Redirects.of([("http://a.org/old", "http://a.org/new")])
    >>> redirects.table
    {'https://a.org/old': 'https://a.org/new'}
    """

    table: dict[str, str]
    loops: tuple[tuple[str, ...], ...]
    trapped: tuple[str, ...]
    conflicts: tuple[tuple[str, str, str], ...]

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], rules: UrlRules = DEFAULT) -> Redirects:
        """Make redirects from pairs of URLs (from, to), in linear time; `rules` must be those they are used with.

        A relative target, such as `/login` or `../new`, is resolved against the page that contains it.
        """
        rules = replace(rules, redirects=None)
        sources, targets = [], []
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise ConfigError(f"pairs: a redirect is a pair of URLs, not {pair!r}")
            sources.append(pair[0])
            targets.append(pair[1])
        hops: dict[str, str] = {}
        conflicts = []
        for source, target in zip(
            canonical_urls(sources, rules), _targets(sources, targets, rules), strict=True
        ):
            if source == target:
                continue
            first = hops.setdefault(source, target)
            if first != target:
                conflicts.append((source, first, target))
        ends, loops = _ends(hops)
        circular = {url for loop in loops for url in loop}
        table = {source: end for source, end in ends.items() if end is not None}
        trapped = tuple(sorted(url for url, end in ends.items() if end is None and url not in circular))
        return cls(table, tuple(sorted(loops)), trapped, tuple(conflicts))

    @classmethod
    def load(cls, path: str | PathLike[str], rules: UrlRules = DEFAULT) -> Redirects:
        """From a TSV, CSV or JSONL file with the columns from and to."""
        return cls.of(read_pairs(path), rules)


def _targets(sources: list[str], targets: list[str], rules: UrlRules) -> list[str]:
    """The canonical targets. Without its host, `/login` would merge the redirects of all hosts into one page.

    If a target is not a URL even after that, the page leads to itself.
    """
    made = canonical_urls(targets, rules)
    found = list(made)
    for row in made.unparsed.tolist():
        source = canonical_urls([sources[row]], rules)
        if len(source.unparsed):
            continue
        try:
            whole = canonical_urls([urljoin(sources[row].strip(), found[row])], rules)
        except ValueError:  # a host in brackets that is not an address
            whole = source
        found[row] = source[0] if len(whole.unparsed) else whole[0]
    return found


def _ends(hops: dict[str, str]) -> tuple[dict[str, str | None], list[tuple[str, ...]]]:
    """The end of each chain, None if it leads into a circle; and the circles."""
    ends: dict[str, str | None] = {}
    loops = []
    for start in hops:
        if start in ends:
            continue
        chain: dict[str, int] = {}
        url = start
        while url in hops and url not in chain and url not in ends:
            chain[url] = len(chain)
            url = hops[url]
        end: str | None
        if url in chain:
            circle = list(chain)[chain[url] :]
            least = circle.index(min(circle))
            loops.append((*circle[least:], *circle[:least]))
            end = None
        else:
            end = ends.get(url, url)
        ends.update(dict.fromkeys(chain, end))
    return ends, loops
