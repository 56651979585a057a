"""Rows of the database as columns, from which tables and cache files are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.index.local.database import Database
from neardup.index.local.row_checks import damaged
from neardup.index.recipe import Recipe
from neardup.index.tables import hash_ids

__all__ = ["Columns", "Flags", "read_columns", "read_flags"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """The columns of the tables: hashed ids, keys, and which rows have no fingerprint. Deleted rows hold zeros."""

    ids: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    empty: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def joined(cls, parts: Sequence[Columns]) -> Columns:
        if len(parts) == 1:
            return parts[0]
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "keys", "empty"))
        )


@dataclass(frozen=True)
class Flags:
    """For each row: whether it is deleted, and whether it follows another."""

    deleted: NDArray[np.bool_]
    follows: NDArray[np.bool_]

    def after(self, deleted: Rows, follow: Rows, lead: Rows) -> Flags:
        """The flags after rows were deleted and others became followers or keepers."""
        now = Flags(self.deleted.copy(), self.follows.copy())
        now.deleted[deleted] = True
        now.follows[follow], now.follows[lead] = True, False
        return now


def read_columns(
    database: Database, recipe: Recipe, first: int, last: int, threads: int
) -> tuple[Columns, Flags]:
    """Rows first to last - 1 from the database."""
    width = recipe.width
    count, words = last - first, recipe.words
    ids, keys = np.zeros(count, np.uint64), np.zeros((count, words), np.uint64)
    empty, deleted, follows = np.zeros(count, bool), np.ones(count, bool), np.zeros(count, bool)
    blank = bytes(width)
    for heads in database.heads_between(first, last):
        if not heads:
            continue
        rows, keepers = [head.row for head in heads], [head.keeper for head in heads]
        prints = [head.fingerprint for head in heads]
        at = np.array(rows, np.int64) - first
        for line, fingerprint in enumerate(prints):
            if fingerprint is not None and len(fingerprint) != width:
                raise damaged(
                    database.path,
                    f"row {rows[line]} has a fingerprint of {len(fingerprint)} bytes, not {width}",
                )
        ids[at] = hash_ids([head.id for head in heads], recipe.seed.value)
        keys[at] = recipe.keys(
            recipe.column(b"".join(fingerprint or blank for fingerprint in prints)), threads
        )
        empty[at] = [fingerprint is None for fingerprint in prints]
        deleted[at] = False
        follows[at] = np.array(keepers, np.int64) != np.array(rows, np.int64)
    return Columns(ids, keys, empty), Flags(deleted, follows)


def read_flags(database: Database, rows: int) -> Flags:
    """The flags of the first `rows` rows, from the database."""
    deleted, follows = np.ones(rows, bool), np.zeros(rows, bool)
    for heads in database.heads_between(0, rows):
        if heads:
            both = np.array([(head.row, head.keeper) for head in heads], np.int64)
            deleted[both[:, 0]] = False
            follows[both[:, 0]] = both[:, 0] != both[:, 1]
    return Flags(deleted, follows)
