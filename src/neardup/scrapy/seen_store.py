"""The storage of seen pages: an index in this process, or a service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from neardup.http.client import Client, Retry
from neardup.index import Index
from neardup.readers.document import Document
from neardup.scrapy.options import Options

__all__ = ["IndexMemory", "Memory", "ServiceMemory", "Verdict", "open_memory"]


class Verdict(NamedTuple):
    """Whether a page is `new`, or which page it is a `duplicate_of`; `similarity` is from 0 to 1, None if unknown.
    `words` is the number of words of the page, None if it was not read."""

    id: str
    new: bool
    duplicate_of: str | None = None
    similarity: float | None = None
    words: int | None = None


class Memory(Protocol):
    """Looks pages up and stores them, in one step. Used by one thread at a time."""

    def seen(self, ids: Sequence[str], texts: Sequence[str]) -> list[Verdict]: ...
    def close(self) -> None: ...


class IndexMemory:
    """An index that only this process writes to."""

    def __init__(self, options: Options) -> None:
        assert options.index is not None
        self._index = Index(options.index, **(options.index_options or {}))

    def seen(self, ids: Sequence[str], texts: Sequence[str]) -> list[Verdict]:
        answers = self._index.seen([Document(id, text) for id, text in zip(ids, texts, strict=True)])
        return [Verdict(a.id, a.new, a.duplicate_of, a.similarity) for a in answers]

    def close(self) -> None:
        self._index.close()


class ServiceMemory:
    """A service that many crawlers share."""

    def __init__(self, options: Options) -> None:
        assert options.service is not None
        self._client = Client(
            options.service,
            index=options.service_index,
            token=options.token,
            retry=Retry(times=1),
            timeout=options.service_seconds,
            budget=2 * options.service_seconds,
        )

    def seen(self, ids: Sequence[str], texts: Sequence[str]) -> list[Verdict]:
        documents = [Document(id, text) for id, text in zip(ids, texts, strict=True)]
        return [Verdict(a.id, a.new, a.duplicate_of, a.similarity) for a in self._client.seen_all(documents)]

    def close(self) -> None:
        self._client.close()


def open_memory(options: Options) -> Memory:
    """The storage selected by the options; raises at once if it cannot be used."""
    return IndexMemory(options) if options.index else ServiceMemory(options)
