"""UrlRules: the rules for the canonical form of a URL, as one object that can be saved and loaded."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import ConfigError, DataError, FormatError
from neardup.storage.output import open_output
from neardup.values.checks import checked_methods
from neardup.web.urls.parser import parser, read, written
from neardup.web.urls.sites import SiteRule, site_step
from neardup.web.urls.steps import (
    PARSED,
    RULES,
    Parts,
    Step,
    bare_end,
    scheme_and_port,
    session_drops,
    tracking_drops,
)

if TYPE_CHECKING:
    from neardup.web.urls.redirects import Redirects

__all__ = ["STANDARD", "UrlRules"]

FORMAT = "neardup-url-rules/1"
LARGEST = 64 << 20

# Changes of the URL standard that cannot be switched off: other spellings are not URLs, or the parser hides them.
STANDARD = {
    "white-space": "white space around the URL, and tabs and line ends in it, are dropped",
    "slashes": "backslashes are slashes, and two of them follow the scheme",
    "scheme-case": "the scheme is written in lower case",
    "host-encoding": "international hosts in punycode, addresses and ports in their usual form",
    "escapes": "what a URL cannot hold is percent-encoded",
}


@checked_methods
@dataclass(frozen=True)
class UrlRules:
    """The rules of a canonical form: the defaults changed by `off` and `on`, with added names, sites and redirects.

    `tracking` and `session` add parameter names (`promo_*` for all with that beginning); `keep` lists parameters that
    are never dropped. `nd.urls.UrlRules.known()` lists all rules.

    >>> import neardup as nd
    >>> nd.urls.canonical_url("http://a.org/?promo_code=7", nd.urls.UrlRules(tracking=("promo_*",)))
    'https://a.org/'
    """

    off: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    tracking: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    sites: tuple[SiteRule, ...] = ()
    redirects: Redirects | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "redirects":
                continue
            if isinstance(value, str) or not isinstance(value, Iterable):
                raise ConfigError(f"{field.name} must be a list, not {value!r}")
            object.__setattr__(self, field.name, tuple(value))
        for name in (*self.off, *self.on):
            if name in STANDARD:
                raise ConfigError(
                    f"{name!r} is part of parsing a URL and cannot be switched: there is no other spelling to keep"
                )
            if name not in {rule.name for rule in RULES}:
                raise ConfigError(f"no rule {name!r}; there are: {', '.join(rule.name for rule in RULES)}")
        for name in (*self.tracking, *self.session, *self.keep):
            if not isinstance(name, str) or name in ("", "*"):
                raise ConfigError(
                    f"a parameter name must be a text such as 'promo' or 'promo_*', not {name!r}"
                )

    @classmethod
    def only(cls, *names: str) -> UrlRules:
        """These rules and no others."""
        return cls(off=tuple(rule.name for rule in RULES if rule.name not in names), on=names)

    @staticmethod
    def known() -> dict[str, str]:
        """Every rule that can be switched and what it does, in the order of application."""
        return {rule.name: rule.what for rule in RULES}

    @cached_property
    def kept(self) -> frozenset[str]:
        """The rules of the parser itself that are off."""
        return PARSED.difference(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The rules that are on, in the order of application."""
        return tuple(
            rule.name
            for rule in RULES
            if rule.name in self.on or (rule.default and rule.name not in self.off)
        )

    def with_sites(self, sites: Iterable[SiteRule]) -> UrlRules:
        """These rules with more site rules."""
        return replace(self, sites=(*self.sites, *sites))

    @cached_property
    def steps(self) -> tuple[tuple[str, Step], ...]:
        """The steps to apply, each with the name of its rule."""
        made = []
        for rule in RULES:
            if rule.name not in self.names or rule.name in PARSED:
                continue
            step = rule.step
            if rule.name == "tracking":
                step = tracking_drops(self.tracking, self.keep)
            elif rule.name == "session":
                step = session_drops(self.session, self.keep)
            elif rule.name == "scheme" and "default-port" in self.kept:
                step = scheme_and_port
            elif rule.name == "trailing-slash" and "index" in self.names:
                step = bare_end
            assert step is not None
            made.append((rule.name, step))
        if self.sites:
            plain = replace(self, sites=(), redirects=None)

            def host_of(host: str) -> str:
                parts = plain.parts(f"https://{host}/")
                if parts is None or str(parts).count("/") != 3:
                    raise ConfigError(f"{host!r} is not a host")
                return f"{parts.host}:{parts.port}" if parts.port else parts.host

            def path_of(path: str) -> str:
                parts = plain.parts(f"https://host.example{path}")
                return parts.path.rstrip("/") if parts is not None else path

            made.append(("site", site_step(self.sites, host_of, path_of)))
        return tuple(made)

    def parts(self, url: str) -> Parts | None:
        """The parts of the canonical form of a web URL; None for anything else. Redirects are not followed."""
        current, parse = url.strip(), parser()
        while True:
            parts, host = read(parse, current, self.kept)
            if parts is None or isinstance(parts, str):
                return None
            for _, step in self.steps:
                step(parts)
            if not parts.again:
                return parts
            current = written(parts, host)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> UrlRules:
        """Rules from a TOML or JSON file (docs/how-to/urls.md); redirects are in separate files."""
        file = Path(path)
        data = file.read_bytes()[: LARGEST + 1]
        if len(data) > LARGEST:
            raise DataError(f"{path}: a file of rules has at most {LARGEST >> 20} MiB")
        try:
            text = data.decode()
            said = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(path, "a TOML or JSON file of URL rules", str(error)) from error
        try:
            return cls.from_dict(said)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error

    @classmethod
    def from_dict(cls, said: dict[str, Any]) -> UrlRules:
        """The inverse of `to_dict`."""
        if said.get("format") != FORMAT:
            raise ConfigError(f'expected format = "{FORMAT}", got {said.get("format")!r}')
        lists = ("off", "on", "tracking", "session", "keep")
        unknown = set(said) - {"format", "site", *lists}
        if unknown:
            raise ConfigError(
                f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(lists)} and [[site]]"
            )
        sites = []
        tables = said.get("site", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise ConfigError("write each site rule as a table [[site]]")
        for table in tables:
            known = {field.name for field in fields(SiteRule)}
            if not {"kind", "host"} <= set(table) <= known:
                raise ConfigError(
                    f"a site rule has kind and host, and may have names, to, support, counter: {table}"
                )
            names = table.get("names", ())
            if isinstance(names, str) or not isinstance(names, Sequence):
                raise ConfigError(f"names must be a list: {table}")
            sites.append(SiteRule(**{**table, "names": tuple(names)}))
        return cls(**{name: said[name] for name in lists if name in said}, sites=tuple(sites))

    def to_dict(self) -> dict[str, Any]:
        """The content of a rules file."""
        said: dict[str, Any] = {"format": FORMAT}
        said |= {
            n: list(getattr(self, n))
            for n in ("off", "on", "tracking", "session", "keep")
            if getattr(self, n)
        }
        tables = []
        for site in self.sites:
            table = {field.name: getattr(site, field.name) for field in fields(site)} | {
                "names": list(site.names)
            }
            # An empty name is a valid value; an empty list is left out.
            tables.append({name: value for name, value in table.items() if value not in ("", [], None)})
        return said | ({"site": tables} if tables else {})

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file for `load`: JSON if its name ends in .json, else TOML. It is written completely or not at
        all."""
        said = self.to_dict()
        text = (
            json.dumps(said, indent=1, ensure_ascii=False) + "\n"
            if str(path).endswith(".json")
            else _toml(said)
        )
        with open_output(path) as file:
            file.write(text.encode())


def _toml(said: dict[str, Any]) -> str:
    lines = [f"{name} = {_value(value)}" for name, value in said.items() if name != "site"]
    for table in said.get("site", []):
        lines += ["", "[[site]]", *(f"{name} = {_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    # Numbers, lists and strings are the same in JSON and TOML, except for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
