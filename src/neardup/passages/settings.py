"""What the searches for repeated parts share: checks of the settings, reading of the source, and a timer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize
from neardup.features.texts import as_texts
from neardup.readers import Reader, read
from neardup.readers.object_types import Objects
from neardup.readers.reader import Places
from neardup.readers.text_block import TextBlock
from neardup.values.sizes import parse_size
from neardup.values.threads import check_threads

__all__ = ["Clock", "SearchTerms", "as_reader", "first_pass"]


@dataclass(frozen=True)
class SearchTerms:
    """How a search is run; the result does not depend on memory and threads."""

    top: int
    examples: int
    memory: int
    threads: int

    @classmethod
    def of(cls, top: int, examples: int, memory: str | float, threads: int) -> SearchTerms:
        return cls(
            _whole("top", top, 0), _whole("examples", examples, 1), parse_size(memory), check_threads(threads)
        )

    @staticmethod
    def check(
        min_length: int, shortest: int, least: int, most: int | None, within: str, normalize: Normalize
    ) -> None:
        """Raise ConfigError if the parameters of a search are invalid."""
        _whole("min_length", min_length, shortest)
        _whole("least", least, 2)
        if most is not None:
            _whole("most", most, 1)
        if within not in ("corpus", "document"):
            raise ConfigError(f"within={within!r}: choose one of corpus, document")
        if normalize.stopwords or normalize.stem:
            raise ConfigError("repeated parts are compared word by word: leave out stop words and stems")


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return value


def as_reader(source: Reader | Places | Objects) -> Reader:
    """Return a Reader unchanged; pass anything else to `read`."""
    return source if isinstance(source, Reader) else read(source)


def first_pass(reader: Reader) -> Iterator[_core.Texts]:
    """The texts of all documents, batch by batch; JSONL texts are not turned into Python strings."""
    for block in reader.blocks():
        if isinstance(block, TextBlock):
            texts = _core.Texts()
            texts.add_arrow(block.data, block.offsets, None, 0)
            yield texts
        else:
            yield as_texts(block)


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage], self._last = now - self._last, now
