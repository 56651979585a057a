"""The check that a table design is exact: whether its keys can miss a pattern of errors."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["gap"]

Key = tuple[int, int]  # mask, flips


@lru_cache(maxsize=256)
def gap(bits: int, radius: int, tables: tuple[Key, ...]) -> int | None:
    """A pattern of at most `radius` errors with more than `flips` of them in each mask, or None when there is
    none.

    Tables that share no bits are broken by different errors. So for each set of tables that are connected by shared
    bits the fewest errors that break it are found; their sum is the answer. Exact.
    """
    pattern, left = 0, radius
    for tied in _components(tables):
        tries = (_breaking(bits, errors, tied) for errors in range(left + 1))
        found = next((hit for hit in tries if hit is not None), None)
        if found is None:
            return None
        pattern, left = pattern | found, left - found.bit_count()
    return pattern


def _components(tables: tuple[Key, ...]) -> list[list[Key]]:
    """Tables in sets such that tables of different sets share no bit."""
    found: list[tuple[int, list[Key]]] = []
    for table in tables:
        apart = [(mask, tied) for mask, tied in found if not mask & table[0]]
        mask, tied = table[0], [table]
        for other, more in found:
            if other & table[0]:
                mask, tied = mask | other, more + tied
        found = [*apart, (mask, tied)]
    return [tied for _, tied in found]


def _breaking(bits: int, errors: int, tables: list[Key]) -> int | None:
    """A pattern of at most `errors` bits with more than `flips` of them in each table's mask, or None.

    Bits that are in the same masks form a class, and a pattern is a count of errors for each class. The search picks a
    table that is not yet broken, so the pattern needs one more error in it, and tries each class of its mask. Later
    branches do not use the classes of earlier ones, so each pattern is tried once.
    """
    classes: dict[tuple[bool, ...], list[int]] = {}
    for bit in range(bits):
        classes.setdefault(tuple(bool(table[0] >> bit & 1) for table in tables), []).append(bit)
    members = [member for member in classes if any(member)]
    positions = [classes[member] for member in members]
    inside = [[a for a, member in enumerate(members) if member[t]] for t in range(len(tables))]
    room = [len(where) for where in positions]
    spare = [table[1] for table in tables]  # errors a table still bears; below zero it is broken

    def put(a: int, count: int) -> None:
        room[a] -= count
        for t in range(len(tables)):
            spare[t] -= count * members[a][t]

    def extend(left: int, closed: frozenset[int]) -> bool:
        strongest = max(range(len(tables)), key=lambda t: spare[t])
        if spare[strongest] < 0:
            return True
        if spare[strongest] >= left:
            return False
        shut = closed
        for a in inside[strongest]:
            if a not in shut and room[a]:
                put(a, 1)
                if extend(left - 1, shut):
                    return True
                put(a, -1)
            shut |= {a}
        return False

    if not extend(errors, frozenset()):
        return None
    return sum(1 << bit for a, where in enumerate(positions) for bit in where[: len(where) - room[a]])
