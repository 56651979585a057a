"""The keys on the server, and the tables of buckets, chosen for the expected size of an index.

{NAME}            one hash: last row and ticket, counts, settings
{NAME}w:x         the last single document that worker x added, for some minutes
{NAME:s}k:t:b     table t, bucket b: entries of keepers and of pending documents; an entry is its key and its row
{NAME:s}f:t:b     the same for followers
{NAME:s}d:r       records of the 32 rows from 32 r on: a hash; the field is the row within the page
{NAME:s}c:r       their contents
{NAME:s}i:b       rows by the digest of their id: a hash
{NAME:s}x:t       rows that expire in second t

NAME is the name of the index with its epoch: pages.3fa2c1. Two keys have the name alone: {pages}recipe and
{pages}identity, which is the digest of the recipe.

s is one of 128 shards. A cluster places keys by the part in braces, so one command can use all keys of a shard.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import log2

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError
from neardup.index.recipe import Recipe
from neardup.search.hamming.designs import Design, Table, bphs, compact, covering, covering_sizes

__all__ = ["KeyLayout", "best_design"]

SHARDS = 128
ENTRIES_A_BUCKET, IDS_A_BUCKET, ROWS_A_RECORD = 12, 24, 32
# The costs of a design, in microseconds: for each key that is read, each byte read, and each byte stored for a
# document.
ASKED, READ, KEPT = 2.0, 0.002, 0.02
MOST_READ, FEW = 0.25, 10_000  # a query reads at most this share of an index, unless the index is small
KEY_BYTES = 100  # memory of a key on the server, without its value
FIELDS = [b"%d" % at for at in range(ROWS_A_RECORD)]
Keys = NDArray[np.uint64]
Numbers = NDArray[np.int64]


def best_design(bits: int, radius: int, expected: int) -> Design:
    """The exact design with the lowest cost of queries and memory."""
    most = prefix_bits(expected)

    def cost(design: Design) -> float:
        asked = read = kept = 0.0
        for table in design.tables:
            width = min(most, table.key_bits)
            entries = expected / 2**width
            probes = table.probes(width)
            asked += probes
            read += probes * entries * 16
            kept += 16 + KEY_BYTES / max(entries, 1)
        return ASKED * asked + READ * read + KEPT * kept

    choices = [compact(bits, radius, tables) for tables in range(1, min(radius + 1, 4) + 1)]
    choices += [covering(bits, radius, tables) for tables in covering_sizes(bits, radius)]
    if radius + 1 <= bits:
        choices.append(bphs(bits, radius, radius + 1, 1))
    return min(choices, key=cost)


def prefix_bits(expected: int) -> int:
    """Number of bits of a bucket number."""
    return max(0, min(40, int(log2(max(expected / ENTRIES_A_BUCKET, 1)))))


@dataclass(frozen=True)
class KeyLayout:
    """The keys and tables of one index. A table is (column of the keys or None for all, mask of the bucket's bits,
    flips)."""

    name: str
    tables: tuple[tuple[int | None, int, int], ...]
    words: int  # in the key of an entry
    expected: int
    radius: int
    bits: int
    sparse: bool = False  # whether a key of 0 means no key

    @classmethod
    def of(cls, name: str, recipe: Recipe, expected: int) -> KeyLayout:
        """The layout for an index with this recipe; every worker with the same recipe and `expected` gets the same
        layout."""
        wide = prefix_bits(expected)
        if not recipe.method.whole_keys:
            tables = tuple((table, (1 << wide) - 1, 0) for table in range(recipe.tables))
            return cls(name, tables, 1, expected, 0, 64, recipe.sparse)
        if (reach := recipe.reach) is None:
            return cls(name, ((None, (1 << wide) - 1, 0),), recipe.words, expected, 0, 64 * recipe.words)
        design = best_design(reach.bits, reach.radius, expected)
        reads = sum(table.probes(wide) / 2 ** min(wide, table.key_bits) for table in design.tables)
        if reads > MOST_READ and expected > FEW:
            raise ConfigError(
                f"no tables in Redis can search {reach.bits} bits with radius {reach.radius} among "
                f"{expected:,} documents: choose a smaller radius, or MinHash bands (nd.Config.of('minhash'))"
            )
        designed = tuple((None, _highest(table, wide), table.flips) for table in design.tables)
        return cls(name, designed, (reach.bits + 63) // 64, expected, reach.radius, reach.bits)

    @property
    def width(self) -> int:
        """Bytes of an entry."""
        return 8 * self.words + 8

    @cached_property
    def id_buckets(self) -> int:
        """Number of id buckets, each a hash."""
        return 1 << max(0, int(log2(max(self.expected / IDS_A_BUCKET, 1))))

    @cached_property
    def _tags(self) -> list[bytes]:
        return [b"{%s:%x}" % (self.name.encode(), shard) for shard in range(SHARDS)]

    @cached_property
    def meta(self) -> bytes:
        return b"{%s}" % self.name.encode()

    @property
    def expiring(self) -> bytes:
        """The key of the list of seconds in which rows expire."""
        return self.meta + b"x"

    def expiry(self, second: int) -> bytes:
        return self._tags[second % SHARDS] + b"x:%x" % second

    def record(self, row: int) -> tuple[bytes, bytes]:
        """Key and field of a row's record."""
        return self.page(row // ROWS_A_RECORD), FIELDS[row % ROWS_A_RECORD]

    def page(self, page: int) -> bytes:
        """The key of the records of 32 rows."""
        return b"%sd:%x" % (self._tags[page % SHARDS], page)

    def content(self, row: int) -> tuple[bytes, bytes]:
        """Key and field of a row's content."""
        return self.contents(row // ROWS_A_RECORD), FIELDS[row % ROWS_A_RECORD]

    def contents(self, page: int) -> bytes:
        """The key of the contents of 32 rows."""
        return b"%sc:%x" % (self._tags[page % SHARDS], page)

    def id(self, digest: bytes) -> tuple[bytes, bytes]:
        """Key and field that hold the row of an id."""
        number = int.from_bytes(digest[:6], "little") % self.id_buckets
        return self._tags[number % SHARDS] + b"i:%x" % number, digest

    def buckets(self, kind: bytes, table: int, buckets: Iterable[int]) -> list[bytes]:
        """The keys of buckets, for keepers (b"k") or followers (b"f")."""
        tags, first = self._tags, b"%s:%x:" % (kind, table)
        return [b"%s%s%x" % (tags[(bucket + 37 * table) % SHARDS], first, bucket) for bucket in buckets]

    def homes(self, keys: Keys) -> NDArray[np.uint64]:
        """The bucket of each key in each table: uint64[keys, tables]."""
        if self.banded:  # one column for each table, all with the same mask
            return keys & np.uint64(self.tables[0][1])
        columns = [_extract(self._words(keys, column), mask) for column, mask, _ in self.tables]
        return np.stack(columns, axis=1) if len(columns) else np.empty((len(keys), 0), np.uint64)

    def probes(self, keys: Keys) -> NDArray[np.uint64]:
        """The buckets that a search for each key reads, table by table: uint64[keys, probes]."""
        homes = self.homes(keys)
        if not any(flips for _, _, flips in self.tables):
            return homes
        columns = [
            homes[:, table, None] ^ _flips(mask.bit_count(), flips)
            for table, (_, mask, flips) in enumerate(self.tables)
        ]
        return np.concatenate(columns, axis=1)

    @cached_property
    def probed(self) -> Numbers:
        """The table of each probe."""
        many = [len(_flips(mask.bit_count(), flips)) for _, mask, flips in self.tables]
        return np.repeat(np.arange(len(self.tables)), many)

    @cached_property
    def firsts(self) -> Numbers:
        """The first word of a key in each table."""
        return np.array([column or 0 for column, _, _ in self.tables], np.int64)

    @property
    def banded(self) -> bool:
        """Whether each table has its own key, and a search reads only the bucket of that key."""
        return self.tables[0][0] is not None

    def entries(self, keys: Keys, rows: Numbers, table: int) -> NDArray[np.uint64]:
        """The entry of each row in a table: its key, and the row."""
        words = self._words(keys, self.tables[table][0])
        return np.concatenate([words, rows.astype(np.uint64)[:, None]], axis=1)

    def _words(self, keys: Keys, column: int | None) -> Keys:
        return keys if column is None else keys[:, column : column + 1]

    @property
    def probe_count(self) -> int:
        """Number of buckets that a query reads."""
        return sum(len(_flips(mask.bit_count(), flips)) for _, mask, flips in self.tables)


def _highest(table: Table, wide: int) -> int:
    """The mask of a table's bucket: the highest bits of its key."""
    places = [j for j in range(table.mask.bit_length()) if table.mask >> j & 1]
    return sum(1 << j for j in places[max(0, len(places) - wide) :])


@lru_cache
def _runs(mask: int) -> tuple[tuple[int, int, int, int], ...]:
    """The bits of a mask as runs of adjacent bits: word, shift, bits below it in the key, and a mask of its
    length."""
    runs, place, to = [], 0, 0
    while mask >> place:
        if not mask >> place & 1:
            place += 1
            continue
        length = 1
        while mask >> (place + length) & 1 and (place + length) % 64:
            length += 1
        runs.append((place // 64, place % 64, to, (1 << length) - 1))
        place, to = place + length, to + length
    return tuple(runs)


def _extract(words: Keys, mask: int) -> Keys:
    """The bits of each key under the mask, packed together, lowest first."""
    key = np.zeros(len(words), np.uint64)
    for word, shift, to, ones in _runs(mask):
        key |= (words[:, word] >> np.uint64(shift) & np.uint64(ones)) << np.uint64(to)
    return key


@lru_cache
def _flips(width: int, flips: int) -> NDArray[np.uint64]:
    chosen = (s for size in range(flips + 1) for s in combinations(range(width), size))
    return np.array([sum(1 << j for j in places) for places in chosen], np.uint64)
