"""URLs to their canonical form: one text for the many URLs of one page, good enough to deduplicate a frontier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError, MissingExtra
from neardup.web.urls.rules import UrlRules
from neardup.web.urls.standard import standard_steps
from neardup.web.urls.steps import Parts

__all__ = [
    "CanonicalUrls",
    "UrlExplanation",
    "UrlStep",
    "canonical_url",
    "canonical_urls",
    "explain_url",
    "parts_of",
]

DEFAULT = UrlRules()

# Longer ones are parsed and no more: no page needs them, and rules that apply again and again would take long.
LONGEST = 1 << 14


@lru_cache(maxsize=1)
def _parser() -> Callable[[str], Any]:
    try:
        import can_ada
    except ImportError as error:
        raise MissingExtra("parsing URLs", "web") from error
    parse: Callable[[str], Any] = can_ada.parse
    return parse


@dataclass(frozen=True)
class CanonicalUrls(Sequence[str]):
    """The canonical forms of a batch, one for each row. `unparsed` has the rows that are no URLs, ascending (int64):
    they are given back as they came, white space around them stripped."""

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
        """The first row of each form, ascending: what is left of a frontier."""
        return np.array([rows[0] for rows in self.groups().values()], dtype=np.int64)


@dataclass(frozen=True)
class UrlStep:
    """One rule that changed a URL, with what it did."""

    rule: str
    before: str
    after: str


@dataclass(frozen=True)
class UrlExplanation:
    """How a URL became its canonical form. `parsed` is False for what is no URL and came back as it was."""

    url: str
    canonical: str
    parsed: bool
    steps: tuple[UrlStep, ...]

    def to_json(self) -> dict[str, Any]:
        steps = [{"rule": s.rule, "before": s.before, "after": s.after} for s in self.steps]
        return {"url": self.url, "canonical": self.canonical, "parsed": self.parsed, "steps": steps}


def canonical_url(url: str, rules: UrlRules = DEFAULT) -> str:
    """The canonical form of one URL. Never raises on what a URL may look like; what is no URL comes back stripped."""
    return canonical_urls([url], rules).urls[0]


def canonical_urls(urls: Iterable[str], rules: UrlRules = DEFAULT) -> CanonicalUrls:
    """The canonical forms of many URLs. The form of a form is itself, under the same rules.

    URLs of the web (http, https) of up to 16,384 characters go through all rules; others are only parsed and written
    as the standard says.
    """
    parse, steps = _parser(), tuple(step for _, step in rules.steps)
    redirects = rules.redirects.table if rules.redirects is not None else None
    made: list[str] = []
    unparsed: list[int] = []
    for row, url in enumerate(urls):
        if not isinstance(url, str):
            raise DataError(f"URL {row} is {type(url).__name__}, not text")
        current = url.strip()
        while True:
            parts = _parts(parse, current)
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
            current = str(parts)
            if not parts.again:
                break
        if redirects:
            current = redirects.get(current, current)
        made.append(current)
    return CanonicalUrls(made, np.array(unparsed, dtype=np.int64))


def explain_url(url: str, rules: UrlRules = DEFAULT) -> UrlExplanation:
    """Which rules changed a URL on the way to its canonical form, in order, with the URL before and after each."""
    if not isinstance(url, str):
        raise DataError(f"a URL is text, not {type(url).__name__}")
    parse, told = _parser(), []
    current = url.strip()
    if current != url:
        told.append(UrlStep("white-space", url, current))
    while True:
        parts = _parts(parse, current)
        if parts is None:
            return UrlExplanation(url, current, False, tuple(told))
        parsed = parts if isinstance(parts, str) else parse(current).href
        told += [UrlStep(*step) for step in standard_steps(current, parsed)]
        before, current = current, parsed
        if isinstance(parts, str):
            if current == before:
                break
            continue
        for name, step in rules.steps:
            step(parts)
            after = str(parts)
            if after != current:
                told.append(UrlStep(name, current, after))
                current = after
        if not parts.again:
            break
    if rules.redirects is not None and (to := rules.redirects.table.get(current)) is not None:
        told.append(UrlStep("redirect", current, to))
        current = to
    return UrlExplanation(url, current, True, tuple(told))


def parts_of(url: str, rules: UrlRules = DEFAULT) -> Parts | None:
    """The parts of the canonical form of a URL of the web; None for anything else. Redirects are not followed."""
    current, parse = url.strip(), _parser()
    while True:
        parts = _parts(parse, current)
        if parts is None or isinstance(parts, str):
            return None
        for _, step in rules.steps:
            step(parts)
        if not parts.again:
            return parts
        current = str(parts)


def _parts(parse: Callable[[str], Any], url: str) -> Parts | str | None:
    """The parts of a URL of the web, another URL as the standard writes it, or None for what is none."""
    try:
        parsed = parse(url)
    except (ValueError, TypeError):  # TypeError: a lone surrogate has no UTF-8
        return None
    protocol = parsed.protocol
    if (protocol != "https:" and protocol != "http:") or len(url) > LONGEST:
        href: str = parsed.href
        return href
    user = ""
    if "@" in url and (parsed.username or parsed.password):
        user = f"{parsed.username}:{parsed.password}@" if parsed.password else f"{parsed.username}@"
    search, fragment = parsed.search, parsed.hash
    # The parser keeps a sign with nothing behind it in the whole URL, and leaves it out of the parts.
    if not fragment and "#" in url and parsed.href.endswith("#"):
        fragment = "#"
    if not search and "?" in url and parsed.href.partition("#")[0].endswith("?"):
        search = "?"
    return Parts(protocol[:-1], user, parsed.hostname, parsed.port, parsed.pathname, search, fragment)
