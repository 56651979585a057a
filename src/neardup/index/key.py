"""Key files: the recipe of an index with its seed, for those who make fingerprints for it. Keep them secret."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.errors import FormatError
from neardup.index.recipe import Recipe
from neardup.storage.atomic_file import AtomicFile

__all__ = ["read_key", "recipe_of_json", "recipe_to_json", "write_key"]

KIND, VERSION = "neardup index key", 1


def write_key(recipe: Recipe, path: str | os.PathLike[str]) -> None:
    """Write the recipe to a file that only its owner may read; the file appears when it is complete."""
    whole = {"kind": KIND, "version": VERSION, "settings": recipe_to_json(recipe)}
    with AtomicFile(path, secret=True) as file:
        file.write(json.dumps(whole, indent=1).encode())


def read_key(path: str | os.PathLike[str]) -> Recipe:
    """The recipe in a key file; FormatError if it is another file."""
    try:
        whole = json.loads(Path(path).read_text("utf-8"))
        if whole["kind"] != KIND:
            raise FormatError(path, f"a file of kind {KIND!r}", repr(whole["kind"]))
        if whole["version"] != VERSION:
            raise FormatError(path, f"version {VERSION}", f"version {whole['version']}")
        return recipe_of_json(whole["settings"])
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(path, "a key file of an index", f"something else ({error})") from None


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
