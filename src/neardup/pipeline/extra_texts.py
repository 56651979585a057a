"""The extra text of documents, which weighs their words: what their pages set apart, and what links say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config
from neardup.features.highlights import URL_FIELD, WINDOW, Highlights
from neardup.pipeline.shards import Shard
from neardup.readers.document import Document
from neardup.web.highlights import KINDS

if TYPE_CHECKING:
    from neardup.web.links import InLinks

__all__ = ["ExtraSource", "ExtraTexts", "with_extras"]

Rows = NDArray[np.int64]


@dataclass
class ExtraSource:
    """Where extra texts come from, for all shards of a run."""

    highlights: Highlights

    @classmethod
    def of(cls, config: Config) -> ExtraSource | None:
        """The one of a config, None if it has no highlights."""
        return None if config.highlights is None else cls(config.highlights)

    @cached_property
    def links(self) -> InLinks | None:
        """The links to pages, read when they are first needed."""
        if self.highlights.links is None:
            return None
        from neardup.web.links import InLinks  # with the rules of URLs, which plain texts do not need

        return InLinks.load(self.highlights.links)

    @property
    def identifier(self) -> str:
        """What decides the extra texts of given documents."""
        return f"highlights/v1 {'' if self.links is None else self.links.identifier}".strip()

    def line_up(
        self, documents: Sequence[Document], titles: Sequence[str], marks: Sequence[str]
    ) -> list[bytes]:
        """The extra text of each document: a line for its title, for each kind of highlight, and for its links."""
        made = []
        for document, title, mark in zip(documents, titles, marks, strict=True):
            lines = [title, *(mark.split("\n") if mark else [""] * len(KINDS))]
            if self.links is not None:
                url = document.meta.get(URL_FIELD)
                lines += self.links.lines(url if isinstance(url, str) else document.id, WINDOW)
            made.append("\n".join(lines).rstrip("\n").encode("utf-8", "replace"))
        return made


@dataclass
class ExtraTexts:
    """The extra texts of documents gathered for one shard."""

    source: ExtraSource
    parts: list[bytes] = field(default_factory=list)

    def add(self, documents: Sequence[Document], titles: Sequence[str], marks: Sequence[str]) -> None:
        """Those of more documents."""
        self.parts += self.source.line_up(documents, titles, marks)


def with_extras(shard: Shard, rows: Rows) -> _core.Texts:
    """The texts of some rows with their extra texts behind them."""
    texts = _core.Texts()
    parts = zip(shard.text_bytes(rows), shard.extras(rows), strict=True)
    texts.add(tuple(b"\n".join(two) for two in parts))
    return texts
