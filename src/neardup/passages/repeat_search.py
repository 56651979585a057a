"""What the searches for lines, paragraphs and passages share: their settings, and the two passes over a corpus."""

from __future__ import annotations

import secrets
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import ClassVar, Literal

from neardup.features.normalize import Normalize
from neardup.passages.removal import Cuts, check_out, cut_corpus
from neardup.passages.repeats import Repeats
from neardup.passages.settings import Clock, SearchTerms, as_reader
from neardup.readers import Reader
from neardup.readers.account import TOLERATED
from neardup.readers.object_types import Objects
from neardup.readers.reader import Places
from neardup.values.checks import check_fields, checked_methods
from neardup.values.seeds import Seed

__all__ = ["Finding", "FirstPass"]


@dataclass(frozen=True)
class FirstPass:
    """The result of the first pass: the cuts, the number of distinct repeated parts, and the size of scratch files."""

    cuts: Cuts
    distinct: int
    spilled: int


@checked_methods
@dataclass(frozen=True)
class Finding(ABC):
    """Parts of documents that occur more than once; each kind of part defines its first pass.

    The answer does not depend on the seed of the hashes. Without one it is random, so that nobody can write words which
    are taken for others.
    """

    min_length: int
    least: int = 2
    most: int | None = None
    within: Literal["corpus", "document"] = "corpus"
    normalize: Normalize = field(default_factory=Normalize)
    seed: int | Seed | None = None

    unit: ClassVar[str]
    shortest: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_fields(self)
        SearchTerms.check(self.min_length, self.shortest, self.least, self.most, self.within, self.normalize)

    @abstractmethod
    def first_pass(self, reader: Reader, terms: SearchTerms, folder: Path, clock: Clock) -> FirstPass:
        """Find the repeated parts, with scratch files in the folder."""

    def find(
        self,
        source: Reader | Places | Objects,
        *,
        out: str | PathLike[str] | None = None,
        drop_empty: bool = False,
        top: int = 100,
        examples: int = 5,
        memory: str | float = "1GB",
        scratch: str | PathLike[str] | None = None,
        threads: int = 1,
        strict: bool = False,
        allow_rejects: float = TOLERATED,
    ) -> Repeats:
        """Read a corpus (a Reader, or what `read` takes) twice: find its repeated parts, then cut and list them.

        The first of equal parts is kept, in the order of files and rows; if a part occurs more than `most` times, all
        are cut. Of passages, every run of `min_length` words that occurred before is cut. With `out`, the documents are
        written there without the cut parts; `drop_empty` leaves out documents that have no words left. The result lists
        the `top` parts that take most space, each with its first `examples` occurrences. Scratch files are in
        `scratch`: 8 bytes per word for passages, 24 per line or paragraph beyond `memory`. `memory` limits everything
        except one byte per line and, for passages, one bit per word and 50 bytes per letter (docs/how-to/repeats.md).
        UnreadableInput is raised, and nothing written, if nothing could be read, or a larger share of the rows than
        `allow_rejects` was rejected (with `strict`, any).
        """
        terms = SearchTerms.of(top, examples, memory, threads)
        reader, clock = as_reader(source), Clock()
        check_out(reader, out)
        with tempfile.TemporaryDirectory(prefix="neardup-", dir=scratch) as folder:
            how = self if self.seed is not None else replace(self, seed=secrets.randbits(64))
            found = how.first_pass(reader, terms, Path(folder), clock)
        if reader.account.rows:
            reader.account.check(allow_rejects, strict=strict, rejects=reader.rejects_path)
        done = cut_corpus(reader, found.cuts, self.normalize, out, drop_empty)
        clock.lap("cut")
        return Repeats(
            self.unit,
            self.min_length,
            done.documents,
            done.size,
            found.distinct,
            done.changed,
            done.emptied,
            done.cut,
            done.written,
            None if out is None else fspath(out),
            done.top,
            found.spilled,
            clock.seconds,
        )
