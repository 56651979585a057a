"""All files below a folder or of a glob, each with the reason why it is not to be read, if there is one.

The list is complete: hidden files and files in the folders of tools are in it too, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path

from neardup.readers.options import ReadOptions

__all__ = ["IGNORED", "FoundFile", "glob_files", "matches", "named_files", "split_glob", "walk"]

_VERSION_CONTROL = {".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "CVS", "_darcs"}
_TOOLS = {"node_modules", "__pycache__", "_temporary", "_delta_log", "_spark_metadata"}
_ENVIRONMENT = (
    "pyvenv.cfg",
    "conda-meta",
)  # a file of every virtual environment, however its folder is named
IGNORED = ("version control", "virtual environment", "tool folder")  # what `no_ignore` reads


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file: its path, its name below what the user named, and why it is skipped, None if it is not."""

    path: str
    name: str
    skip: str | None = None
    link: bool = False


def walk(root: Path, options: ReadOptions, depth: int | None = None) -> Iterator[FoundFile]:
    """Every file below a folder. Links to files are followed, links to folders are not: those may form a cycle."""
    rest: list[tuple[str, str, str | None, int]] = [(os.fspath(root), "", None, 1)]
    while rest:
        folder, below, why, level = rest.pop()
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            yield FoundFile(folder, below.rstrip("/"), "unreadable folder")
            continue
        if why is None and below and not options.no_ignore:
            names = {entry.name for entry in entries}
            why = "virtual environment" if any(name in names for name in _ENVIRONMENT) else None
        for entry in entries:
            name = below + entry.name
            reason = why or _by_name(entry.name, entry.is_dir(follow_symlinks=False), options)
            if entry.is_dir(follow_symlinks=False):
                if depth is None or level < depth:
                    rest.append((entry.path, f"{name}/", reason, level + 1))
            else:
                yield FoundFile(entry.path, name, reason or _by_kind(entry), entry.is_symlink())


def _by_kind(entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        if not os.path.exists(entry.path):  # also of a link that leads to itself
            return "broken link"
        if entry.is_dir():
            return "link to a folder"
    if not entry.is_file():
        return "no regular file"
    return None if os.access(entry.path, os.R_OK) else "unreadable"


def _by_name(name: str, folder: bool, options: ReadOptions) -> str | None:
    """Why a file or folder of this name, or everything in it, is skipped."""
    if folder and not options.no_ignore:
        if name in _VERSION_CONTROL:
            return "version control"
        if name in _TOOLS:
            return "tool folder"
    if (folder and name.endswith(".findings")) or (not folder and name.endswith(".rejects.jsonl")):
        return "output of neardup"
    if not options.hidden and name.startswith(".") and name not in (".", ".."):
        return "hidden"
    return None


def named_files(names: Iterable[str], options: ReadOptions) -> Iterator[tuple[str, str | None]]:
    """The same rules for a list of names, as remote file systems give it."""
    every = list(names)
    environments = {
        name[: -len(mark) - 1]
        for name in every
        for mark in _ENVIRONMENT
        if name.endswith(f"/{mark}") and not options.no_ignore
    }
    for name in every:
        *folders, last = name.split("/")
        why = None
        for place, folder in enumerate(folders, 1):
            why = why or _by_name(folder, True, options)
            if why is None and "/".join(folders[:place]) in environments:
                why = "virtual environment"
        yield name, why or _by_name(last, False, options)


def split_glob(pattern: str) -> tuple[Path, list[str]]:
    """The folder a glob looks in, and the parts of its pattern below it."""
    parts = Path(pattern).parts
    plain = next(i for i, part in enumerate(parts) if has_magic(part))
    return (Path(*parts[:plain]) if plain else Path()), list(parts[plain:])


def glob_files(root: Path, parts: Sequence[str], options: ReadOptions) -> Iterator[FoundFile]:
    """The files below a folder that a pattern matches."""
    depth = None if "**" in parts else len(parts)
    for file in walk(root, options, depth):
        if not _match(file.name.split("/"), parts):
            continue
        # A pattern that begins with a dot means hidden names.
        spelled = file.skip == "hidden" and any(part.startswith(".") for part in parts)
        if spelled:
            readable = os.path.isfile(file.path) and os.access(file.path, os.R_OK)
            yield FoundFile(file.path, file.name, None if readable else "unreadable", file.link)
        else:
            yield file


def matches(options: ReadOptions) -> Callable[[str], bool]:
    """Whether a name is one that `include`, `exclude` and `ext` ask for."""
    include, exclude = [_parts(one) for one in options.include], [_parts(one) for one in options.exclude]

    def wanted(name: str) -> bool:
        parts = name.split("/")
        if include and not any(_match(parts, pattern) for pattern in include):
            return False
        if any(_match(parts, pattern) for pattern in exclude):
            return False
        return not options.ext or name.lower().endswith(options.ext)

    return wanted


def _parts(pattern: str) -> list[str]:
    """A pattern without a slash is for names in any folder; one that ends with a slash is for all in a folder."""
    parts = pattern.removeprefix("./").split("/")
    anywhere = len(parts) == 1 or (len(parts) == 2 and parts[1] == "")
    if parts[-1] == "":
        parts[-1] = "**"
    return ["**", *parts] if anywhere else parts


def _match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path are those of a pattern, where ** is any number of folders."""
    reached = {0}  # positions in the pattern that the parts so far can have reached
    for part in parts[:-1]:
        reached = _step(part, pattern, reached, last=False)
    return any(place == len(pattern) for place in _step(parts[-1], pattern, reached, last=True))


def _step(part: str, pattern: Sequence[str], reached: set[int], last: bool) -> set[int]:
    after: set[int] = set()
    rest = list(reached)
    while rest:
        place = rest.pop()
        if place == len(pattern):
            continue
        if pattern[place] == "**":
            after.add(len(pattern) if last and place == len(pattern) - 1 else place)
            if place + 1 < len(pattern):
                rest.append(place + 1)
        elif fnmatchcase(part, pattern[place]):
            after.add(place + 1)
    return after
