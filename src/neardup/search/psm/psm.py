"""Probabilistic simhash matching: one table; a query asks for its own header and for its likeliest changed headers
(Sood and Loguinov, CIKM 2011). It is the smallest index and the cheapest at wide radii, but it loses some recall.

It finds a part of what an exact method finds: the relative recall R'. The recall of near duplicates is R' times the
share of them that is within the radius."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Codes
from neardup.fingerprints.printer import Printer
from neardup.fingerprints.simhash import Simhash
from neardup.search.codes import check_radius, rows_and_words, top_bits
from neardup.search.hamming.join import Join
from neardup.search.hamming.method import Found, HammingMethod, Neighbours, Prefix, Similar
from neardup.search.hamming.tables import Compact
from neardup.search.interface import (
    Candidates,
    Keyed,
    KeyMethod,
    Method,
    VerifyMeasure,
)
from neardup.search.psm.margins import has_sizes, margin_sizes
from neardup.search.psm.recall import (
    Calibration,
    Counted,
    NearPairs,
    TooFewPairs,
    calibrate,
    flip_count,
    near_pairs,
)
from neardup.search.psm.searcher import PsmSearcher
from neardup.search.psm.vosh import FlipModel, expected_costs, laplace_costs
from neardup.search.report import SearchReport
from neardup.values.checks import check_fields, check_whole, checked_methods
from neardup.values.threads import check_threads

__all__ = ["PSM"]

MOST_FLIPS = 16384
_SAMPLE = 4096
_FEW_BY_CHANCE = 0.1  # chance neighbours of a code that do not disturb a calibration
_ASKED = 5000  # queries on which a search of codes elsewhere is calibrated


@checked_methods
@dataclass(frozen=True)
class PSM(HammingMethod, KeyMethod):
    """Search by likeliest flips.

    radius        largest distance reported, 0 to 16 bits
    recall        least relative recall, with 95% confidence, when `flips` is not given: calibrated on the codes to be
                  stored; codes without enough near pairs for that are searched exactly
    flips         header flip sets each query tries after its own header, at most 16,384
    header_bits   bits of the header, t; default floor(log2(codes)), the paper's optimum
    order         "template": the same sets of ranks for every query, fast; "heap": each query's own order
    guaranteed    each query continues to flip in its own order until the recall's lower bound holds, instead of making
                  the same number of flips as all others; in the end it makes all flips, which is exact
    expected      for the template: cost of flipping the weakest bit of the header, the second weakest, ...;
                  default the mean of the stored codes' own margins
    model         turns margins into costs; default their sizes, which rank flips as well on real text
    most_cost     for `guaranteed`: the most that a set of flips may cost, in mean sizes of the query's margins;
                  calibrated where it is not given

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> nd.PSM(radius=3, recall=0.95).candidates(codes).distance.tolist()
    [0]
    """

    radius: int = 3
    recall: float = 0.95
    flips: int | None = None
    header_bits: int | None = None
    order: Literal["template", "heap"] = "template"
    expected: tuple[float, ...] | None = None
    model: FlipModel | None = None
    bits: int = 64
    guaranteed: bool = False
    most_cost: float | None = None

    finds_all = False
    most_radius = 16
    kept_fields = {  # noqa: RUF012
        "codes": "codes",
        "margins": "margins",
        "sizes": "margin_bytes",
        "scales": "margin_scales",
        "ranks": "ranks",
    }

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, self.bits)
        if self.radius > self.most_radius:
            raise ConfigError(
                f"PSM flips at most {self.most_radius} bits, so radius {self.radius} is too large"
            )
        if not 0 < self.recall < 1:
            raise ConfigError(
                f"recall is between 0 and 1, not {self.recall}; for all pairs use an exact method"
            )
        if self.flips is not None and not 0 <= self.flips <= MOST_FLIPS:
            raise ConfigError(f"flips are from 0 to {MOST_FLIPS}, not {self.flips}")
        if self.header_bits is not None and not 1 <= self.header_bits <= 32:
            raise ConfigError(f"a header has 1 to 32 bits, not {self.header_bits}")
        if self.order not in ("template", "heap"):
            raise ConfigError(f"order is template or heap, not {self.order!r}")
        if self.most_cost is not None and (self.most_cost < 0 or not self.guaranteed):
            raise ConfigError("most_cost is a number from 0 up, and is for guaranteed=True")
        if self.guaranteed and self.flips is not None:
            raise ConfigError(
                "with guaranteed=True each query makes its own number of flips: leave flips out"
            )
        if self.expected is not None and list(self.expected) != sorted(abs(cost) for cost in self.expected):
            raise ConfigError("expected costs are 0 or more, ascending")

    def costs(self, codes: Codes, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """What flipping each bit of these rows costs (default: of all that are not empty), float32[rows,
        bits]."""
        margins = margin_sizes(codes, rows)
        costs = margins if self.model is None else self.model.costs(margins)
        if not self.guaranteed:
            return costs
        # A limit is the same for all queries, so costs are in mean sizes of the query's own margins.
        mean = np.abs(costs).mean(axis=1, keepdims=True, dtype=np.float64)
        return (costs / np.where(mean > 0, mean, 1)).astype(np.float32)

    def header_for(self, rows: int) -> int:
        """Header bits for this many codes. A guarantee needs a header of which all flips can be made."""
        header = self.header_bits or min(max(1, rows.bit_length() - 1), 32)
        while self.guaranteed and header > 1 and self.all_flips(header) > MOST_FLIPS:
            header -= 1
        return header

    def all_flips(self, header: int) -> int:
        """How many sets of at most `radius` bits a header has: with all of them nothing is missed."""
        return flip_count(header, self.radius)

    def exhaustive(self, rows: int) -> PSM:
        """The same search with all flips, which is exact, of the longest header that permits it."""
        header = self.header_for(rows)
        while header > 1 and self.all_flips(header) > MOST_FLIPS:
            header -= 1
        return replace(
            self, header_bits=header, flips=self.all_flips(header), guaranteed=False, most_cost=None
        )

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
        if self.order == "heap" or self.guaranteed:
            return _core.heap_flips(
                costs, header, self.radius, flips, threads, inf if self.most_cost is None else self.most_cost
            )
        return _core.template_flips(costs, expected, self.radius, flips, threads)

    # In the pipeline.

    def fingerprint(self) -> Printer:
        return Simhash(margins="bytes")

    def fitted_printer(self, fingerprint: Printer) -> Printer:
        if self.flips is not None and self.order == "template" and fingerprint.firmness == "order":
            return fingerprint
        made = fingerprint.with_margins()
        if made is None:
            raise ConfigError(
                f"PSM flips the weakest bits of a code first, and codes of {type(fingerprint).__name__} do not say "
                "which those are: search them exactly, with nd.search.Join or nd.search.Compact (--search join or "
                "compact), or use nd.Simhash (--method simhash)"
            )
        return made

    def online(self, verify: VerifyMeasure, recall: float) -> Method:
        # `seen` reports exactly one of near-duplicates as new, so an index must find all of them.
        return Compact(self.radius, bits=self.bits)

    def kept_scheme(self, fingerprint: Printer) -> str:
        return f"{super().kept_scheme(fingerprint)} {' '.join(sorted(fingerprint.blank.columns()))}"

    def found(self, codes: Codes, threads: int, similar: Similar | None = None) -> Found:
        """Calibrated for pairs; an exact join where the codes have too few near pairs to calibrate on, or need more
        flips than it is worth. Where chance alone gives codes neighbours, which no margin foretells, only pairs that
        are `similar` count."""
        method, facts = self, SearchReport.of("psm", len(codes), codes.bits, self.radius)
        if self._open:
            try:
                drowned = similar is not None and facts.chance > _FEW_BY_CHANCE
                measured = self.calibrate(
                    codes, mode="pairs", threads=threads, similar=similar if drowned else None
                )
            except DataError as error:
                pairs = Join(self.radius).candidates(codes, threads=threads)
                return pairs, replace(facts, exact=str(error), relative=1.0, least=1.0, target=self.recall)
            method = self.calibrated(measured)
            facts = replace(
                facts,
                flips=measured.flips,
                header_bits=measured.header_bits,
                target=self.recall,
                relative=measured.recall,
                least=measured.low,
                counted=measured.counted,
                similar=drowned,
            )
        return method.candidates(codes, threads=threads), facts

    def keys(self, codes: Codes) -> Keyed:
        """The header of each code that is not empty, in table 0."""
        rows, words = rows_and_words(codes, self.bits)
        rows = np.arange(len(words)) if rows is None else rows
        key = top_bits(words, self.bits, self.header_for(len(words)))
        return Keyed(rows, np.zeros(len(rows), np.int32), key)

    def probes(self, codes: Codes) -> Keyed:
        """Each query's own header, then its flips, likeliest first. Both sides of a join must agree on the
        header and the number of flips, so these must be given."""
        if self.header_bits is None or self._open:
            raise ConfigError("probes of PSM need header_bits and flips; calibrate gives both")
        return self._probes(codes, self.header_bits, self.expected_for(codes, self.header_bits))

    def fitted(self, queries: Codes, stored: Callable[[], int], neighbours: Neighbours) -> PSM:
        if not self._open:
            return self
        count = stored()
        rows, words = rows_and_words(queries, self.bits)
        header = self.header_for(count)
        chosen = np.sort(np.random.default_rng(0).permutation(len(words))[:_ASKED])
        numbers = chosen if rows is None else rows[chosen]
        query, code = neighbours(numbers, self.radius)
        place = np.searchsorted(numbers, query)
        order = np.argsort(place, kind="stable")
        differ = code[order] ^ words[chosen[place[order]], -1]
        flipped = differ >> np.uint64((32 if self.bits == 32 else 64) - header)
        found = NearPairs(chosen, len(words), place[order], np.full(len(order), -1), flipped)
        try:
            measured = self.calibrate_on(found, queries, header, self._query_order(queries, header))
        except TooFewPairs:
            return self.exhaustive(count)
        return replace(self.calibrated(measured), header_bits=header)

    def _query_order(self, queries: Codes, header: int) -> NDArray[np.float32]:
        """Without `expected` the order of flips is that for codes without margins, the same for every query."""
        return laplace_costs(header) if self.expected is None else self.expected_for(queries, header)

    def prefix(self, stored: Callable[[], int]) -> Prefix:
        if self._open:
            raise ConfigError("PSM needs flips here; calibrate(codes) on a sample of the codes gives them")
        header = self.header_bits or self.header_for(stored())
        return Prefix(
            header, lambda queries: self._probes(queries, header, self._query_order(queries, header))
        )

    def _probes(self, codes: Codes, header: int, expected: NDArray[np.float32]) -> Keyed:
        rows, words = rows_and_words(codes, self.bits)
        rows = np.arange(len(words)) if rows is None else rows
        masks = self.masks(self.costs(codes), header, expected, self.sets_of(header), 1)
        key = top_bits(words, self.bits, header)[:, None] ^ np.pad(masks.astype(np.uint64), ((0, 0), (1, 0)))
        asked = np.pad(masks != 0, ((0, 0), (1, 0)), constant_values=True).ravel()
        row = np.repeat(rows, key.shape[1])[asked]
        return Keyed(row, np.zeros(len(row), np.int32), key.ravel()[asked])

    @property
    def _open(self) -> bool:
        """Whether the number of flips is still to be calibrated."""
        return self.most_cost is None if self.guaranteed else self.flips is None

    def sets_of(self, header: int) -> int:
        """The most flip sets of a query."""
        return self.all_flips(header) if self.guaranteed else self.flips or 0

    def calibrated(self, calibration: Calibration) -> PSM:
        """The same with the flips of a calibration."""
        if self.guaranteed:
            return replace(self, most_cost=calibration.limit)
        return replace(self, flips=calibration.flips)

    def calibrate(
        self,
        codes: Codes,
        *,
        mode: Counted = "all",
        sample: int = 20_000,
        seed: int = 0,
        threads: int = 1,
        similar: Similar | None = None,
    ) -> Calibration:
        """The fewest flips whose recall is at least the one aimed for, with 95% confidence, measured on pairs of these
        very codes that an exact search finds; see Calibration. The codes need full or byte margins. `sample` codes,
        chosen by `seed`, are searched; all of them if there are no more, and then the recall is known exactly. With
        `similar` only such pairs count."""
        if mode not in get_args(Counted):
            raise ConfigError(f"mode must be 'all' or 'first', or 'pairs' for joins, not {mode!r}")
        threads = check_threads(threads)
        sample, seed = check_whole(sample, "sample", 1), check_whole(seed, "seed", 0)
        _, words = rows_and_words(codes, self.bits)
        header = self.header_for(len(words))
        self._check_sizes(codes)
        bare = Codes(codes.scheme, np.zeros(len(words), bool), self.bits, words)
        found = near_pairs(bare, radius=self.radius, header=header, sample=sample, seed=seed, threads=threads)
        if similar is not None:
            found = found.only(similar(found.rows[found.query], found.row))
        return self.calibrate_on(
            found, codes, header, self.expected_for(codes, header), mode=mode, threads=threads
        )

    def calibrate_on(
        self,
        found: NearPairs,
        codes: Codes,
        header: int,
        expected: NDArray[np.float32],
        *,
        mode: Counted = "all",
        threads: int = 1,
    ) -> Calibration:
        """The same for pairs that were found in another way. Rows of `found` count the codes that are not empty."""
        self._check_sizes(codes)
        rows = np.flatnonzero(~codes.empty) if codes.empty.any() else None

        def costs(picked: NDArray[np.int64]) -> NDArray[np.float32]:
            return self.costs(codes, picked if rows is None else rows[picked])

        def masks(picked: NDArray[np.int64], flips: int) -> NDArray[np.uint32]:
            return self.masks(costs(picked), header, expected, flips, threads)

        return calibrate(
            found,
            radius=self.radius,
            target=self.recall,
            header=header,
            masks=masks,
            mode=mode,
            costs=(lambda picked: costs(picked)[:, self.bits - header :]) if self.guaranteed else None,
        )

    def _check_sizes(self, codes: Codes) -> None:
        if not has_sizes(codes):
            have = "have none" if codes.ranks is None else "keep only ranks"
            raise DataError(
                f"calibration needs full or byte margins, and these codes {have}: give flips, or make codes "
                'with Simhash(margins="full") or Simhash(margins="bytes")'
            )

    def index(self, codes: Codes, *, threads: int = 1) -> PsmSearcher:
        """The codes in one sorted table. Without `flips` the codes need full or byte margins, and are calibrated on
        first; if they have too few near pairs for that, all flips are made, which is exact."""
        threads = check_threads(threads)
        rows, words = rows_and_words(codes, self.bits)
        calibration = None
        method = self
        if self._open:
            try:
                calibration = self.calibrate(codes, threads=threads)
                method = self.calibrated(calibration)
            except TooFewPairs:
                method = self.exhaustive(len(words))
        numbers = None if rows is None else rows.astype(np.uint32)
        header = method.header_for(len(words))
        table = _core.PsmTable(words, self.bits, self.radius, header, threads, numbers)
        expected = method.expected_for(codes, header)
        return PsmSearcher(method, codes.scheme, len(codes), table, expected, calibration)

    def candidates(self, codes: Codes, *, threads: int = 1) -> Candidates:
        """Pairs of rows that either of the two finds, equal codes too, all in memory."""
        hits = self.index(codes, threads=threads).search(codes, threads=threads)
        others = hits.query != hits.row
        return Candidates.of(hits.query[others], hits.row[others], hits.distance[others])
