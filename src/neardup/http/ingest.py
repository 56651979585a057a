"""Documents are checked, prepared and written into the index, a batch at a time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from neardup import _core
from neardup.errors import DataError, FormatError, NeardupError, SharedIndexError
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.http.batcher import Batcher
from neardup.http.hex_fingerprints import PrintForm
from neardup.http.limits import Refused, RequestLimits, check_depth
from neardup.http.lines import FEW, LinePart
from neardup.http.schemas import DocumentRequest, RecentHit, SeenAnswer, decode_meta
from neardup.index import Index
from neardup.index.answers import Answers, Seen
from neardup.index.inputs import check_ids, meta_text
from neardup.index.match import Items
from neardup.readers.document import Document

__all__ = ["CheckedDocument", "Ingest", "check_one"]

RECENT = 50  # hits that are kept for the page that shows them
# Errors of the index and not of a document: the next document would fail too, after a long wait for a lost server.
INDEX_ERRORS = (FormatError, SharedIndexError)


class CheckedDocument(NamedTuple):
    """A checked document that is to be stored: its text, or the bytes of its fingerprint."""

    id: str
    text: str | None
    code: bytes | None
    meta: dict[str, Any] | None
    ttl: float | None


class Ingest:
    """Takes documents in. All methods are called on one event loop; the work is done in threads.

    Documents are written by one thread, as an index has one writer anyway. Of bulk requests, what depends on the texts
    alone, mostly their fingerprints, is computed before in other threads.
    """

    def __init__(
        self,
        index: Index,
        limits: RequestLimits,
        form: PrintForm,
        extract: Batcher[str, str],
        observe: Callable[[int], None],
    ) -> None:
        self._index, self._limits, self._form = index, limits, form
        self._extract = extract
        self._recent: deque[tuple[float, Seen]] = deque(maxlen=RECENT)
        self.writer = ThreadPoolExecutor(1, "write")
        self._printer = ThreadPoolExecutor(2, "print")
        self._seen: Batcher[CheckedDocument, SeenAnswer] = Batcher(self._put, self.writer, observe=observe)

    def close(self) -> None:
        """What was queued is done first."""
        for executor in (self._printer, self.writer):
            executor.shutdown(wait=True)

    def check(self, document: DocumentRequest) -> CheckedDocument:
        """A document without HTML, ready to be put; DataError or Refused if it cannot be."""
        check_one(document.text, document.html, document.fingerprint)
        check_ids((document.id,))
        meta = None if isinstance(document.meta, UnsetType) else self._meta(document.meta)
        code = None
        if document.fingerprint is not None:
            if self._index.store != "none":
                raise DataError("this index keeps texts to verify hits by: send text or html")
            code = self._form.bytes_of(document.fingerprint, document.scheme)
        return CheckedDocument(document.id, document.text, code, meta, document.ttl)

    def _meta(self, sent: msgspec.Raw) -> dict[str, Any] | None:
        """Values of any number and kind: their size bounds how long it takes to make them."""
        size = len(memoryview(sent))
        if size > self._limits.meta:
            raise Refused(422, f"meta has {size:,} bytes; at most {self._limits.meta:,} are taken")
        meta: dict[str, Any] | None = decode_meta(sent)
        if meta:
            check_depth(meta, self._limits.depth)
            meta_text(meta)
        return meta

    async def seen(self, document: DocumentRequest) -> SeenAnswer:
        """Look a document up and remember it, in one step."""
        incoming = self.check(document)
        if document.html is not None:
            incoming = incoming._replace(text=await self._extract.put(document.html))
        return await self._seen.put(incoming)

    async def put_lines(self, part: LinePart, before: asyncio.Future[Any] | None) -> Answers | list[Any]:
        """`put_all` for lines, written after what came `before`; in columns where all have the same fields."""
        answers = None
        if part.holds_texts():
            read = await self._in(self._printer, self._read, part)
            if read is not None:
                answers = await self._written(before, self._index.seen_prepared, *read)
        if answers is not None:
            return answers
        documents = await part.documents()
        column = self._uniform(documents)
        ids = [] if column is None else [one.id for one in documents]  # type: ignore[union-attr]
        if isinstance(column, list):
            items = await self._in(self._printer, self._prepared, column)
            if items is not None:
                answers = await self._written(before, self._index.seen_prepared, ids, items)
        elif column is not None:
            answers = await self._written(before, self._index.seen_prints, ids, column)
        if answers is not None:
            return answers
        await _done(before)
        return await self.put_all(documents)

    def _read(self, part: LinePart) -> tuple[list[str], Items] | None:
        """Ids and prepared texts of lines that hold nothing else."""
        found = part.texts()
        items = None if found is None else self._prepared(found[1])
        return None if found is None or items is None else (found[0], items)

    def _prepared(self, texts: Sequence[str] | _core.Texts) -> Items | None:
        """None if something is wrong with one: then each is checked by itself, and only the bad ones get an error."""
        with contextlib.suppress(NeardupError, ValueError):
            return self._index.prepare(texts)
        return None

    async def _written(
        self, before: asyncio.Future[Any] | None, call: Callable[..., Answers], *given: Any
    ) -> Answers | None:
        """The answers of a call that writes documents; None if something is wrong with one, and nothing is written."""
        await _done(before)
        try:
            answers: Answers = await self._in(self.writer, call, *given)
        except INDEX_ERRORS:
            raise
        except (NeardupError, ValueError):
            return None
        self._note_hits([answers[int(at)] for at in np.flatnonzero(~answers.new)[-RECENT:]])
        return answers

    def _uniform(self, documents: Sequence[Any]) -> list[str] | Fingerprints | None:
        """The texts of documents, or their fingerprints, if they all have just an id and the one or the other."""
        if any(
            isinstance(one, BaseException)
            or one.html is not None
            or one.meta is not UNSET
            or one.ttl is not None
            for one in documents
        ):
            return None
        texts = [one.text for one in documents]
        digits = [one.fingerprint for one in documents]
        nothing = [None] * len(texts)
        if digits == nothing and None not in texts:
            return texts
        if texts != nothing or None in digits or self._index.store != "none":
            return None
        if any(one.scheme is not None and one.scheme != self._form.scheme for one in documents):
            return None
        return self._form.column(digits)

    async def put_all(self, documents: Sequence[DocumentRequest | BaseException]) -> list[Any]:
        """`seen` for many: an answer, or the exception that says what is wrong, for each."""
        incoming: list[Any] = []
        for document in documents:
            try:
                incoming.append(document if isinstance(document, BaseException) else self.check(document))
            except (NeardupError, Refused, ValueError, RecursionError, msgspec.MsgspecError) as error:
                # Nobody needs to know where it was raised, and a hundred thousand frames would take much memory.
                error.__context__ = error.__cause__ = None
                incoming.append(error.with_traceback(None))
            if len(incoming) % FEW == 0:
                await asyncio.sleep(0)
        pages = [at for at, one in enumerate(documents) if getattr(one, "html", None) is not None]
        pages = [at for at in pages if isinstance(incoming[at], CheckedDocument)]
        texts = await asyncio.gather(
            *(self._extract.put(documents[at].html) for at in pages),  # type: ignore[union-attr, arg-type]
            return_exceptions=True,
        )
        for at, text in zip(pages, texts, strict=True):
            incoming[at] = text if isinstance(text, BaseException) else incoming[at]._replace(text=text)
        good = [at for at, one in enumerate(incoming) if isinstance(one, CheckedDocument)]
        answers = await self._in(self.writer, self._put, [incoming[at] for at in good])
        for at, answer in zip(good, answers, strict=True):
            incoming[at] = answer
        return incoming

    def _put(self, batch: list[CheckedDocument]) -> list[SeenAnswer | BaseException]:
        """One call for all that have the same fields; if it fails, one call each: only the bad ones get an error."""
        nothing = Refused(500, "nothing was done")
        answers: list[SeenAnswer | BaseException] = [nothing] * len(batch)
        for places in _groups(batch):
            group = [batch[at] for at in places]
            try:
                found: Sequence[Seen | BaseException] = self._put_group(group)
            except INDEX_ERRORS as error:
                return [error if one is nothing else one for one in answers]
            except (NeardupError, ValueError) as error:
                found = [error] if len(group) == 1 else [self._put_one(one) for one in group]
            self._note_hits([one for one in found if isinstance(one, Seen) and not one.new])
            for at, answer in zip(places, found, strict=True):
                answers[at] = answer if isinstance(answer, BaseException) else SeenAnswer(*answer)
        return answers

    def _note_hits(self, hits: list[Seen]) -> None:
        now = time.time()
        self._recent.extend((now, one) for one in hits)

    def recent(self) -> list[RecentHit]:
        """The last documents that were duplicates, the last one first."""
        return [
            RecentHit(at, one.id, one.duplicate_of or "", one.distance, one.similarity)
            for at, one in reversed(list(self._recent))
        ]

    def _put_group(self, group: list[CheckedDocument]) -> Sequence[Seen]:
        ttl = group[0].ttl
        if group[0].code is None:
            documents = [Document(one.id, one.text or "", one.meta or {}) for one in group]
            return list(self._index.seen(documents, ttl=ttl))
        prints = self._form.joined([one.code or b"" for one in group])
        metas = [one.meta for one in group] if any(one.meta for one in group) else None
        return list(self._index.seen_prints([one.id for one in group], prints, metas=metas, ttl=ttl))

    def _put_one(self, one: CheckedDocument) -> Seen | BaseException:
        try:
            return self._put_group([one])[0]
        except (NeardupError, ValueError) as error:
            return error

    @staticmethod
    async def _in(executor: Executor, call: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(executor, call, *given)


async def _done(before: asyncio.Future[Any] | None) -> None:
    """Wait for the part before; its error is raised here as well."""
    if before is not None:
        await asyncio.wait({before})
        if (failed := before.exception()) is not None:
            raise failed


def _groups(batch: Sequence[CheckedDocument]) -> Iterator[list[int]]:
    """Places of documents that can be put in one call, in groups as large as possible: of documents with the same id
    the last is put last, as it replaces the others."""
    groups: dict[tuple[bool, float | None], list[int]] = {}
    put: dict[str, tuple[bool, float | None]] = {}
    for at, one in enumerate(batch):
        kind = one.code is None, one.ttl
        if put.setdefault(one.id, kind) != kind:
            yield from groups.values()
            groups, put = {}, {one.id: kind}
        groups.setdefault(kind, []).append(at)
    yield from groups.values()


def check_one(*given: str | None) -> None:
    """Refuse all but exactly one well-formed text."""
    if sum(value is not None for value in given) != 1:
        raise DataError("give exactly one of text, html and fingerprint")
    for value in given:
        if value is not None and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise DataError("a text is not well-formed Unicode") from None
