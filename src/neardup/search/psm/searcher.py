"""Stored codes in PSM's one table, ready to be asked."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import check_scheme, rows_and_words
from neardup.search.interface import Hits, Mode, check_mode
from neardup.search.psm.margins import has_sizes
from neardup.search.psm.recall import Calibration
from neardup.values.checks import checked_methods
from neardup.values.threads import check_threads

if TYPE_CHECKING:
    from neardup.search.psm.psm import PSM

__all__ = ["PsmSearcher"]


@checked_methods
@dataclass(frozen=True)
class PsmSearcher:
    """Stored codes in one table. `method.flips` sets are tried for each query; `calibration` says what
    recall that gave on a sample, when it was measured. `exact` says that all flips are made."""

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

    @property
    def exact(self) -> bool:
        """Whether the flips leave nothing out."""
        method = self.method
        return not method.guaranteed and (method.flips or 0) >= method.all_flips(self.table.header_bits)

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
        method, flips = self.method, self.method.sets_of(self.table.header_bits)
        asked, words = rows_and_words(queries, method.bits)
        if ranks is None and not has_sizes(queries):
            ranks = queries.ranks
        if ranks is not None:
            if method.order == "heap" or method.guaranteed:
                raise ConfigError("the heap needs margins; ranks will do for the template")
            if ranks.dtype != np.uint8 or ranks.ndim != 2 or len(ranks) != len(queries):
                raise DataError(f"ranks must be uint8[{len(queries)}, r]")
            named = np.ascontiguousarray(ranks if asked is None else ranks[asked])
            columns = self.table.search_ranks(words, named, self.expected, flips, how, threads)
        elif method.order == "heap" or method.guaranteed:
            limit = inf if method.most_cost is None else method.most_cost
            columns = self.table.search_heap(words, method.costs(queries), flips, how, threads, limit)
        else:
            columns = self.table.search_template(
                words, method.costs(queries), self.expected, flips, how, threads
            )
        query, row, distance = columns
        return Hits(query if asked is None else asked[query], row, distance)
