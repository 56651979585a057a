"""The manifest of a findings folder: written last, checked whole when it is read.

docs/reference/format.md, "Findings folder", describes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from neardup.config.filters import REASONS
from neardup.errors import FormatError
from neardup.readers.limits import Limits
from neardup.storage.checked_json import check_names, read_checked, write_checked

__all__ = ["MANIFEST", "VERSION", "read_manifest", "write_manifest"]

MANIFEST = "manifest.json"
VERSION = 2
_UNCHECKED = 1  # the only older format: it has no checksum

_TABLES = {"columns", "limits", "config", "counts", "seconds"}
_LISTS = {"inputs", "references", "file_names", "source_names"}
_OTHERS = {
    "format",
    "neardup",
    "created",
    "against",
    "scheme",
    "seed",
    "versions",
    "threads",
    "memory",
    "account",
    "search",
}
_NUMBERS = {
    "documents",
    "reference",
    "shards",
    "empty",
    "pairs",
    "candidates",
    "capped",
    "skipped",
    "implied",
}
_LATER_NUMBERS = {"skipped", "implied", "pruned", "figures"}
_TALLIES = {"filtered", "rejected", "passed_over"}
_INPUT = {"path", "name", "format", "bytes", "sha256"}
_COLUMNS = {
    "text", "id", "format", "include", "exclude", "ext", "hidden", "no_ignore", "encoding", "delimiter"
}  # fmt: skip


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the last file: it makes the findings complete. After an error it is not there, so that the same command
    can be run again."""
    try:
        write_checked(folder / MANIFEST, manifest)
    except OSError:
        (folder / MANIFEST).unlink(missing_ok=True)
        raise


Wrong = Callable[[str, Any], FormatError]


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest; FormatError unless it is whole and everything in it is of the right kind."""
    manifest, checked = read_checked(path, "a manifest of findings")
    version = manifest.get("format")
    if version not in (_UNCHECKED, VERSION):
        raise FormatError(
            path, f"findings of format {VERSION}", f"format {version}: scan again with this version"
        )
    if version == VERSION and not checked:
        raise FormatError(path, "a matching checksum", "a damaged file")
    for names, kind in ((_TABLES, dict), (_LISTS, list)):
        for name in sorted(names):
            if not isinstance(manifest.get(name), kind):
                raise FormatError(path, f"its {name!r}", "none, or something else in its place")
    if not checked:  # a damaged name would be taken for one that is missing
        check_names(manifest, _TABLES | _LISTS | _OTHERS, path, "a manifest")
        check_names(manifest["counts"], _NUMBERS | _LATER_NUMBERS | _TALLIES, path, "counts")
        check_names(manifest["columns"], _COLUMNS, path, "columns")
    check_names(manifest["limits"], {field.name for field in fields(Limits)}, path, "limits")
    _check_parts(manifest, lambda expected, got: FormatError(path, expected, repr(got)))
    return manifest


def _check_parts(manifest: dict[str, Any], wrong: Wrong) -> None:
    _check_files(manifest, wrong)
    _check_counts(manifest["counts"], wrong)
    if not all(isinstance(took, int | float) for took in manifest["seconds"].values()):
        raise wrong("seconds of each stage", manifest["seconds"])
    if not all(_number(most) and most for most in manifest["limits"].values()):
        raise wrong("limits that are whole numbers", manifest["limits"])
    if not {"text", "id"} <= manifest["columns"].keys():
        raise wrong("the names of columns", manifest["columns"])
    if not isinstance(manifest.get("search", {}), dict):
        raise wrong("a report of the search", manifest["search"])
    if not isinstance(manifest.get("against") or [], list):
        raise wrong("a list of references", manifest["against"])
    account = manifest.get("account", {})
    if account != {} and not _adds_up(account, manifest["counts"]["documents"]):
        raise wrong("an account that adds up", account)


def _adds_up(account: Any, documents: int) -> bool:
    """Whether the account has its parts, and its sums are right."""
    try:
        files, rows, notes = account["files"], account["rows"], account["notes"]
        outcome = account.get("documents", {"read": documents, "kept": documents})
        sums = (
            (files["found"], [files["read"], *files["skipped"].values()]),
            (rows["read"], [rows["documents"], *rows["rejected"].values(), *rows["passed_over"].values()]),
            (rows["documents"], [outcome["read"]]),
            (
                outcome["read"],
                [outcome[name] for name in ("kept", "exact", "near") if name in outcome]
                + list(outcome.get("filtered", {}).values()),
            ),
        )
        names = [name for listed in files["examples"].values() for name in listed]
        names += [one[part] for one in account["reasons"] for part in ("file", "reason", "detail")]
        names += [one for shape in account["shapes"].items() for one in shape]
        places = [one["row"] for one in account["reasons"] if one["row"] is not None]
        numbers = [number for whole, parts in sums for number in (whole, *parts)] + [*notes.values(), *places]
    except (KeyError, TypeError, AttributeError):
        return False
    return (
        all(map(_number, numbers))
        and all(isinstance(name, str) for name in names)
        and all(whole == sum(parts) for whole, parts in sums)
        and outcome["read"] == documents
    )


def _check_files(manifest: dict[str, Any], wrong: Wrong) -> None:
    """The inputs, the references, their names, and the files of the findings."""
    for entry in manifest["inputs"]:
        if not isinstance(entry, dict) or entry.keys() - {"digest"} != _INPUT:
            raise wrong("an input with path, name, format, bytes, digest and sha256", entry)
        if not all(isinstance(entry[name], str) for name in ("path", "name", "format")):
            raise wrong("an input with path, name and format", entry)
        digests = entry["sha256"], entry.get("digest")
        if not all(isinstance(digest, str | None) for digest in digests) or not (
            entry["bytes"] is None or _number(entry["bytes"])
        ):
            raise wrong("an input with its size and digest", entry)
    for entry in manifest["references"]:
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
            raise wrong("a reference with its path", entry)
    for name in ("file_names", "source_names"):
        if not all(isinstance(one, str) for one in manifest[name]):
            raise wrong(f"{name} that are texts", manifest[name])
    files = manifest.get("files", {})
    if not isinstance(files, dict) or not all(isinstance(sums, str) for sums in files.values()):
        raise wrong("files with their checksums", files)


def _check_counts(counts: dict[str, Any], wrong: Wrong) -> None:
    for name in sorted(_NUMBERS - _LATER_NUMBERS):
        if not _number(counts.get(name)):
            raise wrong(f"a count of {name}", counts.get(name))
    for name in _LATER_NUMBERS & counts.keys():
        if not _number(counts[name]):
            raise wrong(f"a count of {name}", counts[name])
    for name in ("filtered", "rejected"):
        tally = counts.get(name)
        if not isinstance(tally, dict) or not all(_number(many) for many in tally.values()):
            raise wrong(f"counts of {name}", tally)
    reasons = {str(place) for place in range(len(REASONS))}
    if not counts["filtered"].keys() <= reasons:
        raise wrong("filters that this version knows", sorted(counts["filtered"]))


def _number(value: Any) -> bool:
    return isinstance(value, int) and value >= 0
