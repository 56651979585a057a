"""The recipe of a shared index. It is stored once under the index name, and every worker reads it from there.

The epoch is a random part of the recipe and of all other keys. If a server loses its data and a worker makes the index
again, the new one has another seed and other keys, so that nothing of the two is ever mixed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from neardup.config.config import Config
from neardup.errors import FormatError, SharedIndexError
from neardup.index.key import recipe_of_json, recipe_to_json
from neardup.index.recipe import Contents, Recipe
from neardup.index.redis.connection import Command, Connection

__all__ = [
    "SharedIdentity",
    "SharedRecipe",
    "check_absent",
    "load_recipe",
    "store_recipe",
    "usual_config",
]

KIND, VERSION = "neardup shared index", 1


class SharedRecipe(NamedTuple):
    """A recipe as it is on the server, with the expected number of documents. `epoch` is empty in indexes of earlier
    versions. `stored` is the recipe as the server has it."""

    recipe: Recipe
    expected: int
    epoch: str
    stored: bytes

    def keys_of(self, name: str) -> str:
        """The name that all keys of the index begin with, except those of the recipe."""
        return f"{name}.{self.epoch}" if self.epoch else name


class SharedIdentity:
    """Notices that a server was emptied or replaced: the digest of the recipe is read again with every batch. If the
    server has lost one of the two, it gets it back."""

    def __init__(self, connection: Connection, stored: bytes) -> None:
        self._connection, self._stored, self.digest = connection, stored, _digest(stored)
        name = connection.address.name
        self.key, self._recipe = identity_key(name), recipe_key(name)
        self.question: Sequence[Command] = (
            Command(self.key, ("GET", self.key)),
            Command(self._recipe, ("EXISTS", self._recipe)),
        )
        if connection.unchecked(self.key) != self.digest:
            self._restore()

    def check(self, replies: Sequence[Any]) -> None:
        """Raise unless the identity is ours, or the recipe is still the one we have."""
        found, known = replies
        if found == self.digest:
            if not known:
                self._restore()
            return
        stored = self._connection.unchecked(self._recipe)
        if stored == self._stored:
            self._restore()  # a failover lost the key alone
            return
        what = "has another index under this name" if stored is not None else "no longer has this index"
        where = self._connection.address.shown
        raise SharedIndexError(
            f"{where}: the server {what}: it was emptied or replaced. What was not acknowledged is not stored. Close "
            f"this index; `neardup index replay {where} FILE` puts an export or a log back"
        )

    def _restore(self) -> None:
        with contextlib.suppress(SharedIndexError):  # a replica, or a user that may only read
            self._connection.unchecked(self._recipe, "SET", self._stored, "NX")
            self._connection.unchecked(self.key, "SET", self.digest)


def usual_config(_: Contents) -> Config:
    """The default config: MinHash bands. They need no document frequencies and read one key for each band. The wide
    radius that is the default of a local index would read a large part of all codes over the network."""
    return Config.of("minhash", threshold=0.8)


def recipe_key(name: str) -> bytes:
    return b"{%s}recipe" % name.encode()


def identity_key(name: str) -> bytes:
    return b"{%s}identity" % name.encode()


def _digest(stored: bytes) -> bytes:
    return hashlib.blake2b(stored, digest_size=16).digest()


def load_recipe(connection: Connection) -> SharedRecipe | None:
    """The stored recipe; None if there is no index with this name."""
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
        epoch = whole.get("epoch", "")
        if not re.fullmatch(r"([0-9a-f]{6})?", epoch):
            raise ValueError(f"epoch {epoch!r}")
        return SharedRecipe(recipe_of_json(whole["settings"]), int(whole["expected"]), epoch, data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(where, f"the settings of a {KIND}", f"something else ({error})") from None


def check_absent(connection: Connection) -> None:
    """Raise if a server without a recipe has an index under the name all the same: a new one would hide it."""
    key, where = identity_key(connection.address.name), connection.address.shown
    if connection.one(key, "GET", key) is not None and load_recipe(connection) is None:
        raise SharedIndexError(
            f"{where}: the server has lost the recipe of this index. A worker that has the index open puts it back "
            f"with its next batch. If there is none: `neardup index replay {where} FILE` puts an export or a log back, "
            f"and without {key.decode()} a new index is made"
        )


def store_recipe(connection: Connection, recipe: Recipe, expected: int) -> None:
    """Store the recipe of a new index, unless another worker was faster."""
    settings = recipe_to_json(recipe)
    epoch = secrets.token_hex(3)
    whole = {"kind": KIND, "version": VERSION, "expected": expected, "epoch": epoch, "settings": settings}
    key = recipe_key(connection.address.name)
    connection.one(key, "SET", key, json.dumps(whole), "NX")
