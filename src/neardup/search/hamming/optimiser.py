"""How many tables block designs need: the recursion X(f, k, d) of Manku et al., section 3.1.2, both ways
round.

Cut f bits into r blocks; k errors leave at least r - k of them equal, so C(r, k) choices of r - k blocks are
one step, and the f*k/r bits that remain may be cut again. X is the fewest tables such that every key has at
least p_min bits. Two corrections to the printed form: r must exceed k (r = k gains no key bits, so the
recursion would not end), and it stops at d <= tau, when the prefix is already long enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb

from neardup.errors import ConfigError
from neardup.search.hamming.designs import MOST_TABLES, Design, Table, even_blocks
from neardup.values.checks import checked

__all__ = ["fewest_tables", "longest_prefix", "tables_needed"]


@checked
def tables_needed(bits: float, radius: int, prefix: float) -> int:
    """X(bits, radius, d) of the paper, where blocks may have fractions of a bit; `prefix` is p_min = d -
    tau."""
    _check(bits, radius, prefix)
    return _fractional(Fraction(bits), radius, Fraction(prefix))


@lru_cache(maxsize=4096)
def _fractional(bits: Fraction, radius: int, prefix: Fraction) -> int:
    if prefix <= 0 or radius == 0:
        return 1
    best: int | None = None
    blocks = radius + 1
    while best is None or comb(blocks, radius) < best:
        rest = bits * radius / blocks
        need = prefix - (bits - rest)
        # Needing all that remains is hopeless, and another step takes at least radius + 1 tables.
        if need < rest and (need <= 0 or best is None or comb(blocks, radius) * (radius + 1) <= best):
            count = comb(blocks, radius) * _fractional(rest, radius, need)
            best = count if best is None else min(best, count)
        blocks += 1
    return best


@checked
def fewest_tables(bits: int, radius: int, prefix: int) -> Design:
    """The block design with the fewest tables whose every key has at least `prefix` whole bits."""
    _check(bits, radius, prefix)
    count = _whole(bits, radius, prefix)
    if count is None or count > MOST_TABLES:
        many = "no number of" if count is None else f"{count}"
        raise ConfigError(
            f"{many} tables give keys of {prefix} bits at radius {radius} of {bits} bits "
            f"(at most {MOST_TABLES}); ask for a shorter prefix"
        )
    keys = tuple(Table(key) for key in _keys(tuple(range(bits)), radius, prefix))
    return Design(f"bphs-{len(keys)}", bits, radius, keys)


@checked
def longest_prefix(bits: int, radius: int, tables: int) -> Design:
    """The block design with the longest shortest key that at most `tables` tables can give."""
    if tables <= radius:
        raise ConfigError(f"block designs at radius {radius} need at least {radius + 1} tables, got {tables}")
    _check(bits, radius, 1)
    best = 1
    for prefix in range(1, bits + 1):
        count = _whole(bits, radius, prefix)
        if count is None or count > tables:
            break
        best = prefix
    return fewest_tables(bits, radius, best)


def _check(bits: float, radius: int, prefix: float) -> None:
    if not 0 <= radius < bits:
        raise ConfigError(f"block designs need 0 <= radius < bits, got radius {radius} and {bits} bits")
    if not 0 < prefix <= bits or (radius and prefix > bits - radius):
        raise ConfigError(f"a prefix has 1 to {bits - radius} bits at radius {radius}, got {prefix}")


def _kinds(bits: int, radius: int, blocks: int) -> Iterator[tuple[int, int]]:
    """(bits in the chosen blocks, how many such choices) when blocks - radius of `blocks` even blocks are
    chosen."""
    small, larger = divmod(bits, blocks)
    for big in range(larger + 1):
        rest = blocks - radius - big
        if 0 <= rest <= blocks - larger:
            yield small * (blocks - radius) + big, comb(larger, big) * comb(blocks - larger, rest)


@lru_cache(maxsize=65536)
def _whole(bits: int, radius: int, prefix: int) -> int | None:
    """Fewest tables with whole bits: each choice of blocks is cut further on its own, as much as it still
    needs."""
    if prefix <= 0:
        return 1
    return min(((count, blocks) for blocks, count in _splits(bits, radius, prefix)), default=(None, 0))[0]


def _splits(bits: int, radius: int, prefix: int) -> Iterator[tuple[int, int]]:
    """(blocks, tables) for each first step that can reach the prefix and is not beaten by a coarser one."""
    best: int | None = None
    for blocks in range(radius + 1, bits + 1):
        if best is not None and comb(blocks, radius) >= best:
            return
        total: int | None = 0
        for chosen, ways in _kinds(bits, radius, blocks):
            need = prefix - chosen
            deeper = _whole(bits - chosen, radius, need) if need <= bits - chosen - radius else None
            if deeper is None or total is None:
                total = None
                break
            total += ways * deeper
        if total is not None and (best is None or total < best):
            best = total
            yield blocks, total


def _keys(positions: tuple[int, ...], radius: int, prefix: int) -> Iterator[int]:
    if prefix <= 0:
        yield 0
        return
    blocks = min((count, blocks) for blocks, count in _splits(len(positions), radius, prefix))[1]
    cuts, start = [], 0
    for size in even_blocks(len(positions), blocks):
        cuts.append(positions[start : start + size])
        start += size
    for choice in combinations(cuts, blocks - radius):
        taken = {bit for block in choice for bit in block}
        key = sum(1 << bit for bit in taken)
        rest = tuple(bit for bit in positions if bit not in taken)
        for deeper in _keys(rest, radius, prefix - len(taken)):
            yield key | deeper
