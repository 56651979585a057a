"""Probabilistic simhash matching: one table; a query asks for its own header and for its likeliest changed headers
(Sood and Loguinov, CIKM 2011). It is the smallest index and the cheapest at wide radii, but it loses some recall.

It finds a part of what an exact method finds: the relative recall R'. The recall of near duplicates is R' times the
share of them that is within the radius."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Codes
from neardup.fingerprints.printer import Printer
from neardup.search.codes import check_radius, check_scheme, rows_and_words
from neardup.search.hamming.method import HammingMethod, Prefix
from neardup.search.interface import Candidates, Hits, Keyed, KeyMethod, Mode, check_mode
from neardup.search.psm.margins import has_sizes, margin_sizes
from neardup.search.psm.recall import Calibration, calibrate
from neardup.search.psm.vosh import FlipModel, expected_costs, laplace_costs
from neardup.values.threads import check_threads

__all__ = ["PSM", "PsmSearcher", "top_bits"]

MOST_RADIUS = 16
MOST_FLIPS = 16384
_SAMPLE = 4096


def top_bits(words: NDArray[np.uint64], bits: int, count: int) -> NDArray[np.uint64]:
    """The `count` (at most 32) most significant bits of each code."""
    return words[:, -1] >> np.uint64((32 if bits == 32 else 64) - count)


@dataclass(frozen=True)
class PSM(HammingMethod, KeyMethod):
    """Search by likeliest flips.

    radius        largest distance reported, 0 to 16 bits
    recall        relative recall to aim for when `flips` is not given: calibrated on the codes to be stored
    flips         header flip sets each query tries after its own header, at most 16,384
    header_bits   bits of the header, t; default floor(log2(codes)), the paper's optimum
    order         "template": the same sets of ranks for every query, fast; "heap": each query's own order
    expected      for the template: cost of flipping the weakest bit of the header, the second weakest, ...;
                  default the mean of the stored codes' own margins
    model         turns margins into costs; default their sizes, which rank flips as well on real text
    """

    radius: int = 3
    recall: float = 0.95
    flips: int | None = None
    header_bits: int | None = None
    order: Literal["template", "heap"] = "template"
    expected: tuple[float, ...] | None = None
    model: FlipModel | None = None
    bits: int = 64

    finds_all = False
    needs_ranks = True

    def __post_init__(self) -> None:
        check_radius(self.radius, self.bits)
        if self.radius > MOST_RADIUS:
            raise ConfigError(f"PSM flips at most {MOST_RADIUS} bits, so radius {self.radius} is too large")
        if not 0 < self.recall < 1:
            raise ConfigError(
                f"recall is between 0 and 1, not {self.recall}; for all pairs use an exact method"
            )
        if self.flips is not None and not 0 <= self.flips <= MOST_FLIPS:
            raise ConfigError(f"flips go from 0 to {MOST_FLIPS}, not {self.flips}")
        if self.header_bits is not None and not 1 <= self.header_bits <= 32:
            raise ConfigError(f"a header has 1 to 32 bits, not {self.header_bits}")
        if self.order not in ("template", "heap"):
            raise ConfigError(f"order is template or heap, not {self.order!r}")
        if self.expected is not None and list(self.expected) != sorted(abs(cost) for cost in self.expected):
            raise ConfigError("expected costs go from 0 up, ascending")

    def costs(self, codes: Codes, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """What flipping each bit of these rows costs (default: of all that are not empty), float32[rows,
        bits]."""
        margins = margin_sizes(codes, rows)
        return margins if self.model is None else self.model.costs(margins)

    def header_for(self, rows: int) -> int:
        """Header bits for this many codes."""
        return self.header_bits or min(max(1, rows.bit_length() - 1), 32)

    def expected_for(self, codes: Codes, header: int) -> NDArray[np.float32]:
        """Expected cost of each rank of the header, ascending: as given, from these codes, or as Laplace has
        it."""
        if self.expected is not None:
            if len(self.expected) != header:
                raise ConfigError(f"a header of {header} bits needs as many expected costs")
            return np.array(self.expected, np.float32)
        rows = np.flatnonzero(~codes.empty)
        if not has_sizes(codes) or not len(rows):
            return laplace_costs(header)
        rows = rows[:: -(-len(rows) // _SAMPLE)]
        return expected_costs(self.costs(codes, rows)[:, self.bits - header :])

    def masks(
        self, costs: NDArray[np.float32], header: int, expected: NDArray[np.float32], flips: int, threads: int
    ) -> NDArray[np.uint32]:
        """Each query's flip sets in order, as masks over its header, uint32[queries, flips]; 0 where there
        is none."""
        if flips == 0 or not len(costs):
            return np.zeros((len(costs), 0), np.uint32)
        if self.order == "heap":
            return _core.heap_flips(costs, header, self.radius, flips, threads)
        return _core.template_flips(costs, expected, self.radius, flips, threads)

    def check_live(self, fingerprint: Printer) -> None:
        raise ConfigError(
            "a live index reports exactly one of near-duplicates as new, so it must find all of them, and PSM finds "
            "only some: give search=nd.search.Compact (the smallest), nd.search.Covering (the fastest) or nd.BPHS"
        )

    def keys(self, codes: Codes) -> Keyed:
        """The header of each code that is not empty, in table 0."""
        rows, words = rows_and_words(codes, self.bits)
        rows = np.arange(len(words)) if rows is None else rows
        key = top_bits(words, self.bits, self.header_for(len(words)))
        return Keyed(rows, np.zeros(len(rows), np.int32), key)

    def probes(self, codes: Codes) -> Keyed:
        """Each query's own header, then its flips, likeliest first. Both sides of a join must agree on the
        header and the number of flips, so these must be given."""
        if self.header_bits is None or self.flips is None:
            raise ConfigError("probes of PSM need header_bits and flips; calibrate gives both")
        return self._probes(codes, self.header_bits, self.expected_for(codes, self.header_bits))

    def prefix(self, stored: Callable[[], int]) -> Prefix:
        """Without `expected` the order of flips is that for codes without margins, the same for every query."""
        if self.flips is None:
            raise ConfigError("PSM needs flips here; calibrate(codes) on a sample of the codes gives them")
        header = self.header_bits or self.header_for(stored())
        if self.expected is None:
            return Prefix(header, lambda queries: self._probes(queries, header, laplace_costs(header)))
        return Prefix(
            header, lambda queries: self._probes(queries, header, self.expected_for(queries, header))
        )

    def _probes(self, codes: Codes, header: int, expected: NDArray[np.float32]) -> Keyed:
        rows, words = rows_and_words(codes, self.bits)
        rows = np.arange(len(words)) if rows is None else rows
        masks = self.masks(self.costs(codes), header, expected, self.flips or 0, 1)
        key = top_bits(words, self.bits, header)[:, None] ^ np.pad(masks.astype(np.uint64), ((0, 0), (1, 0)))
        asked = np.pad(masks != 0, ((0, 0), (1, 0)), constant_values=True).ravel()
        row = np.repeat(rows, key.shape[1])[asked]
        return Keyed(row, np.zeros(len(row), np.int32), key.ravel()[asked])

    def calibrate(
        self, codes: Codes, *, mode: Mode = "all", sample: int = 20_000, threads: int = 1
    ) -> Calibration:
        """The number of flips that reaches the recall aimed for, measured on pairs of these very codes that
        an exact search finds; see Calibration. The codes need full or byte margins."""
        check_mode(mode)
        threads = check_threads(threads)
        rows, words = rows_and_words(codes, self.bits)
        if not has_sizes(codes):
            have = "have none" if codes.ranks is None else "keep only ranks"
            raise DataError(
                f"calibration needs full or byte margins, and these codes {have}: give flips, or make codes "
                'with Simhash(margins="full") or Simhash(margins="bytes")'
            )
        header = self.header_for(len(words))
        expected = self.expected_for(codes, header)

        def masks(picked: NDArray[np.int64], flips: int) -> NDArray[np.uint32]:
            costs = self.costs(codes, picked if rows is None else rows[picked])
            return self.masks(costs, header, expected, flips, threads)

        return calibrate(
            Codes(codes.scheme, np.zeros(len(words), bool), self.bits, words),
            radius=self.radius,
            target=self.recall,
            header=header,
            masks=masks,
            mode=mode,
            sample=sample,
            threads=threads,
        )

    def index(self, codes: Codes, *, threads: int = 1) -> PsmSearcher:
        """The codes in one sorted table. Without `flips` the codes need full or byte margins, and are
        calibrated on first."""
        threads = check_threads(threads)
        rows, words = rows_and_words(codes, self.bits)
        calibration = None
        method = self
        if method.flips is None:
            calibration = self.calibrate(codes, threads=threads)
            method = replace(self, flips=calibration.flips)
        numbers = None if rows is None else rows.astype(np.uint32)
        header = self.header_for(len(words))
        table = _core.PsmTable(words, self.bits, self.radius, header, threads, numbers)
        expected = self.expected_for(codes, header)
        return PsmSearcher(method, codes.scheme, len(codes), table, expected, calibration)

    def candidates(self, codes: Codes, *, threads: int = 1) -> Candidates:
        """Pairs of rows that either of the two finds, equal codes too, all in memory."""
        hits = self.index(codes, threads=threads).search(codes, threads=threads)
        others = hits.query != hits.row
        return Candidates.of(hits.query[others], hits.row[others], hits.distance[others])


@dataclass(frozen=True)
class PsmSearcher:
    """Stored codes in one table. `method.flips` sets are tried for each query; `calibration` says what
    recall that gave on a sample, when it was measured."""

    method: PSM
    scheme: str
    rows: int
    table: _core.PsmTable
    expected: NDArray[np.float32]
    calibration: Calibration | None = None

    def __len__(self) -> int:
        return self.rows

    @property
    def bytes(self) -> int:
        """Bytes of the table, without the map from codes to rows."""
        return self.table.bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of the map from codes to rows."""
        return self.table.row_bytes

    def search(
        self,
        queries: Codes,
        *,
        mode: Mode = "all",
        threads: int = 1,
        ranks: NDArray[np.uint8] | None = None,
    ) -> Hits:
        """Stored rows within the radius of each query, as far as the flips reach. Queries need margins; with
        the template, the ranks they keep or `ranks` given here will do: uint8[queries, r], the numbers of each
        query's weakest bits, weakest first."""
        check_scheme(queries, self.scheme)
        how, threads = _core.Mode[check_mode(mode)], check_threads(threads)
        method, flips = self.method, self.method.flips or 0
        asked, words = rows_and_words(queries, method.bits)
        if ranks is None and not has_sizes(queries):
            ranks = queries.ranks
        if ranks is not None:
            if method.order == "heap":
                raise ConfigError("the heap needs margins; ranks will do for the template")
            if ranks.dtype != np.uint8 or ranks.ndim != 2 or len(ranks) != len(queries):
                raise DataError(f"ranks must be uint8[{len(queries)}, r]")
            named = np.ascontiguousarray(ranks if asked is None else ranks[asked])
            columns = self.table.search_ranks(words, named, self.expected, flips, how, threads)
        elif method.order == "heap":
            columns = self.table.search_heap(words, method.costs(queries), flips, how, threads)
        else:
            columns = self.table.search_template(
                words, method.costs(queries), self.expected, flips, how, threads
            )
        query, row, distance = columns
        return Hits(query if asked is None else asked[query], row, distance)
