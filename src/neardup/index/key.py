"""Key files: an index's recipe with its seed, for those who may make fingerprints for it. Keep them as secret as it."""

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
    """Write the recipe to a file that its owner alone may read; it appears when it is whole."""
    whole = {"kind": KIND, "version": VERSION, "settings": recipe_to_json(recipe)}
    with AtomicFile(path, secret=True) as file:
        file.write(json.dumps(whole, indent=1).encode())


def read_key(path: str | os.PathLike[str]) -> Recipe:
    """The recipe in a key file; FormatError if it is anything else."""
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
    """The settings of a recipe as JSON values; bytes as base64."""
    return {
        name: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in recipe.to_settings().items()
    }


def recipe_of_json(settings: Mapping[str, Any]) -> Recipe:
    """The recipe that `recipe_to_json` was given."""
    return Recipe.from_settings(
        {
            name: base64.b64decode(value["base64"]) if isinstance(value, dict) else value
            for name, value in settings.items()
        }
    )
