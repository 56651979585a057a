"""The general join on keys: rows that share a key in a table are candidates, for the keys of any method."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.search.candidates import CAP, Joined
from neardup.search.pair_runs import unpack_pairs
from neardup.values.distinct import distinct
from neardup.values.parts import WHOLE, Part

__all__ = ["KeyColumn", "Probing", "join_keys", "with_probes"]

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
KeyColumn = tuple[NDArray[np.uint64], Flags | None]
"""The keys of all rows in one table, and which rows have one; None if all do."""
Probing = tuple[Rows, NDArray[np.int32], NDArray[np.uint64]]
"""Probes as columns: places of rows, tables and keys."""
Check = Callable[[Rows, Rows], Flags | None]


def join_keys(
    columns: Iterator[KeyColumn],
    rows: Rows,
    joined: Joined,
    *,
    rank: Rows | None = None,
    cap: int = CAP,
    probing: Probing | None = None,
    check: Check | None = None,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    part: Part = WHOLE,
) -> None:
    """Add to `joined` the pairs of `rows` (ascending) that share a key: `columns` has the keys table by table.

    In a bucket of more than `cap` rows each row is paired with the first four by rank, and with its eight neighbours
    in the order of the next table's keys. With `probing`, rows also ask for other keys; a pair is then a candidate if
    one of the two is stored under the key. `check` gets places in `rows`, `progress` the number of tables done. Only
    the tables of the `part` are joined.
    """
    order = None if rank is None else np.argsort(np.argsort(rank[rows])).astype(np.uint32)
    first = following = next(columns, None)
    table = 0
    while following is not None:
        (keys, present), last = following, first
        following = next(columns, None)
        if not part.takes(table):
            table += 1
            continue
        then = (last if following is None else following) or (keys, None)
        places, stored = None if present is None else np.flatnonzero(present), None
        if places is not None:
            keys = keys[places]
        if probing is not None:
            places, keys, stored = with_probes(probing, table, keys, places)
        near, ranks = then[0], order
        if places is not None:
            near, ranks = near[places], None if order is None else order[places]
        found, capped, skipped = _core.key_pairs(keys, near, ranks, cap, threads)
        joined.capped += capped
        joined.skipped += skipped
        left, right = unpack_pairs(found)
        if stored is not None:
            known = stored[left] | stored[right]
            left, right = left[known], right[known]
        if places is not None:
            left, right = places[left], places[right]
        if check is not None and (passed := check(left, right)) is not None:
            left, right = left[passed], right[passed]
        # Rows ascend, so pairs of places and pairs of rows have the same order. A probe can repeat a pair.
        pairs = rows[left].astype(np.uint64) << np.uint64(32) | rows[right].astype(np.uint64)
        joined.runs.add(pairs if stored is None else distinct(pairs))
        table += 1
        if progress is not None:
            progress(table)


def with_probes(
    probing: Probing, table: int, keys: NDArray[np.uint64], places: Rows | None
) -> tuple[Rows, NDArray[np.uint64], Flags]:
    """The keys and probes of one table, each once, sorted by row: rows, keys, and which of them are stored keys."""
    row, number, key = probing
    mine = number == table
    if places is None:
        places = np.arange(len(keys))
    every = np.concatenate([places, row[mine]]), np.concatenate([keys, key[mine]])
    asks = np.repeat([False, True], [len(places), int(mine.sum())])
    order = np.lexsort((asks, every[1], every[0]))
    places, keys, asks = every[0][order], every[1][order], asks[order]
    fresh = np.ones(len(places), np.bool_)
    fresh[1:] = (places[1:] != places[:-1]) | (keys[1:] != keys[:-1])
    return places[fresh], keys[fresh], ~asks[fresh]
