"""Key files: an index's recipe with its seed, for those who may make fingerprints for it. Keep them as secret as it."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from neardup.errors import FormatError
from neardup.index.recipe import Recipe

__all__ = ["read_key", "write_key"]

KIND, VERSION = "neardup index key", 1


def write_key(recipe: Recipe, path: str | os.PathLike[str]) -> None:
    """Write the recipe to a file that its owner alone may read; it appears when it is whole."""
    settings = {name: _text(value) for name, value in recipe.to_settings().items()}
    target = Path(path)
    half = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"kind": KIND, "version": VERSION, "settings": settings}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)


def read_key(path: str | os.PathLike[str]) -> Recipe:
    """The recipe in a key file; FormatError if it is anything else."""
    try:
        whole = json.loads(Path(path).read_text("utf-8"))
        if whole["kind"] != KIND:
            raise FormatError(path, f"a file of kind {KIND!r}", repr(whole["kind"]))
        if whole["version"] != VERSION:
            raise FormatError(path, f"version {VERSION}", f"version {whole['version']}")
        return Recipe.from_settings({name: _value(value) for name, value in whole["settings"].items()})
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(path, "a key file of an index", f"something else ({error})") from None


def _text(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _value(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
