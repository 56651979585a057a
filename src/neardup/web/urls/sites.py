"""Rules for a single host: written by hand, or learnt from URLs with known content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from neardup.errors import ConfigError
from neardup.web.urls.steps import Parts, Step, drops, lower_path

__all__ = ["KINDS", "Kind", "SiteRule", "site_step"]

Kind = Literal["drop-parameter", "host-alias", "same-prefix", "same-suffix", "path-case"]
KINDS = ("drop-parameter", "host-alias", "same-prefix", "same-suffix", "path-case")

_PREFIX = re.compile(r"(?:/[A-Za-z0-9\-._~!$'()*,:@&=;+%]+)*")
# A suffix begins where a word ends, so that it never splits an escape.
_SUFFIX = re.compile(r"(?:[./_~\-][A-Za-z0-9\-._~!$'()*,:@&=/]*)?")


@dataclass(frozen=True)
class SiteRule:
    """One rule for one host (`name` or `name:port`; `www.` is left out if the rule for it is on).

    - `drop-parameter`: the parameters in `names` never change the page.
    - `host-alias`: `host` has the same pages as `to` under the same paths; `to` is written.
    - `same-prefix`, `same-suffix`: paths that begin (at a slash) or end with `names[0]` show the same page as those
      with `names[1]`. The shorter one is written; if both have the same length, the smaller.
    - `path-case`: capitals in paths do not matter.

    `support` and `counter` are the evidence when it was learnt: groups of URLs that the rule merges correctly, and
    groups that it would merge wrongly.

    kind  one of the kinds above
    host  the host that it applies to

    >>> import neardup as nd
    >>> rules = nd.urls.UrlRules(sites=(nd.urls.SiteRule("drop-parameter", "a.org", ("ref",)),))
    >>> nd.urls.canonical_url("http://a.org/page?ref=menu&id=7", rules)
    'https://a.org/page?id=7'
    """

    kind: Kind
    host: str
    names: tuple[str, ...] = ()
    to: str = ""
    support: int | None = None
    counter: int | None = None

    def __post_init__(self) -> None:
        where = f"rule {self.kind!r} for {self.host!r}"
        if self.kind not in KINDS:
            raise ConfigError(f"{where}: there is no such kind; there are: {', '.join(KINDS)}")
        if not isinstance(self.host, str) or not self.host or re.search(r"[\s/?#@\\]", self.host):
            raise ConfigError(f"{where}: the host must be a name or name:port")
        if any(not isinstance(name, str) for name in self.names):
            raise ConfigError(f"{where}: names must be texts")
        if self.kind == "drop-parameter" and (not self.names or "" in self.names or "*" in self.names):
            raise ConfigError(f"{where}: names must list the parameters to drop")
        if self.kind == "host-alias" and (not self.to or re.search(r"[\s/?#@\\]", self.to)):
            raise ConfigError(f"{where}: `to` must be the host to write")
        if self.kind in ("same-prefix", "same-suffix"):
            form = _PREFIX if self.kind == "same-prefix" else _SUFFIX
            if len(self.names) != 2 or self.names[0] == self.names[1]:
                raise ConfigError(f"{where}: names must be two different ends of paths")
            if not all(form.fullmatch(name) for name in self.names):
                begins = "/" if self.kind == "same-prefix" else "one of . / - _ ~"
                raise ConfigError(
                    f"{where}: {self.names} must each be empty or begin with {begins}, without slash at the end"
                )

    def __str__(self) -> str:
        if self.kind == "drop-parameter":
            return f"{self.host}: {', '.join(self.names)} never change{'s' if len(self.names) == 1 else ''} the page"
        if self.kind == "host-alias":
            return f"{self.host} is {self.to}"
        if self.kind == "path-case":
            return f"{self.host}: capitals in paths do not matter"
        end = "begin" if self.kind == "same-prefix" else "end"
        one, other = (name or "nothing" for name in self.names)
        return f"{self.host}: paths that {end} with {one} or {other} are the same"


@dataclass(slots=True)
class _Site:
    """The rules of one host, ready to apply."""

    dropped: list[str] = field(default_factory=list)
    prefixes: list[tuple[str, str]] = field(default_factory=list)
    suffixes: list[tuple[str, str]] = field(default_factory=list)
    lower: bool = False
    drop: Callable[[str], bool] | None = None


def site_step(
    rules: Iterable[SiteRule], host_of: Callable[[str], str], path_of: Callable[[str], str]
) -> Step:
    """One step for all site rules. `host_of` and `path_of` write a host and a path as the other rules do."""
    aliases: dict[str, str] = {}
    sites: dict[str, _Site] = {}
    for rule in rules:
        host = host_of(rule.host)
        if rule.kind == "host-alias":
            if (to := host_of(rule.to)) != host:
                aliases[host] = to
            continue
        site = sites.setdefault(host, _Site())
        if rule.kind == "drop-parameter":
            site.dropped += rule.names
        elif rule.kind == "path-case":
            site.lower = True
        elif rule.kind == "same-prefix":
            site.prefixes.append(_directed(*(path_of(name) if name else "" for name in rule.names)))
        else:
            site.suffixes.append(_directed(*rule.names))
    ends = {host: _end(host, aliases) for host in aliases}
    for site in sites.values():
        site.drop = drops(site.dropped)
        if site.lower:  # before the order is chosen: capitals sort first
            site.prefixes = [_directed(lower_path(a), lower_path(b)) for a, b in site.prefixes]
            site.suffixes = [_directed(a.lower(), b.lower()) for a, b in site.suffixes]

    def step(parts: Parts) -> None:
        netloc = f"{parts.host}:{parts.port}" if parts.port else parts.host
        if (to := ends.get(netloc)) is not None:
            netloc = to
            parts.host, _, parts.port = to.partition(":") if not to.startswith("[") else (to, "", "")
        if (site := sites.get(netloc)) is not None:
            _apply(site, parts)

    return step


def _apply(site: _Site, parts: Parts) -> None:
    assert site.drop is not None
    if parts.pieces:
        parts.pieces = [piece for piece in parts.pieces if not site.drop(piece.partition("=")[0])]
    before = parts.path
    path = lower_path(before) if site.lower else before
    for longer, shorter in site.prefixes:
        if path.startswith(longer) and path[len(longer) : len(longer) + 1] in ("", "/"):
            path = shorter + path[len(longer) :]
    for longer, shorter in site.suffixes:
        if path.endswith(longer):
            path = path[: len(path) - len(longer)] + shorter
    if path != before:
        parts.path, parts.again = path or "/", True


def _directed(a: str, b: str) -> tuple[str, str]:
    """The pair, with the one to be written last; each use makes the path smaller, so rewriting ends."""
    return (a, b) if (len(a), a) > (len(b), b) else (b, a)


def _end(host: str, aliases: dict[str, str]) -> str:
    """The end of a chain of aliases; a circle is an error."""
    seen = [host]
    while (to := aliases.get(seen[-1])) is not None:
        if to in seen:
            raise ConfigError(f"hosts are aliases in a circle: {' -> '.join([*seen, to])}")
        seen.append(to)
    return seen[-1]
