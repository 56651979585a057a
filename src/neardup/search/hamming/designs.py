"""Table designs: which bits of a code each table is keyed on, so that no code within the radius is missed.

A table holds every code under the bits of its mask. A query that differs from a stored code in at most
`flips` bits of the mask finds it there, because the query probes its own key and every key within `flips` of
it. A design is exact if for each pattern of at most `radius` differing bits at least one table has at most `flips` of
them in its mask. That is checked whenever a design is made.

bphs        blocks, keyed on every choice of some of them (Manku, Jain, Das Sarma 2007; Sood, Loguinov 2011)
covering    groups of bits, one of which has few errors, with a small covering design inside each; "fast"
compact     a few large parts, keyed whole, probed with flips; fewest bytes of the exact designs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb, log2, prod

from neardup.errors import ConfigError
from neardup.search.hamming.gaps import gap
from neardup.search.hamming.geometries import Inner, inner_designs
from neardup.values.checks import check_fields, check_whole, checked, checked_methods

__all__ = [
    "Design",
    "Table",
    "bphs",
    "compact",
    "covering",
    "covering_sizes",
    "even_blocks",
    "manku",
    "nested",
]

MOST_TABLES = 4096
_MOST_BITS = 1024


@checked_methods
@dataclass(frozen=True)
class Table:
    """One table: keyed on the bits set in `mask`, probed with every key at most `flips` bits away."""

    mask: int
    flips: int = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def key_bits(self) -> int:
        """How many bits the key has."""
        return self.mask.bit_count()

    def probes(self, key_bits: int | None = None) -> int:
        """How many keys one query asks for, when the key is cut to `key_bits` (default: not cut)."""
        width = (
            self.key_bits if key_bits is None else min(check_whole(key_bits, "key_bits", 0), self.key_bits)
        )
        return sum(comb(width, i) for i in range(self.flips + 1))


@checked_methods
@dataclass(frozen=True)
class Design:
    """Tables that together miss no code within `radius` of a query; `bits` is the width of a code."""

    name: str
    bits: int
    radius: int
    tables: tuple[Table, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        _check_size(self.bits, self.radius)
        if not self.tables:
            raise ConfigError("a design needs at least one table")
        for table in self.tables:
            if table.flips < 0 or table.mask <= 0 or table.mask >> self.bits:
                raise ConfigError(f"table {table} does not fit in {self.bits} bits")
        missed = self.gap()
        if missed is not None:
            raise ConfigError(
                f"design {self.name} would miss codes at radius {self.radius}: "
                f"differing bits {missed:#x} touch every one of its {len(self.tables)} keys"
            )

    @property
    def key_bits(self) -> tuple[int, ...]:
        """Bits of each table's key; a stored code in n uniform ones shares a key of p bits with n / 2**p
        others."""
        return tuple(table.key_bits for table in self.tables)

    def probes(self, key_bits: int | None = None) -> int:
        """How many keys one query asks for over all tables, when keys are cut to `key_bits`."""
        return sum(table.probes(key_bits) for table in self.tables)

    def candidates(self, codes: float, key_bits: int | None = None) -> float:
        """Expected candidates of one query among `codes` uniform ones, when keys are cut to `key_bits`."""
        limit = self.bits if key_bits is None else key_bits
        return sum(codes * t.probes(limit) / 2.0 ** min(limit, t.key_bits) for t in self.tables)

    def covers(self) -> bool:
        """Whether every pattern of at most `radius` differing bits leaves a table with at most `flips` of
        them in its mask. Exact; Design refuses to exist otherwise."""
        return self.gap() is None

    def gap(self) -> int | None:
        """A pattern of at most `radius` differing bits that every table misses, or None when there is
        none."""
        return gap(self.bits, self.radius, tuple((t.mask, t.flips) for t in self.tables))


def _check_size(bits: int, radius: int) -> None:
    check_whole(bits, "bits", 1, _MOST_BITS)
    check_whole(radius, "radius", 0, bits)


@checked
def even_blocks(size: int, count: int) -> list[int]:
    """Cut `size` bits into `count` blocks as even as can be, larger ones first: 64 into 5 is 13, 13, 13, 13,
    12."""
    check_whole(size, "size", 1, _MOST_BITS + 1)
    if not 1 <= count <= size:
        raise ConfigError(f"cannot cut {size} bits into {count} blocks")
    small, more = divmod(size, count)
    return [small + 1] * more + [small] * (count - more)


def _cut(positions: Sequence[int], sizes: Iterable[int]) -> list[int]:
    """Masks of consecutive runs of `positions`, one for each size."""
    masks, start = [], 0
    for size in sizes:
        masks.append(sum(1 << bit for bit in positions[start : start + size]))
        start += size
    return masks


def _bits_of(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


# ---- bphs --------------------------------------------------------------------------------------------------


@checked
def bphs(bits: int, radius: int, blocks: int, chosen: int) -> Design:
    """Cut codes into `blocks` and key a table on every choice of `chosen` of them: C(blocks, chosen) tables.

    Errors in `radius` bits touch at most `radius` blocks, so at least blocks - radius are equal; exact when
    chosen is at most that. The best use of tables is blocks = chosen + radius.
    """
    return nested(bits, radius, [(blocks, chosen)])


@checked
def nested(bits: int, radius: int, steps: Sequence[tuple[int, int]]) -> Design:
    """BPHS in steps: choose blocks among all bits, cut the rest into blocks again, choose among these, and so
    on."""
    _check_size(bits, radius)
    for blocks, chosen in steps:
        if chosen < 1 or chosen > blocks - radius:
            raise ConfigError(
                f"{radius} errors can touch {radius} of {blocks} blocks, so at most "
                f"{max(blocks - radius, 0)} can be relied on to be equal; got chosen={chosen}"
            )
    count = prod(comb(blocks, chosen) for blocks, chosen in steps)
    if count > MOST_TABLES:
        raise ConfigError(f"{count} tables are too many (at most {MOST_TABLES}); choose fewer blocks")

    def keys(rest: int, level: int) -> Iterator[int]:
        if level == len(steps):
            yield 0
            return
        blocks, chosen = steps[level]
        positions = _bits_of(rest)
        for choice in combinations(_cut(positions, even_blocks(len(positions), blocks)), chosen):
            key = sum(choice)
            for deeper in keys(rest & ~key, level + 1):
                yield key | deeper

    tables = tuple(Table(key) for key in keys((1 << bits) - 1, 0))
    return Design(f"bphs-{len(tables)}", bits, radius, tables)


@checked
def manku(tables: int) -> Design:
    """The designs of Manku et al., example 3.1, for 64 bits and radius 3: 4, 10, 16 or 20 tables."""
    steps = {4: [(4, 1)], 10: [(5, 2)], 16: [(4, 1), (4, 1)], 20: [(6, 3)]}
    if tables not in steps:
        raise ConfigError(f"the paper's designs have 4, 10, 16 or 20 tables, got {tables}")
    return nested(64, 3, steps[tables])


# ---- covering ----------------------------------------------------------------------------------------------


def _partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
        return
    for first in range(min(total, largest), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)


@lru_cache(maxsize=64)
def _covering_options(bits: int, radius: int, most: int) -> dict[int, tuple[float, tuple[Inner, ...]]]:
    """For each number of tables up to `most`, the groups that give the longest keys: (key bits, inner
    designs).

    Groups with local radii r_1, r_2, ... work when the sum of r_i + 1 is radius + 1: more than r_i errors in
    every group would be more than `radius` in all. Keys are equally long when group i gets bits in proportion
    to 1/share_i.
    """
    inner = inner_designs()
    best: dict[int, tuple[float, tuple[Inner, ...]]] = {}

    def fill(parts: tuple[int, ...], picked: tuple[Inner, ...], tables: int) -> None:
        if not parts:
            key = bits / sum(1 / d.share for d in picked)
            if key > best.get(tables, (0.0, ()))[0] + 1e-9:
                best[tables] = (key, picked)
            return
        for design in inner[parts[0] - 1]:
            # Equal parts in one fixed order, so that no set of groups is tried twice.
            if picked and picked[-1].radius == design.radius and len(picked[-1].keys) < len(design.keys):
                continue
            if tables + len(design.keys) + len(parts) - 1 <= most:
                fill(parts[1:], (*picked, design), tables + len(design.keys))

    largest = max(inner) + 1
    for parts in _partitions(radius + 1, largest) if radius < largest * most else ():
        fill(parts, (), 0)
    return best


@checked
def covering_sizes(bits: int, radius: int, most: int = 40) -> dict[int, float]:
    """Numbers of tables, at most `most`, for which more tables buy longer keys, with the mean key bits of
    each."""
    _check_size(bits, radius)
    check_whole(most, "most", 1, MOST_TABLES)
    kept: dict[int, float] = {}
    longest = 0.0
    for tables, (key, picked) in sorted(_covering_options(bits, radius, most).items()):
        fits = sum(d.blocks for d in picked) <= bits
        if fits and key > longest + 1e-9:
            kept[tables], longest = key, key
    return kept


@checked
def covering(bits: int, radius: int, tables: int) -> Design:
    """Exactly `tables` tables with the longest keys this family has, no flips.

    For 64 bits and radius 3: 5 (18 bits), 6 (21), 8 (24), 11 (29) and 14 (32); block choices need 10 tables
    for 25 and 20 for 32. See `covering_sizes` for the numbers of tables that exist at other widths and radii.
    """
    _check_size(bits, radius)
    check_whole(tables, "tables", 1, MOST_TABLES)
    options = _covering_options(bits, radius, tables)
    if tables not in options or sum(d.blocks for d in options[tables][1]) > bits:
        raise ConfigError(
            f"no covering design with {tables} tables for {bits} bits and radius {radius}; "
            f"there are designs with {', '.join(map(str, covering_sizes(bits, radius)))}"
        )
    picked = options[tables][1]
    keys: list[int] = []
    for group, design in zip(_cut(range(bits), _group_sizes(bits, picked)), picked, strict=True):
        positions = _bits_of(group)
        blocks = _cut(positions, even_blocks(len(positions), design.blocks))
        keys += [sum(blocks[b] for b in key) for key in design.keys]
    return Design(f"covering-{tables}", bits, radius, tuple(Table(key) for key in keys))


def _group_sizes(bits: int, picked: Sequence[Inner]) -> list[int]:
    """Whole bits for each group, so that the shortest key over all groups is as long as can be."""
    sizes = [design.blocks for design in picked]
    for _ in range(bits - sum(sizes)):
        shortest = min(range(len(sizes)), key=lambda i: (sizes[i] * picked[i].share, i))
        sizes[shortest] += 1
    return sizes


# ---- compact -----------------------------------------------------------------------------------------------


@checked
def compact(bits: int, radius: int, tables: int = 2) -> Design:
    """Cut codes into `tables` parts, each a table's whole key, probed with flips so that none can be missed.

    Part i bears flips_i errors, and the sum of flips_i + 1 is radius + 1: flips are shared out evenly, larger
    first. A part with more flips makes more probes, so it gets more bits, until all parts give equally
    many candidates. 64 bits and radius 3: two parts of 32 with one flip each.
    """
    _check_size(bits, radius)
    if not 1 <= tables <= radius + 1:
        raise ConfigError(f"compact designs at radius {radius} have 1 to {radius + 1} tables, got {tables}")
    if tables > bits:
        raise ConfigError(f"cannot cut {bits} bits into {tables} parts")
    flips = [part - 1 for part in even_blocks(radius + 1, tables)]
    sizes = [1] * tables
    for _ in range(bits - tables):
        # log2 of the share of all codes that are candidates in part i: probes / 2**size.
        load = [log2(sum(comb(s, j) for j in range(f + 1))) - s for s, f in zip(sizes, flips, strict=True)]
        sizes[max(range(tables), key=lambda i: (load[i], -i))] += 1
    masks = _cut(range(bits), sizes)
    parts = tuple(Table(mask, most) for mask, most in zip(masks, flips, strict=True))
    return Design(f"compact-{tables}", bits, radius, parts)
