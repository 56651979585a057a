"""Exact search in tables: a code is stored under a key in each, and a query asks for its own keys and their
flips.

BPHS       blocks of bits, keyed on every choice of some of them
Covering   longer keys for the same number of tables; the fastest
Compact    two or three tables, asked with flips; the fewest bytes

Tables are direct-address: the leading bits of a key are the place of its bucket. BPHS and Covering can have
them sorted and searched instead, as the papers describe them; that is slower, and there to be compared.

All return precisely what a scan would, for the radius they are made for.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.fingerprints.printer import Printer
from neardup.search.codes import check_radius, check_scheme, rows_and_words
from neardup.search.hamming.compressed_tables import CompressedTables
from neardup.search.hamming.designs import Design, bphs, compact, covering, covering_sizes, manku
from neardup.search.hamming.method import HammingMethod
from neardup.search.interface import Candidates, Hits, Keyed, KeyMethod, Mode, Reach, check_mode
from neardup.values.checks import check_fields, checked_methods
from neardup.values.threads import check_threads

__all__ = [
    "BPHS",
    "Compact",
    "Covering",
    "Lookup",
    "TableMethod",
    "TableSearcher",
    "design_arrays",
    "extract_bits",
]

Lookup = Literal["direct", "binary", "interpolation", "compressed"]
"""How `index` finds a key in a table. `direct`: by address, in batches. `binary` and `interpolation`: by
search in a sorted copy of the codes, one query at a time, as the papers have it. Both find the same rows; in
mode `first` the sorted tables compare whole keys, the direct ones as many leading bits as their size permits.
`compressed`: in compressed blocks, the fewest bytes for many tables; slower still."""

TYPICAL_CODES, CANDIDATES_A_PROBE = 2**21, 16
"""Covering chooses its tables for this many codes, if this many candidates are compared in the time of one probe."""


def design_arrays(design: Design) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Masks uint64[tables, words] and flips uint8[tables], as the core takes a design."""
    words = (design.bits + 63) // 64
    masks = [[table.mask >> (64 * w) & (2**64 - 1) for w in range(words)] for table in design.tables]
    return np.array(masks, np.uint64), np.array([table.flips for table in design.tables], np.uint8)


