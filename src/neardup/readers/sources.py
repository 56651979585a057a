"""From what a user names (paths, globs, folders, URLs) to the files to read, always in the same order."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from neardup.errors import ConfigError, DataError, MissingExtra, UnreadableInput
from neardup.readers.account import Account
from neardup.readers.compression import COMPRESSIONS
from neardup.readers.folders import IGNORED, FoundFile, glob_files, matches, named_files, split_glob, walk
from neardup.readers.options import ReadOptions
from neardup.readers.recognise import recognise
from neardup.readers.standard_input import STANDARD_INPUT, StandardInput, check_streamable

__all__ = ["FORMATS", "KNOWN", "Source", "find_sources", "format_of", "nothing_to_read"]

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
    ".lines": "lines",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".warc": "warc",
    ".wet": "warc",
    ".mbox": "mbox",
}
# "lines" is text of one document a line. "source" is what a folder of source files is read as: every file is a text,
# but for those that can only be tables.
KNOWN = (*dict.fromkeys(FORMATS.values()), "npy", "source")
_TABLES = (".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".ipc", ".arrows")


@dataclass(frozen=True, slots=True)
class Source:
    """One file: `name` is its path below what the user named, and is used in ids and messages. It was `listed` if it
    was found in a folder or by a glob, and not named itself. `peek` reads the beginning of a source that can be read
    only once, without using it up."""

    name: str
    path: str
    format: str
    size: int | None
    open: Callable[[], BinaryIO]
    listed: bool = False
    peek: Callable[[], BinaryIO] | None = None


@dataclass(frozen=True, slots=True)
class _ListedFile:
    name: str
    path: str
    listed: bool
    size: int | None
    open: Callable[[], BinaryIO]
    standard: StandardInput | None = None


def format_of(path: str) -> str | None:
    """The format that a file's name says, None if it says none."""
    return FORMATS.get(_suffix(path))


def find_sources(
    named: str | PathLike[str] | Iterable[str | PathLike[str]],
    format: str | None = None,
    options: ReadOptions | None = None,
    account: Account | None = None,
) -> list[Source]:
    """The files, each once, sorted by name. The account counts each file that was found and is not read."""
    if format is not None and format not in KNOWN:
        raise ConfigError(f"no format {format!r}; there are: {', '.join(KNOWN)}")
    places = [named] if isinstance(named, str | PathLike) else list(named)
    options, account = options or ReadOptions(), account if account is not None else Account()
    found: dict[str, _ListedFile] = {}
    for place in places:
        for file in _expand(os.fspath(place), options, account):
            if file.path in found:
                account.skip("same file again", file.name)
                continue
            found[file.path] = file
    twice = {name for name, count in Counter(file.name for file in found.values()).items() if count > 1}
    sources = []
    for file in found.values():
        kind = _format(file, format)
        name = file.path if file.name in twice else file.name
        if kind == "binary":
            if not file.listed:
                raise DataError(
                    f"{file.path}: is a binary file of no known format; name its format with --format (in Python "
                    f"format=) if it is one of: {', '.join(KNOWN)}"
                )
            account.skip("binary", name)
            continue
        if kind in ("marker", "unreadable"):
            account.skip("empty marker" if kind == "marker" else kind, name)
            continue
        account.take()
        peek = None if file.standard is None else file.standard.peek
        sources.append(Source(name, file.path, kind, file.size, file.open, file.listed, peek))
    if not sources:
        raise nothing_to_read(places, account)
    return sorted(sources, key=lambda source: (source.name, source.path))


def nothing_to_read(places: Sequence[str | PathLike[str]], account: Account) -> UnreadableInput:
    """The error if none of the files that were found is read."""
    said = f"no files to read in: {', '.join(str(place) for place in places[:5]) or 'an empty list'}"
    if account.found:
        kinds = ", ".join(f"{many:,} {kind}" for kind, many in account.skipped.most_common())
        said += f"; {account.found:,} {'was' if account.found == 1 else 'were'} found and skipped: {kinds}"
    options = []
    if account.skipped["hidden"]:
        options.append("--hidden")
        said += ". To read hidden files add --hidden (in Python hidden=True)"
    if any(account.skipped[kind] for kind in IGNORED):
        options.append("--no-ignore")
        said += ". To read ignored folders add --no-ignore (in Python no_ignore=True)"
    return UnreadableInput(0, 0, {}, [], said=said).with_options(*options)


def _suffix(path: str) -> str:
    stem, suffix = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if suffix in COMPRESSIONS else suffix


