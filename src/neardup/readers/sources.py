"""From what a user names (paths, globs, folders, URLs) to the files to read, always in the same order."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from neardup.errors import ConfigError, DataError, MissingExtra
from neardup.readers.compression import COMPRESSIONS

__all__ = ["FORMATS", "Source", "find_sources", "format_of"]

FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".warc": "warc",
    ".wet": "warc",
    ".mbox": "mbox",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One file: `name` is its path below what the user named, and stands in ids and messages."""

    name: str
    path: str
    format: str
    size: int | None
    open: Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    path: str
    listed: bool  # found in a folder or by a glob, not named itself
    size: int | None
    open: Callable[[], BinaryIO]


def format_of(path: str) -> str | None:
    """The format a file's name tells, None when it tells none."""
    stem, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSIONS:
        suffix = os.path.splitext(stem)[1]
    return FORMATS.get(suffix)


def find_sources(
    named: str | PathLike[str] | Iterable[str | PathLike[str]],
    format: str | None,
    passed_over: Callable[[str], None],
) -> list[Source]:
    """The files, each once, sorted by name. Files of no known format in folders are passed over, and told so."""
    if format is not None and format not in FORMATS.values():
        raise ConfigError(f"no format {format!r}; there are: {', '.join(sorted(set(FORMATS.values())))}")
    places = [named] if isinstance(named, str | PathLike) else list(named)
    found: dict[str, _Found] = {}
    for place in places:
        for file in _expand(os.fspath(place)):
            found.setdefault(file.path, file)
    twice = {name for name, count in Counter(file.name for file in found.values()).items() if count > 1}
    sources = []
    for file in found.values():
        kind = format or format_of(file.path)
        if kind is None:
            if not file.listed:
                known = ", ".join(sorted(set(FORMATS.values())))
                raise ConfigError(
                    f"{file.path}: its name tells no format; name one with --format (in Python format=): {known}"
                )
            passed_over("file of unknown format")
            continue
        name = file.path if file.name in twice else file.name
        sources.append(Source(name, file.path, kind, file.size, file.open))
    if not sources:
        listed = ", ".join(str(place) for place in places[:5])
        raise ConfigError(f"no files to read in: {listed or 'an empty list'}")
    return sorted(sources, key=lambda source: (source.name, source.path))


def _expand(place: str) -> Iterator[_Found]:
    if "://" in place:
        return _remote(place)
    path = Path(place)
    if path.is_dir():
        return _folder(path)
    if path.exists():
        return iter([_local(path, path.name, False)])
    if glob.has_magic(place):
        return _glob(place)
    raise DataError(f"{place}: there is no such file or folder")


def _local(path: Path, name: str, listed: bool) -> _Found:
    full = os.path.realpath(path)
    return _Found(name, full, listed, path.stat().st_size, lambda: open(full, "rb"))


def _hidden(name: str) -> bool:
    """Names that tools use for their own: .tmp files, _SUCCESS markers, and our own rejects and findings."""
    *folders, _ = parts = name.split("/")
    ours = name.endswith(".rejects.jsonl") or any(folder.endswith(".findings") for folder in folders)
    return ours or any(part.startswith((".", "_")) for part in parts)


def _folder(root: Path) -> Iterator[_Found]:
    for folder, _, names in os.walk(root):
        for file in names:
            path = Path(folder, file)
            name = path.relative_to(root).as_posix()
            if not _hidden(name) and path.is_file():
                yield _local(path, name, True)


def _glob(pattern: str) -> Iterator[_Found]:
    parts = Path(pattern).parts
    plain = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    root = Path(*parts[:plain]) if plain else Path()
    any_found = False
    for match in glob.iglob(pattern, recursive=True):
        path = Path(match)
        name = path.relative_to(root).as_posix()
        if path.is_file() and not _hidden(name):
            any_found = True
            yield _local(path, name, True)
    if not any_found:
        raise DataError(f"{pattern}: no file matches")


def _remote(url: str) -> Iterator[_Found]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra(f"reading {url}", "io") from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ValueError as error:
        raise ConfigError(f"{url}: {error}") from error
    except ImportError as error:
        raise ConfigError(f"{url}: {error}") from error
    if glob.has_magic(path):
        plain = path[: min(path.index(sign) for sign in "*?[" if sign in path)]
        root, files, listed = plain.rpartition("/")[0], system.glob(path), True
    elif system.isdir(path):
        root, files, listed = path, system.find(path), True
    else:
        root, files, listed = path.rpartition("/")[0], [path], False
        if not system.exists(path):
            raise DataError(f"{url}: there is no such file or folder")
    for file in files:
        name = file[len(root) :].lstrip("/")
        if listed and (_hidden(name) or system.isdir(file)):
            continue
        yield _Found(name, system.unstrip_protocol(file), listed, system.size(file), _opener(system, file))


def _opener(system: Any, path: str) -> Callable[[], BinaryIO]:
    return lambda: system.open(path, "rb")