def extract_bits(words: NDArray[np.uint64], mask: int) -> NDArray[np.uint64]:
    """The bits of each code under the mask, side by side, lowest first; of more than 64 the highest 64."""
    key = np.zeros(len(words), np.uint64)
    places = [j for j in range(mask.bit_length()) if mask >> j & 1][-64:]
    for to, j in enumerate(places):
        key |= (words[:, j // 64] >> np.uint64(j % 64) & np.uint64(1)) << np.uint64(to)
    return key


@checked_methods
class TableMethod(HammingMethod, KeyMethod):
    """The base class of the exact methods. Each of them only adds the design of its tables."""

    radius: int
    bits: int
    lookup: Lookup = "direct"

    @property
    @abstractmethod
    def design(self) -> Design:
        """The keys and flips of each table."""

    def reach(self, fingerprint: Printer) -> Reach:
        return replace(super().reach(fingerprint), tables=self.design)

    def key_tables(self, prints: Codes) -> int:
        return len(self.design.tables)

    def keys(self, codes: Codes) -> Keyed:
        """One key a row and table, row by row; empty rows have none."""
        return self._keyed(codes, [[0] for _ in self.design.tables])

    def probes(self, codes: Codes) -> Keyed:
        """The keys each query asks for, in probe order: table by table, without flips, then with more and
        more."""
        flips = []
        for table in self.design.tables:
            places = range(min(table.key_bits, 64))
            sets = (s for size in range(table.flips + 1) for s in combinations(places, size))
            flips.append([sum(1 << j for j in chosen) for chosen in sets])
        return self._keyed(codes, flips)

    def _keyed(self, codes: Codes, flips: list[list[int]]) -> Keyed:
        rows, words = rows_and_words(codes, self.bits)
        if rows is None:
            rows = np.arange(len(words))
        columns = [
            extract_bits(words, table.mask)[:, None] ^ np.array(masks, np.uint64)
            for table, masks in zip(self.design.tables, flips, strict=True)
        ]
        table = np.repeat(np.arange(len(flips), dtype=np.int32), [len(masks) for masks in flips])
        return Keyed(np.repeat(rows, len(table)), np.tile(table, len(rows)), np.hstack(columns).ravel())

    def index(self, codes: Codes, *, threads: int = 1) -> TableSearcher:
        """The codes in native tables; equal ones are stored once, unless the lookup is in sorted tables."""
        rows, words = rows_and_words(codes, self.bits)
        masks, flips = design_arrays(self.design)
        numbers = None if rows is None else rows.astype(np.uint32)
        tables: _core.HammingTables | _core.SortedTables | CompressedTables
        if self.lookup == "compressed":
            tables = CompressedTables(
                words, self.bits, self.radius, [table.mask for table in self.design.tables], numbers
            )
        elif self.lookup == "direct":
            tables = _core.HammingTables(
                words, self.bits, self.radius, masks, flips, 0, check_threads(threads), numbers
            )
        else:
            seek = _core.Seek[self.lookup]
            tables = _core.SortedTables(
                words, self.bits, self.radius, masks, flips, seek, check_threads(threads), numbers
            )
        return TableSearcher(codes.scheme, self.bits, len(codes), tables)

    def candidates(self, codes: Codes, *, threads: int = 1) -> Candidates:
        """All pairs of rows within the radius, equal codes too, all in memory; `Join` streams them and is
        faster."""
        return self.index(codes, threads=threads).search(codes, threads=threads).pairs()


@checked_methods
@dataclass(frozen=True)
class TableSearcher:
    """Stored codes in tables, ready to be asked in batches; the more queries a batch has, the faster each."""

    scheme: str
    bits: int
    rows: int
    tables: _core.HammingTables | _core.SortedTables | CompressedTables

    def __len__(self) -> int:
        return self.rows

    @property
    def bytes(self) -> int:
        """Bytes of the tables, without the map from codes to rows."""
        return self.tables.bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of the map from codes to rows."""
        return self.tables.row_bytes

    def search(self, queries: Codes, *, mode: Mode = "all", threads: int = 1) -> Hits:
        """The stored rows within the radius of each query, by query and row; `first`: one at most, the first
        in probe order. A stored code finds itself."""
        asked, words = self._asked(queries)
        query, row, distance = self.tables.search(words, _core.Mode[check_mode(mode)], check_threads(threads))
        return Hits(query if asked is None else asked[query], row, distance)

    def search_groups(self, queries: Codes, *, threads: int = 1) -> tuple[Hits, NDArray[np.int64]]:
        """Distinct codes instead of rows: the lowest row of each, and how many rows have it. 100,000 equal codes
        give one line."""
        asked, words = self._asked(queries)
        query, row, distance, size = self.tables.search_groups(words, check_threads(threads))
        return Hits(query if asked is None else asked[query], row, distance), size

    def lookup_probes(self, queries: Codes, *, threads: int = 1) -> float:
        """The mean number of stored places that one lookup of a key reads to find its run: 1 by address,
        about log2(rows) by binary search. Makes the lookups of these queries, without reading the runs."""
        _, words = self._asked(queries)
        if isinstance(self.tables, _core.HammingTables):
            return 1.0
        lookups = len(words) * len(self.tables.header_bits)
        return self.tables.probes(words, check_threads(threads)) / max(lookups, 1)

    def _asked(self, queries: Codes) -> tuple[NDArray[np.int64] | None, NDArray[np.uint64]]:
        check_scheme(queries, self.scheme)
        return rows_and_words(queries, self.bits)


@checked_methods
@dataclass(frozen=True)
class BPHS(TableMethod):
    """Block-permuted Hamming search (Manku, Jain, Das Sarma 2007): codes are cut into `blocks`, and each
    choice of `chosen` of them keys a table.

    `tables` names one of the paper's designs for 64 bits and radius 3: 4, 10, 16 or 20. Otherwise `blocks`
    (default radius + 2) and `chosen` (default blocks - radius, the most that is safe) say it. `lookup` is how
    `index` finds a key; see Lookup.

    >>> import numpy as np
    >>> import neardup as nd
    >>> codes = nd.fingerprints.Codes("mine", np.zeros(3, bool), 64, np.array([[7], [3], [2**60 + 48]], np.uint64))
    >>> found = nd.BPHS(radius=3).candidates(codes)
    >>> found.left.tolist(), found.right.tolist(), found.distance.tolist()
    ([0], [1], [1])
    """

    radius: int = 3
    tables: int | None = None
    blocks: int | None = None
    chosen: int | None = None
    bits: int = 64
    lookup: Lookup = "direct"

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, self.bits)
        if self.tables is not None and (self.blocks is not None or self.chosen is not None):
            raise ConfigError("give either tables, or blocks and chosen")
        if self.tables is not None and (self.bits, self.radius) != (64, 3):
            raise ConfigError(
                "the paper's table numbers are for 64 bits and radius 3: give blocks and chosen"
            )
        _ = self.design

    @cached_property
    def design(self) -> Design:
        """A table for each choice of blocks."""
        if self.tables is not None:
            return manku(self.tables)
        blocks = self.radius + 2 if self.blocks is None else self.blocks
        return bphs(
            self.bits, self.radius, blocks, blocks - self.radius if self.chosen is None else self.chosen
        )


@checked_methods
@dataclass(frozen=True)
class Covering(TableMethod):
    """Tables from covering designs: the longest keys for their number. 64 bits and radius 3 have 6 (21-bit
    keys), 8, 11 and 14 tables.

    More tables cost probes and bytes, shorter keys candidates. The default costs a query least among two
    million uniform codes, tables * (1 + 2**21 / 2**key bits / 16), where comparing 16 candidates counts as a
    probe: 6 tables for 64 bits and radius 3, 14 for 32 bits, 4 for 128. `lookup` is how `index` finds a key;
    see Lookup.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> nd.search.Covering(radius=3, tables=8).candidates(codes).distance.tolist()
    [0]
    """

    radius: int = 3
    tables: int | None = None
    bits: int = 64
    lookup: Lookup = "direct"

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, self.bits)
        _ = self.design

    @cached_property
    def design(self) -> Design:
        """The tables; see neardup.search.hamming.designs.covering."""
        if self.tables is not None:
            return covering(self.bits, self.radius, self.tables)
        sizes = covering_sizes(self.bits, self.radius)
        if not sizes:
            raise ConfigError(
                f"no covering design for {self.bits} bits and radius {self.radius}: use Compact"
            )

        def cost(tables: int) -> float:
            return tables * (1 + TYPICAL_CODES / 2 ** sizes[tables] / CANDIDATES_A_PROBE)

        return covering(self.bits, self.radius, min(sizes, key=cost))


@checked_methods
@dataclass(frozen=True)
class Compact(TableMethod):
    """Few tables over large parts of the code, asked with flips; a map of what is present answers most flips
    without touching a table. The default is two tables, or three from radius 6 on.

    radius  the largest distance, inclusive
    bits    the width of the codes: 32, 64 or 128

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> nd.search.Compact(radius=3).candidates(codes).distance.tolist()
    [0]
    """

    radius: int = 3
    tables: int | None = None
    bits: int = 64

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, self.bits)
        _ = self.design

    @cached_property
    def design(self) -> Design:
        """One table for each part; see neardup.search.hamming.designs.compact."""
        usual = min(self.radius + 1, 2 if self.radius < 6 else 3)
        return compact(self.bits, self.radius, usual if self.tables is None else self.tables)