def _format(file: _ListedFile, format: str | None) -> str:
    if file.path == STANDARD_INPUT:
        assert file.standard is not None
        return check_streamable(file.standard.format() if format in (None, "source") else format)
    if format == "source":
        by_name = format_of(file.path)
        format = "text"
        if by_name is not None and (not file.listed or _suffix(file.path) in _TABLES):
            format = by_name
    kind = format or format_of(file.path)
    if kind is not None:
        return kind
    if not file.listed and _suffix(file.path) == ".npy":  # those of a folder are data of something else
        return "npy"
    if file.size == 0:
        # Such as _SUCCESS, which tools leave behind when they are done.
        name = os.path.basename(file.path)
        return "marker" if file.listed and name.startswith("_") and "." not in name else "text"
    try:
        return recognise(file.path, file.open())
    except OSError as error:
        if file.listed:
            return "unreadable"
        raise DataError(f"{file.path}: cannot be read: {error.strerror or error}") from error


def _expand(place: str, options: ReadOptions, account: Account) -> Iterator[_ListedFile]:
    if place == STANDARD_INPUT:
        standard = StandardInput()
        return iter([_ListedFile("stdin", STANDARD_INPUT, False, None, standard.open, standard)])
    if "://" in place:
        return _remote(place, options, account)
    path = Path(place)
    if path.is_dir():
        return _chosen(walk(path, options), options, account)
    if path.exists():
        if not path.is_file():
            # It can be read once, and some devices never end.
            raise DataError(
                f"{place}: is a pipe or a device and no file; read it as standard input: - < {place}"
            )
        if not os.access(path, os.R_OK):
            raise DataError(f"{place}: may not be read; change its permissions, or leave it out")
        return iter([_local(os.fspath(path), path.name, False)])
    if glob.has_magic(place):
        return _glob(place, options, account)
    raise DataError(f"{place}: there is no such file or folder")


def _local(path: str, name: str, listed: bool, folders: dict[str, str] | None = None) -> _ListedFile:
    """A file on this machine; `folders` remembers the real paths of folders, for files that are no links."""
    if folders is None:
        full = os.path.realpath(path)
    else:
        folder, separator, last = path.rpartition(os.sep)
        folder += separator
        if folder not in folders:
            folders[folder] = os.path.join(os.path.realpath(folder), "")
        full = folders[folder] + last
    return _ListedFile(name, full, listed, os.stat(full).st_size, lambda: open(full, "rb"))


def _chosen(files: Iterable[FoundFile], options: ReadOptions, account: Account) -> Iterator[_ListedFile]:
    """The files to read; of one with several names, the name that is no link."""
    wanted = matches(options)
    links: list[FoundFile] = []
    folders: dict[str, str] = {}
    for file in files:
        reason = file.skip or (None if wanted(file.name) else "excluded")
        if reason is not None:
            account.skip(reason, file.name)
        elif file.link:
            links.append(file)
        else:
            if (there := _still_there(file, account, folders)) is not None:
                yield there
    for file in links:
        if (there := _still_there(file, account)) is not None:
            yield there


def _still_there(
    file: FoundFile, account: Account, folders: dict[str, str] | None = None
) -> _ListedFile | None:
    """The file, if nobody has deleted it since it was listed."""
    try:
        return _local(file.path, file.name, True, folders)
    except OSError:
        account.skip("unreadable", file.name)
        return None


def _glob(pattern: str, options: ReadOptions, account: Account) -> Iterator[_ListedFile]:
    root, parts = split_glob(pattern)
    before = account.found
    any_found = False
    for file in _chosen(glob_files(root, parts, options), options, account):
        any_found = True
        yield file
    if not any_found and account.found == before:
        raise DataError(f"{pattern}: no file matches")


def _remote(url: str, options: ReadOptions, account: Account) -> Iterator[_ListedFile]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra(f"reading {url}", "io") from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ValueError, ImportError) as error:
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
    names = {file[len(root) :].lstrip("/"): file for file in files if not (listed and system.isdir(file))}
    wanted = matches(options)
    for name, why in named_files(names, options):
        why = why or (None if wanted(name) else "excluded")
        file = names[name]
        if listed and why is not None:
            account.skip(why, name)
            continue
        yield _ListedFile(
            name, system.unstrip_protocol(file), listed, system.size(file), _opener(system, file)
        )


def _opener(system: Any, path: str) -> Callable[[], BinaryIO]:
    return lambda: system.open(path, "rb")
