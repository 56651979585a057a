"""A file of tokens, each for some of the indexes of a service."""

from __future__ import annotations

import os
import re
import shlex
import stat
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from neardup.errors import ConfigError
from neardup.http.access import DEFAULT, EVERY, Grant

__all__ = ["check_name", "read_grants"]

KEYS = frozenset({"token", "read", "write"})


def check_name(name: str) -> str:
    """The name of an index, if it can be one: it is a part of paths, and of no other meaning in them."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", name):
        raise ConfigError(
            f"{name!r:.80} cannot be the name of an index: use at most 63 lower-case letters, digits, - and _"
        )
    if name == DEFAULT:
        raise ConfigError(f"{DEFAULT} is what tokens call the index without a name; choose another name")
    return name


def read_grants(file: str | os.PathLike[str], names: Collection[str]) -> tuple[Grant, ...]:
    """The tokens in a TOML file, a table for each: `token`, and the names of indexes that its owner may `read` and
    `write`. `names` are those of the service, "" that of the index without one. Only the owner of the file may be able
    to read it."""
    path = Path(file)
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"{file}: others can read these tokens; type: chmod 600 {shlex.quote(str(file))}")
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: this is not TOML: {error}") from None
    if not tables:
        raise ConfigError(f"{file}: there is no token in it")
    return tuple(_grant(f"{file}: {name}", table, names) for name, table in tables.items())


def _grant(where: str, table: Any, names: Collection[str]) -> Grant:
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: a table is needed, [{where.rsplit(' ', 1)[-1]}]")
    if unknown := sorted(set(table) - KEYS):
        raise ConfigError(f"{where}: {unknown[0]!r} is not known; there are token, read and write")
    if not isinstance(table.get("token"), str):
        raise ConfigError(f"{where}: there is no token")
    reads, writes = (_indexes(where, key, table.get(key, []), names) for key in ("read", "write"))
    if not reads and not writes:
        raise ConfigError(f"{where}: name the indexes that it may read or write")
    return Grant(table["token"], reads, writes)


def _indexes(where: str, key: str, given: Any, names: Collection[str]) -> frozenset[str]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ConfigError(f'{where}: {key} is a list of names of indexes, or ["{EVERY}"]')
    known = {name or DEFAULT: name for name in names} | {EVERY: EVERY}
    for one in given:
        if one not in known:
            there = ", ".join(sorted(name or DEFAULT for name in names))
            raise ConfigError(f"{where}: there is no index {one!r}; there are: {there}")
    return frozenset(known[one] for one in given)
