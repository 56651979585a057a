"""Redirects and rel=canonical links: what their owners say is the same page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from urllib.parse import urljoin

from neardup.errors import ConfigError
from neardup.web.url_lists import read_pairs
from neardup.web.urls.canonical import DEFAULT, canonical_urls
from neardup.web.urls.rules import UrlRules

__all__ = ["Redirects"]


@dataclass(frozen=True, eq=False)
class Redirects:
    """Where each URL leads in the end, both in canonical form; chains are followed.

    `loops` are circles, each from its smallest URL on; their members, and the `trapped` URLs that lead into them, stay
    as they are. `conflicts` are URLs said to lead to two places (url, the first, which holds, and the other).
    """

    table: dict[str, str]
    loops: tuple[tuple[str, ...], ...]
    trapped: tuple[str, ...]
    conflicts: tuple[tuple[str, str, str], ...]

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], rules: UrlRules = DEFAULT) -> Redirects:
        """From pairs of URLs (from, to). Linear in their number; `rules` must be those the redirects are used with.

        A target that is no whole URL, as `/login` or `../new`, is taken as seen from the page that names it.
        """
        rules = replace(rules, redirects=None)
        sources, targets = [], []
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2:
                raise ConfigError(f"a redirect is a pair of URLs, not {pair!r}")
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
        """From a TSV, CSV or JSONL file of from and to."""
        return cls.of(read_pairs(path), rules)


def _targets(sources: list[str], targets: list[str], rules: UrlRules) -> list[str]:
    """The canonical targets. Taken by itself, `/login` would make one page of the redirects of all hosts.

    What makes no URL even so leads nowhere: its target is the page itself.
    """
    made = canonical_urls(targets, rules)
    found = list(made)
    for row in made.unparsed.tolist():
        source = canonical_urls([sources[row]], rules)
        if len(source.unparsed):
            continue
        try:
            whole = canonical_urls([urljoin(sources[row].strip(), found[row])], rules)
        except ValueError:  # a host in brackets that is no address
            whole = source
        found[row] = source[0] if len(whole.unparsed) else whole[0]
    return found


def _ends(hops: dict[str, str]) -> tuple[dict[str, str | None], list[tuple[str, ...]]]:
    """The end of each chain, None where it runs into a circle; and the circles."""
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
