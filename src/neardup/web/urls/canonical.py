"""The canonical form of URLs: one text for the many URLs of one page, good enough to deduplicate a frontier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.values.checks import checked
from neardup.web.urls.parser import LONGEST, parser, read, written
from neardup.web.urls.rules import UrlRules
from neardup.web.urls.standard import standard_steps

__all__ = [
    "CanonicalUrls",
    "UrlExplanation",
    "UrlStep",
    "canonical_url",
    "canonical_urls",
    "explain_url",
]

DEFAULT = UrlRules()


@dataclass(frozen=True)
class CanonicalUrls(Sequence[str]):
    """The canonical forms of a batch, one for each row. `unparsed` are the rows that are not URLs, ascending (int64):
    they are returned unchanged, without surrounding white space.

    urls  the canonical forms, by row

    >>> import neardup as nd
    >>> nd.urls.canonical_urls(["http://Example.org:80/", "not a URL "]).unparsed.tolist()
    [1]
    """

    urls: list[str]
    unparsed: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.urls)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        return self.urls[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self.urls)

    def groups(self) -> dict[str, list[int]]:
        """The rows of each form, in the order of its first row."""
        found: dict[str, list[int]] = {}
        for row, url in enumerate(self.urls):
            found.setdefault(url, []).append(row)
        return found

    def firsts(self) -> NDArray[np.int64]:
        """The first row of each form, ascending: the deduplicated frontier."""
        return np.array([rows[0] for rows in self.groups().values()], dtype=np.int64)


@dataclass(frozen=True)
class UrlStep:
    """One rule that changed a URL, with the URL before and after.

    >>> import neardup as nd
    >>> nd.urls.explain_url("http://example.org/page#top").steps[-1]
    UrlStep(rule='fragment', before='https://example.org/page#top', after='https://example.org/page')
    """

    rule: str
    before: str
    after: str


@dataclass(frozen=True)
class UrlExplanation:
    """How a URL became its canonical form. `parsed` is False if it is not a URL and was returned unchanged.

    url        as it was given
    canonical  its canonical form
    steps      each rule that changed it, with the URL after it

    >>> import neardup as nd
    >>> found = nd.urls.explain_url("http://example.org/page#top")
    >>> found.canonical, found.parsed
    ('https://example.org/page', True)
    """

    url: str
    canonical: str
    parsed: bool
    steps: tuple[UrlStep, ...]

    def to_json(self) -> dict[str, Any]:
        steps = [{"rule": s.rule, "before": s.before, "after": s.after} for s in self.steps]
        return {"url": self.url, "canonical": self.canonical, "parsed": self.parsed, "steps": steps}


def canonical_url(url: str, rules: UrlRules = DEFAULT) -> str:
    """The canonical form of one URL. Never raises for any text; a text that is not a URL is returned without
    surrounding white space.

    url     any text
    rules   what is left out and rewritten; by default `STANDARD`
    raises  DataError if `url` is not a text

    >>> import neardup as nd
    >>> nd.urls.canonical_url("HTTP://www.Example.org:80/a/../b?utm_source=x&id=7#top")
    'https://example.org/b?id=7'
    """
    return canonical_urls([url], rules).urls[0]


@checked
def canonical_urls(urls: Iterable[str], rules: UrlRules = DEFAULT) -> CanonicalUrls:
    """The canonical forms of many URLs. A canonical form does not change again under the same rules.

    All rules are applied to web URLs (http, https) of up to 16,384 characters; others are only parsed and written as
    the standard says.

    urls    texts
    raises  DataError for what is not a text

    >>> import neardup as nd
    >>> nd.urls.canonical_urls(["http://Example.org:80/", "not a URL "]).urls
    ['https://example.org/', 'not a URL']
    """
    parse, steps, kept = parser(), tuple(step for _, step in rules.steps), rules.kept
    redirects = rules.redirects.table if rules.redirects is not None else None
    made: list[str] = []
    unparsed: list[int] = []
    for row, url in enumerate(urls):
        if not isinstance(url, str):
            raise DataError(f"URL {row} is {type(url).__name__}, not text")
        current = url.strip()
        while True:
            parts, host = read(parse, current, kept)
            if parts is None:
                unparsed.append(row)
                break
            if isinstance(parts, str):
                if parts == current:
                    break
                current = parts
                continue
            for step in steps:
                step(parts)
            current = written(parts, host)
            if not parts.again and len(current) <= LONGEST:
                break
        if redirects:
            current = redirects.get(current, current)
        made.append(current)
    return CanonicalUrls(made, np.array(unparsed, dtype=np.int64))


@checked
def explain_url(url: str, rules: UrlRules = DEFAULT) -> UrlExplanation:
    """The rules that changed a URL on the way to its canonical form, in order, with the URL before and after each.

    url     any text
    raises  ConfigError if `url` is not a text

    >>> import neardup as nd
    >>> [step.rule for step in nd.urls.explain_url("http://example.org/?utm_source=x#top").steps]
    ['scheme', 'tracking', 'fragment']
    """
    if not isinstance(url, str):
        raise DataError(f"a URL is text, not {type(url).__name__}")
    parse, steps = parser(), []
    current = url.strip()
    if current != url:
        steps.append(UrlStep("white-space", url, current))
    while True:
        parts, host = read(parse, current, rules.kept)
        if parts is None:
            return UrlExplanation(url, current, False, tuple(steps))
        parsed = parts if isinstance(parts, str) else written(parts, host)
        steps += [UrlStep(*step) for step in standard_steps(current, parsed)]
        before, current = current, parsed
        if isinstance(parts, str):
            if current == before:
                break
            continue
        for name, step in rules.steps:
            step(parts)
            after = written(parts, host)
            if after != current:
                steps.append(UrlStep(name, current, after))
                current = after
        if not parts.again and len(current) <= LONGEST:
            break
    if rules.redirects is not None and (to := rules.redirects.table.get(current)) is not None:
        steps.append(UrlStep("redirect", current, to))
        current = to
    return UrlExplanation(url, current, True, tuple(steps))
