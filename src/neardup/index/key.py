"""Key files: the recipe of an index with its seed, for those who make fingerprints for it. Keep them secret."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup import _core
from neardup.errors import FormatError
from neardup.index.recipe import Recipe
from neardup.storage.atomic_file import AtomicFile

__all__ = ["exported_documents", "read_key", "recipe_of_json", "recipe_to_json", "write_key"]

KIND, VERSION = "neardup index key", 1


def write_key(recipe: Recipe, path: str | os.PathLike[str], documents: int | None = None) -> None:
    """Write the recipe to a file that only its owner may read; the file appears when it is complete. `documents` is
    the number of documents in the export that the key belongs to."""
    whole: dict[str, Any] = {"kind": KIND, "version": VERSION, "settings": recipe_to_json(recipe)}
    if documents is not None:
        whole["documents"] = documents
    whole["digest"] = _digest(whole)
    with AtomicFile(path, secret=True) as file:
        file.write(json.dumps(whole, indent=1).encode())


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
    try:
        whole: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
        if whole["kind"] != KIND:
            raise FormatError(path, f"a file of kind {KIND!r}", repr(whole["kind"]))
        if whole["version"] != VERSION:
            raise FormatError(path, f"version {VERSION}", f"version {whole['version']}")
        if "digest" in whole and whole["digest"] != _digest(whole):
            raise FormatError(path, "a key file that fits its digest", "a damaged one; write it again")
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(path, "a key file of an index", f"something else ({error})") from None
    return whole


def _digest(whole: Mapping[str, Any]) -> str:
    """A digest of a key file against damage; the recipe checks its own scheme."""
    plain = json.dumps({name: value for name, value in whole.items() if name != "digest"}, sort_keys=True)
    return f"{_core.hash_bytes(plain.encode(), 0):016x}"


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
