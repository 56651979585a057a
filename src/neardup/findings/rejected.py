"""The list of rows that could not be read, in the folder of findings. People read it; the manifest has its digest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neardup.errors import FormatError
from neardup.readers.file_digest import digest_file
from neardup.storage.regular_file import open_regular

__all__ = ["REJECTS", "check_rejects", "seal_rejects"]

REJECTS = "documents.rejects.jsonl"


def seal_rejects(folder: Path) -> dict[str, str]:
    """What the manifest says of the list; nothing if there is none."""
    try:
        with open(open_regular(folder / REJECTS), "rb") as file:
            return {REJECTS: digest_file(file, sha256=False).fast}
    except FileNotFoundError:
        return {}


def check_rejects(folder: Path, manifest: dict[str, Any]) -> None:
    """FormatError if the list is not as it was written. Earlier versions have no digest, and the list may be taken
    away."""
    written = manifest.get("files", {}).get(REJECTS)
    if written is not None and seal_rejects(folder).get(REJECTS, written) != written:
        raise FormatError(folder / REJECTS, "the list that the manifest was written for", "a damaged one")
