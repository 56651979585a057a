"""Learns rules for single sites: URLs with known content show which parts of a URL do not matter.

Candidates come from pairs of URLs with the same content that differ in one place: a parameter, the host, the beginning
or the end of the path, capitals. Each candidate is then tried on all known URLs of its host, with the same code that
will apply it. Groups of URLs that it merges are support if their content is the same, and counter-examples if not.
Support counts contents, not groups: a page that says "not found" under every path and id is one content, and does not
support dropping the id.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from neardup.errors import ConfigError
from neardup.values.checks import checked
from neardup.web.suffixes import names_a_copy, registered_name
from neardup.web.urls.canonical import DEFAULT, canonical_urls
from neardup.web.urls.contents import Contents
from neardup.web.urls.rules import UrlRules
from neardup.web.urls.sites import SiteRule
from neardup.web.urls.steps import Parts

__all__ = ["Learnt", "Proposal", "learn_url_rules"]

# Limits, so that a hostile URL or host cannot cost too much.
MOST_PARAMETERS, MOST_CANDIDATES, LONGEST_SUFFIX, SAMPLES, MOST_TOGETHER = 64, 40, 32, 3, 4


@dataclass(frozen=True)
class Proposal:
    """A rule with its evidence. `merged` is the number of URLs it saves; `accepted` says whether the evidence is
    enough.

    `examples` are pairs of URLs that it merges correctly, `counter_examples` pairs that it would merge although their
    content differs; at most three of each. For aliases, `same_owner` says whether both hosts have the same registered
    name, and `overlap` is the share of the smaller host's URLs that the other host has too.

    >>> import neardup as nd
    >>> contents = [(f"http://a.org/{page}?from={place}", page) for page in "pqrs" for place in "xy"]
    >>> learnt = nd.urls.learn_url_rules(contents=contents)
    >>> learnt.proposals[0].accepted, learnt.proposals[0].merged
    (True, 4)
    """

    rule: SiteRule
    merged: int
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[tuple[str, str], ...]
    accepted: bool
    same_owner: bool | None = None
    overlap: float | None = None

    def to_json(self) -> dict[str, Any]:
        rule = self.rule
        said: dict[str, Any] = {"kind": rule.kind, "host": rule.host, "says": str(rule)}
        said |= {"names": list(rule.names)} if rule.names else {}
        said |= {"to": rule.to, "same_owner": self.same_owner, "overlap": self.overlap} if rule.to else {}
        said |= {"support": rule.support, "counter": rule.counter, "merged": self.merged}
        said |= {
            "accepted": self.accepted,
            "examples": self.examples,
            "counter_examples": self.counter_examples,
        }
        return said


@dataclass(frozen=True)
class Learnt:
    """All proposals, accepted ones first, and the rules extended by the accepted ones.

    proposals  all rules that were considered
    rules      the rules to use
    urls       the number of URLs that were read

    >>> import neardup as nd
    >>> contents = [(f"http://a.org/{page}?from={place}", page) for page in "pqrs" for place in "xy"]
    >>> learnt = nd.urls.learn_url_rules(contents=contents)
    >>> len(learnt.proposals), learnt.urls
    (1, 8)
    """

    proposals: tuple[Proposal, ...]
    rules: UrlRules
    urls: int

    @property
    def accepted(self) -> tuple[Proposal, ...]:
        return tuple(proposal for proposal in self.proposals if proposal.accepted)


@checked
def learn_url_rules(
    pairs: Iterable[tuple[str, str]] = (),
    contents: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    *,
    rules: UrlRules = DEFAULT,
    min_support: int = 3,
    max_counter: float = 0.0,
    min_overlap: float = 0.8,
) -> Learnt:
    """Propose rules for the hosts in `pairs` (URLs with equal content) and `contents` (url and digest or cluster).

    URLs that no pair or digest connects count as different, so rules are safer if more of a crawl is given. A rule is
    accepted with `min_support` groups and at most the share `max_counter` of groups against it; an alias also needs
    `min_overlap` of the smaller host's URLs on the other host. Rules are found one after the other: accepted rules are
    applied before the next is tried.

    raises  ConfigError for a bound that makes no sense, such as `min_support` 0

    >>> import neardup as nd
    >>> contents = [(f"http://a.org/{page}?from={place}", page) for page in "pqrs" for place in "xy"]
    >>> learnt = nd.urls.learn_url_rules(contents=contents)
    >>> [(one.rule.kind, one.rule.names) for one in learnt.proposals]
    [('drop-parameter', ('from',))]
    """
    if min_support < 1 or not 0 <= max_counter < 1 or not 0 <= min_overlap <= 1:
        raise ConfigError("min_support must be 1 or more, max_counter below 1, min_overlap from 0 to 1")
    found = Contents.of(pairs, contents, rules=replace(rules, redirects=None))
    crawl = {
        url: int(label)
        for url, label, known in zip(found.urls, found.labels, found.known, strict=True)
        if known
    }
    learner = _Learner(rules, crawl, min_support, max_counter, min_overlap)
    learner.run()
    ranked = sorted(
        learner.proposals.values(),
        key=lambda p: (not p.accepted, -(p.rule.support or 0), p.rule.host, p.rule.kind, p.rule.names),
    )
    return Learnt(tuple(ranked), learner.rules, len(crawl))


class _Learner:
    """URLs with their labels, grouped by host, under rules that grow as proposals are accepted."""

    def __init__(
        self, rules: UrlRules, crawl: dict[str, int], min_support: int, max_counter: float, min_overlap: float
    ) -> None:
        self.rules, self.original = replace(rules, redirects=None), crawl
        self.min_support, self.max_counter, self.min_overlap = min_support, max_counter, min_overlap
        self.proposals: dict[SiteRule, Proposal] = {}
        self._gather()

    def _gather(self) -> None:
        """Apply the current rules to all URLs and sort them by host; of equal forms the first is kept."""
        forms = canonical_urls(self.original, self.rules)
        self.urls: dict[str, int] = {}
        for url, label in zip(forms, self.original.values(), strict=True):
            self.urls.setdefault(url, label)
        self.hosts: dict[str, dict[str, Parts]] = defaultdict(dict)
        for url in self.urls:
            if (parts := self.rules.parts(url)) is not None:
                host = f"{parts.host}:{parts.port}" if parts.port else parts.host
                self.hosts[host][url] = parts

    def run(self) -> None:
        """Repeat until a round accepts nothing: each round may show rules that two differences at once had hidden."""
        while True:
            # Aliases first: they join the URLs of two hosts, so that the evidence of one host is complete.
            found = self._try(list(self._aliases()))
            if found:
                self._gather()
            for host in sorted(self.hosts):
                found |= self._try(self._candidates(host))
            if not found:
                return
            self._gather()

    def _try(self, candidates: list[SiteRule]) -> bool:
        """Check the evidence of each, and accept the first good rule of each host. The others are tried in the next
        round, on the changed URLs."""
        changed: set[str] = set()
        for rule in candidates:
            before = self.proposals.get(rule)
            if (before is not None and before.accepted) or changed & {rule.host, rule.to}:
                continue
            proposal = self._evidence(rule)
            if proposal.rule.support:
                self.proposals[rule] = proposal
            if proposal.accepted:
                self.rules = self.rules.with_sites([proposal.rule])
                changed |= {rule.host} | ({rule.to} if rule.to else set())
        return bool(changed)

    def _evidence(self, rule: SiteRule) -> Proposal:
        urls = list(self.hosts[rule.host]) + (list(self.hosts[rule.to]) if rule.to else [])
        groups: dict[str, list[str]] = defaultdict(list)
        for url, form in zip(urls, canonical_urls(urls, self.rules.with_sites([rule])), strict=True):
            groups[form].append(url)
        shared: set[int] = set()
        together = counter = merged = 0
        examples: list[tuple[str, str]] = []
        against: list[tuple[str, str]] = []
        for group in groups.values():
            if len(group) < 2:
                continue
            first = group[0]
            other = next((url for url in group if self.urls[url] != self.urls[first]), None)
            if other is None:
                shared.add(self.urls[first])
                together, merged = together + 1, merged + len(group) - 1
                examples += [(first, group[1])] if len(examples) < SAMPLES else []
            else:
                counter += 1
                against += [(first, other)] if len(against) < SAMPLES else []
        support = len(shared)
        enough = support >= self.min_support and counter <= self.max_counter * (support + counter)
        overlap = None
        if rule.to:
            overlap = (together + counter) / max(1, min(len(self.hosts[rule.host]), len(self.hosts[rule.to])))
            enough = enough and overlap >= self.min_overlap
        owners = (registered_name(rule.host.partition(":")[0]), registered_name(rule.to.partition(":")[0]))
        return Proposal(
            replace(rule, support=support, counter=counter),
            merged,
            tuple(examples),
            tuple(against),
            enough,
            (owners[0] is not None and owners[0] == owners[1]) if rule.to else None,
            overlap,
        )

    def _aliases(self) -> Iterator[SiteRule]:
        """Hosts with the same content under the same path, each with the best such host."""
        places: dict[tuple[str, int], list[str]] = defaultdict(list)
        for host, urls in self.hosts.items():
            for url, parts in urls.items():
                places[f"{parts.path}?{'&'.join(parts.pieces)}", self.urls[url]].append(host)
        order = {host: (names_a_copy(host), -len(urls), len(host), host) for host, urls in self.hosts.items()}
        together: Counter[tuple[str, str]] = Counter()
        for hosts in places.values():
            # One comparison for each host, not for each pair: a path that all hosts have must not cost quadratic time.
            best = min(hosts, key=order.__getitem__)
            together.update((host, best) for host in hosts if host != best)
        for (host, best), count in sorted(together.items(), key=lambda item: (-item[1], item[0])):
            if count >= self.min_support:
                yield SiteRule("host-alias", host, to=best)

    def _candidates(self, host: str) -> list[SiteRule]:
        """The differences between pairs of one host with the same content, the most common first."""
        by_label: dict[int, list[str]] = defaultdict(list)
        for url in self.hosts[host]:
            by_label[self.urls[url]].append(url)
        seen: Counter[SiteRule] = Counter()
        for urls in by_label.values():
            seen.update(self._differences(host, urls))
        ranked = sorted(
            seen.items(), key=lambda item: (-item[1], len(item[0].names), item[0].kind, item[0].names)
        )
        return [rule for rule, count in ranked if count >= self.min_support][:MOST_CANDIDATES]

    def _differences(self, host: str, urls: list[str]) -> Iterator[SiteRule]:
        """For URLs with the same content: the parameters in which those with the same path differ, and the ends of
        their paths."""
        parts = self.hosts[host]
        paths: dict[str, list[Parts]] = defaultdict(list)
        for url in urls:
            paths[parts[url].path].append(parts[url])
        for same_path in paths.values():
            yield from (SiteRule("drop-parameter", host, names) for names in _parameters(same_path))
        # Neighbours in order, and each with the smallest: linear, and enough, because the evidence uses all URLs.
        queries = {path: {tuple(parts.pieces) for parts in same} for path, same in paths.items()}
        ordered = sorted(paths)
        by_tail = sorted(paths, key=lambda path: path[::-1])
        twos = {(a, b) for row in (ordered, by_tail) for a, b in pairwise(row)}
        for a, b in sorted(twos | {(ordered[0], path) for path in ordered[1:]}):
            if queries[a] & queries[b]:
                yield from _ends(host, a, b)


def _parameters(urls: list[Parts]) -> Iterator[tuple[str, ...]]:
    """The names of parameters that differ between URLs with the same path: single ones, and those that differ
    together."""
    first = min(urls, key=lambda parts: (len(parts.pieces), parts.pieces))
    for parts in urls:
        if parts is first or len(parts.pieces) > MOST_PARAMETERS or len(first.pieces) > MOST_PARAMETERS:
            continue
        differ = sorted({piece.partition("=")[0] for piece in set(parts.pieces) ^ set(first.pieces)} - {""})
        differ = [name for name in differ if not name.endswith("*")]
        if 0 < len(differ) <= MOST_TOGETHER:
            yield tuple(differ)
            if len(differ) > 1:
                yield from ((name,) for name in differ)


def _ends(host: str, a: str, b: str) -> Iterator[SiteRule]:
    """The rules that would make two paths of one host the same."""
    if a.lower() == b.lower():
        yield SiteRule("path-case", host)
        return
    left, right = a.split("/")[1:], b.split("/")[1:]
    tail = 0
    while tail < min(len(left), len(right)) and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    candidates: list[tuple[str, tuple[str, str]]] = []
    if tail:
        heads = ("".join(f"/{part}" for part in side[: len(side) - tail]) for side in (left, right))
        candidates.append(("same-prefix", (next(heads), next(heads))))
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    for place in range(same, 0, -1):
        # Go back to where a word ends in both: at a dot, a slash or similar, or at the very end.
        if all(side[place : place + 1] in ("", ".", "/", "_", "-", "~") for side in (a, b)):
            ends = a[place:], b[place:]
            if max(map(len, ends)) <= LONGEST_SUFFIX:
                candidates.append(("same-suffix", ends))
            break
    for kind, names in candidates:
        try:
            # Sorted, so that the same rule is not counted as two.
            ordered = tuple(sorted(names, key=lambda name: (-len(name), name)))
            yield SiteRule("same-prefix" if kind == "same-prefix" else "same-suffix", host, ordered)
        except ConfigError:
            continue  # the path has characters that no rule may contain
