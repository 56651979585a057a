"""What a person may say about the files to read: which of a folder, and how they are written."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from neardup.errors import ConfigError

__all__ = ["ReadOptions", "given_options"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Which files of folders and globs are read, and the encoding and delimiter where they are known.

    `include` and `exclude` are patterns such as "*.py" or "docs/**"; `ext` are endings such as "py". `hidden` reads
    names that begin with a dot too, `no_ignore` the folders of version control, virtual environments and tools.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ext: tuple[str, ...] = ()
    hidden: bool = False
    no_ignore: bool = False
    encoding: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        for name in ("include", "exclude", "ext"):
            object.__setattr__(self, name, _several(getattr(self, name), name))
        object.__setattr__(self, "ext", tuple("." + end.lower().lstrip(".") for end in self.ext))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))


def given_options(
    include: str | Iterable[str],
    exclude: str | Iterable[str],
    ext: str | Iterable[str],
    hidden: bool,
    no_ignore: bool,
    encoding: str | None,
    delimiter: str | None,
) -> dict[str, Any]:
    """The options that say something, as plain values: what is left out is as it is by default."""
    made = ReadOptions(
        _several(include, "include"),
        _several(exclude, "exclude"),
        _several(ext, "ext"),
        hidden,
        no_ignore,
        encoding,
        delimiter,
    )
    values = {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(made).items()
    }
    return {name: value for name, value in values.items() if value}


def _several(given: str | Iterable[str], name: str) -> tuple[str, ...]:
    several = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(one, str) and one for one in several):
        raise ConfigError(f"{name} is a list of texts, such as {name}=['py'], not {given!r}")
    return several


def _encoding(name: str) -> str:
    try:
        found = codecs.lookup(name)
    except LookupError:
        found = None
    if found is None or not found._is_text_encoding:
        raise ConfigError(f"there is no encoding {name!r}; use one such as utf-8, windows-1252 or utf-16")
    return found.name


def _delimiter(given: str) -> str:
    given = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";"}.get(given.lower(), given)
    if len(given) != 1 or not given.isascii() or given in '"\n\r':
        raise ConfigError(f"a delimiter is one character such as ; or | (or the word tab), not {given!r}")
    return given
