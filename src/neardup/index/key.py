"""Key files: the recipe of an index with its seed, for those who make fingerprints for it. Keep them secret."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.errors import FormatError
from neardup.index.recipe import Recipe
from neardup.storage.checked_json import read_checked, write_checked

__all__ = ["exported_documents", "read_key", "recipe_of_json", "recipe_to_json", "write_key"]

KIND, VERSION = "neardup index key", 2
_UNCHECKED = 1  # the only older version: it has no checksum


def write_key(recipe: Recipe, path: str | os.PathLike[str], documents: int | None = None) -> None:
    """Write the recipe to a file that only its owner may read; the file appears when it is complete. `documents` is
    the number of documents in the export that the key belongs to."""
    whole: dict[str, Any] = {"kind": KIND, "version": VERSION, "settings": recipe_to_json(recipe)}
    if documents is not None:
        whole["documents"] = documents
    write_checked(Path(path), whole, secret=True)


def read_key(path: str | os.PathLike[str]) -> Recipe:
    """The recipe in a key file; FormatError if it is another file, or a damaged one."""
    try:
        return recipe_of_json(_read(path)["settings"])
    except FormatError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FormatError(path, "a key file of an index", f"something else ({error})") from None


def exported_documents(path: str | os.PathLike[str]) -> int | None:
    """The number of documents in the export that a key file belongs to; None if it does not say."""
    documents = _read(path).get("documents")
    return documents if type(documents) is int else None


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    whole, checked = read_checked(Path(path), "a key file of an index")
    try:
        if whole["kind"] != KIND:
            raise FormatError(path, f"a file of kind {KIND!r}", repr(whole["kind"]))
        if whole["version"] not in (_UNCHECKED, VERSION):
            raise FormatError(path, f"version {VERSION}", f"version {whole['version']}")
        if whole["version"] == VERSION and not checked:
            raise FormatError(path, "a matching checksum", "a damaged file")
    except (KeyError, TypeError) as error:
        raise FormatError(path, "a key file of an index", f"something else ({error})") from None
    return whole


def recipe_to_json(recipe: Recipe) -> dict[str, Any]:
    """The settings of a recipe as JSON values; bytes are base64."""
    return {
        name: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in recipe.to_settings().items()
    }


def recipe_of_json(settings: Mapping[str, Any]) -> Recipe:
    """The inverse of `recipe_to_json`."""
    return Recipe.from_settings(
        {
            name: base64.b64decode(value["base64"]) if isinstance(value, dict) else value
            for name, value in settings.items()
        }
    )
