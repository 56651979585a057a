"""From fingerprints to candidates: what a method keeps of every document, and how it then finds pairs.

All are configurations of one pipeline: MinHash bands meet on keys, codes meet within a radius, the older schemes meet
where enough of their places agree, and a document that is contained in another one asks for it with some of its
features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.compare.verify import Containment
from neardup.config.config import Config, Hamming
from neardup.errors import ConfigError
from neardup.features.features import Features
from neardup.fingerprints.fingerprints import Codes, Sketches
from neardup.fingerprints.keyed import Keys
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.simhash import Simhash
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.shards import Prints
from neardup.search.agreement import Agree
from neardup.search.candidates import SPREAD, Joined, best_first
from neardup.search.collapse import Groups, collapse
from neardup.search.containment import Inverted
from neardup.search.lsh import LSH
from neardup.search.pair_runs import PairRuns, pack_pairs

__all__ = ["Agreement", "Bands", "Method", "Near", "Task", "Within", "method_of"]

Rows = NDArray[np.int64]
Sets = Callable[[Rows], Iterator[Features]]


@dataclass(frozen=True)
class Task:
    """What a method searches: the rows of a corpus that are not to `skip`, each with its rank, 0 the best.

    With a `folder` at most about `most` pairs are held in memory, and for other columns about `memory` bytes. `told`
    hears what share is done. `sets` makes the features of ascending rows that will be compared, a batch at a time.
    """

    corpus: Corpus
    skip: NDArray[np.bool_]
    rank: Rows
    folder: Path | None
    most: int
    threads: int
    told: Callable[[float], None]
    sets: Sets
    memory: int = 1 << 30

    def runs(self) -> PairRuns:
        """Where its pairs are gathered."""
        return PairRuns(self.folder, self.most)


class Method(Protocol):
    """What the pipeline asks of a method."""

    @property
    def scheme(self) -> str:
        """What decides the kept columns besides the fingerprints' own scheme."""
        ...

    def kept(self, prints: Sketches | Codes | Keys, threads: int) -> Prints:
        """The columns of fingerprints that the search needs later."""
        ...

    def candidates(self, task: Task) -> Joined:
        """Pairs of rows worth a comparison."""
        ...


def method_of(config: Config) -> Method | None:
    """The method a config names; None if it looks for equal words only."""
    if not config.near:
        return None
    if config.inverted is not None:
        assert isinstance(config.verify, Containment)
        return Within(config.inverted, config.verify.of)
    if config.agree is not None:
        return Agreement(config.agree, config.places, isinstance(config.prints, MinHash))
    if isinstance(config.prints, MinHash):
        return Bands(config.bands)
    assert isinstance(config.prints, Simhash | BitMinHash)
    return Near(config.hamming, config.prints.bits)


@dataclass(frozen=True)
class Bands:
    """Sketches by LSH: of a sketch only its band keys are kept, 8 bytes each."""

    lsh: LSH

    @property
    def scheme(self) -> str:
        return f"bands {self.lsh.bands}x{self.lsh.rows}"

    def kept(self, prints: Sketches | Codes | Keys, threads: int) -> Prints:
        assert isinstance(prints, Sketches)
        keys = self.lsh.band_keys(prints, threads=threads)
        return {"keys": keys, "alike": self.lsh.alike(prints, threads=threads)}

    def candidates(self, task: Task) -> Joined:
        return self.lsh.join(
            task.corpus.keys,
            task.corpus.prints("alike"),
            task.skip,
            rank=task.rank,
            runs=task.runs(),
            threads=task.threads,
            told=lambda band: task.told((band + 1) / self.lsh.bands),
        )


@dataclass(frozen=True)
class Near:
    """Codes within a Hamming radius, by any of the searches. Codes and pairs of codes are held in memory."""

    search: Hamming
    bits: int
    spread: int = SPREAD

    def __post_init__(self) -> None:
        wanted = self.search.bits
        if wanted is not None and wanted != self.bits:
            raise ConfigError(f"the search is for codes of {wanted} bits, the fingerprints have {self.bits}")

    @property
    def scheme(self) -> str:
        return f"codes {self.bits}"

    def kept(self, prints: Sketches | Codes | Keys, threads: int) -> Prints:
        assert isinstance(prints, Codes)
        columns: dict[str, NDArray[Any]] = {"codes": prints.codes}
        if prints.ranks is not None:
            columns["ranks"] = prints.ranks
        return columns

    def candidates(self, task: Task) -> Joined:
        ranks = task.corpus.prints("ranks") if self._needs_ranks() else None
        codes = Codes("codes of one run", task.skip, self.bits, task.corpus.prints("codes"), ranks=ranks)
        groups = best_first(collapse(codes, threads=task.threads), task.rank)
        joined = Joined(groups, task.runs(), self.spread)
        first = groups.first_rows
        if len(first) > 1:
            found = self.search.candidates(codes.take(first), threads=task.threads)
            joined.runs.add(pack_pairs(first[found.left], first[found.right]))
        task.told(1.0)
        return joined

    def _needs_ranks(self) -> bool:
        from neardup.search.psm.psm import PSM

        return isinstance(self.search, PSM)


@dataclass(frozen=True)
class Agreement:
    """Sketches or keys that agree at enough places. All places are kept, 4 or 8 bytes each, and held in memory."""

    rule: Agree
    places: int
    sketches: bool

    @property
    def scheme(self) -> str:
        return f"places {self.places}"

    def kept(self, prints: Sketches | Codes | Keys, threads: int) -> Prints:
        if isinstance(prints, Keys):
            return {"places": prints.keys}
        assert isinstance(prints, Sketches)
        return {"values": prints.values}

    def candidates(self, task: Task) -> Joined:
        return self.rule.join(
            task.corpus.prints("values" if self.sketches else "places"),
            task.skip,
            rank=task.rank,
            runs=task.runs(),
            threads=task.threads,
            told=task.told,
        )


@dataclass(frozen=True)
class Within:
    """Documents contained in others, by an inverted join of their features: nothing is kept beforehand."""

    search: Inverted
    of: Literal["smaller", "left", "right"]

    @property
    def scheme(self) -> str:
        return "features"

    def kept(self, prints: Sketches | Codes | Keys, threads: int) -> Prints:
        return {}

    def candidates(self, task: Task) -> Joined:
        rows = np.flatnonzero(~task.skip)
        found = self.search.join(
            rows,
            lambda: task.sets(rows),
            of=self.of,
            rank=task.rank,
            runs=task.runs(),
            memory=task.memory,
            folder=task.folder,
            threads=task.threads,
            told=task.told,
        )
        alone = Groups(
            np.zeros(len(task.skip), np.bool_), task.skip, np.empty(0, np.int64), np.zeros(1, np.int64)
        )
        return Joined(alone, found.runs, 1, capped=found.capped, skipped=found.skipped)
