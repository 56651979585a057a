"""The recipe of a shared index. It is stored once under the index name, and every worker reads it from there."""

from __future__ import annotations

import json

from neardup.config.config import Config
from neardup.errors import FormatError
from neardup.index.key import recipe_of_json, recipe_to_json
from neardup.index.recipe import Contents, Recipe
from neardup.index.redis.connection import Connection

__all__ = ["load_recipe", "store_recipe", "usual_config"]

KIND, VERSION = "neardup shared index", 1


def usual_config(_: Contents) -> Config:
    """The default config: MinHash bands. They need no document frequencies and read one key for each band. The wide
    radius that is the default of a local index would read a large part of all codes over the network."""
    return Config.of("minhash", threshold=0.8)


def recipe_key(name: str) -> bytes:
    return b"{%s}recipe" % name.encode()


def load_recipe(connection: Connection) -> tuple[Recipe, int] | None:
    """The recipe and the expected number of documents; None if there is no index with this name."""
    key = recipe_key(connection.address.name)
    data = connection.one(key, "GET", key)
    if data is None:
        return None
    where = f"{connection.address.shown} {key.decode()}"
    try:
        whole = json.loads(data)
        if whole["kind"] != KIND:
            raise FormatError(where, f"the settings of a {KIND}", repr(whole["kind"]))
        if whole["version"] != VERSION:
            raise FormatError(
                where, f"version {VERSION}", f"version {whole['version']}: use the neardup that made it"
            )
        return recipe_of_json(whole["settings"]), int(whole["expected"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(where, f"the settings of a {KIND}", f"something else ({error})") from None


def store_recipe(connection: Connection, recipe: Recipe, expected: int) -> None:
    """Store the recipe of a new index, unless another worker was faster."""
    settings = recipe_to_json(recipe)
    whole = {"kind": KIND, "version": VERSION, "expected": expected, "settings": settings}
    key = recipe_key(connection.address.name)
    connection.one(key, "SET", key, json.dumps(whole), "NX")
