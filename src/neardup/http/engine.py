"""What the routes do: one index, and the threads that work on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from neardup.clusters.collapsed import collapse, collapse_codes
from neardup.compare.explain import explain
from neardup.errors import DataError, MissingExtra, NeardupError
from neardup.fingerprints.fingerprints import Codes
from neardup.http.batcher import Batcher
from neardup.http.hex_fingerprints import PrintForm
from neardup.http.ingest import Ingest, check_one
from neardup.http.limits import Refused, RequestLimits
from neardup.http.schemas import (
    ClusterAnswer,
    CollapseAnswer,
    CollapseRequest,
    CompareAnswer,
    CompareRequest,
    DocumentAnswer,
    FoldedAnswer,
    HitAnswer,
    ResultAnswer,
    SearchAnswer,
    SearchRequest,
    StatsAnswer,
)
from neardup.index import Index
from neardup.index.answers import Cluster, Hit, Stored
from neardup.index.contents import TextTooLarge
from neardup.index.inputs import check_ids
from neardup.web.html import HtmlExtractor

__all__ = ["Engine"]

Result = TypeVar("Result")
HTML_AT_ONCE = 32
LOADED_AT_ONCE = 64  # stored texts, in one query


class CheckedQuery(NamedTuple):
    """A checked query."""

    text: str | None
    code: bytes | None
    own: str | None
    first: bool


class Engine:
    """One open index with its batches. All methods are called on one event loop; the work is done in threads.

    Writes have a thread of their own, as an index has one writer anyway; searches, HTML and everything else never wait
    for them. Closing waits for what is in work.
    """

    def __init__(
        self, index: Index, limits: RequestLimits, observe: Callable[[str, int], None] | None = None
    ) -> None:
        self.index, self.limits = index, limits
        self.form = PrintForm(index.config, index.scheme)
        self._reader = ThreadPoolExecutor(2, "read")
        # Compare and collapse: seconds of work must not hold up searches.
        self._slow = ThreadPoolExecutor(1, "slow")
        self._pages = ThreadPoolExecutor(1, "html")
        self._watch = ThreadPoolExecutor(1, "watch")  # for metrics, however busy the others are
        self._html: HtmlExtractor | None = None
        count = observe or (lambda name, size: None)
        self._search: Batcher[CheckedQuery, SearchAnswer] = Batcher(
            self._look, self._reader, most=64, observe=lambda size: count("search", size)
        )
        self._extract: Batcher[str, str] = Batcher(
            self._texts, self._pages, most=HTML_AT_ONCE, observe=lambda size: count("html", size)
        )
        self.ingest = Ingest(index, limits, self.form, self._extract, lambda size: count("seen", size))

    def close(self) -> None:
        """After the last request; what waits for a thread is not begun."""
        for executor in (self._pages, self._reader, self._slow, self._watch):
            executor.shutdown(wait=True, cancel_futures=True)
        self.ingest.close()
        if self._html is not None:
            self._html.close()
        self.index.close()

    def _texts(self, pages: list[str]) -> list[str | BaseException]:
        if self._html is None:
            self._html = HtmlExtractor()
        try:
            found = self._html.extract(pages)
        except MissingExtra as error:
            return [Refused(422, str(error)) for _ in pages]
        failed = {failure.row: failure.reason for failure in found.failures}
        return [
            DataError(f"the HTML could not be read: {failed.get(row, 'error')}") if text is None else text
            for row, text in enumerate(found.texts)
        ]

    async def search(self, query: SearchRequest) -> SearchAnswer:
        """The stored documents near a text, page or fingerprint."""
        check_one(query.text, query.html, query.fingerprint)
        code, text = None, query.text
        if query.id is not None:
            check_ids((query.id,))
        if query.fingerprint is not None:
            if self.index.store != "none":
                raise DataError("this index verifies hits by texts: send text or html")
            code = self.form.bytes_of(query.fingerprint, query.scheme)
        elif query.html is not None:
            text = await self._extract.put(query.html)
        return await self._search.put(CheckedQuery(text, code, query.id, query.first))

    def _look(self, batch: list[CheckedQuery]) -> list[SearchAnswer | BaseException]:
        answers: list[SearchAnswer | BaseException] = [Refused(500, "nothing was done")] * len(batch)
        groups: dict[tuple[bool, bool], list[int]] = {}
        for at, one in enumerate(batch):
            # Hits of the own id are taken out afterwards here, so one more is needed to have the first of the others.
            groups.setdefault((one.code is None, one.first and one.own is None), []).append(at)
        for (textual, first), places in groups.items():
            group = [batch[at] for at in places]
            try:
                found = self._hits(group, textual, first)
            except (NeardupError, ValueError) as error:
                found = [error] * len(group)  # type: ignore[list-item]
            for at, hits in zip(places, found, strict=True):
                if isinstance(hits, BaseException):
                    answers[at] = hits
                    continue
                others = [hit for hit in hits if hit.id != batch[at].own]
                answers[at] = SearchAnswer(_hits(others[:1] if batch[at].first else others))
        return answers

    def _hits(self, group: list[CheckedQuery], textual: bool, first: bool) -> list[list[Hit]]:
        mode = "first" if first else "all"
        if textual:
            found: list[list[Hit]] = self.index.search([one.text or "" for one in group], mode=mode)  # type: ignore[call-overload]
            return found
        return self.index.search_prints(self.form.joined([one.code or b"" for one in group]), mode=mode)  # type: ignore[arg-type]

    async def get(self, id: str) -> DocumentAnswer | None:
        entry = (await self._in(self._reader, self._get_all, [id], self.limits.waiting_bytes))[0]
        if entry is None:
            return None
        digits = None if entry.fingerprint is None else entry.fingerprint.hex()
        return DocumentAnswer(
            entry.id, entry.keeper, entry.added, entry.expires, entry.meta, entry.text, digits
        )

    async def remove(self, id: str) -> int:
        return await self._in(self.ingest.writer, self.index.remove, id)

    async def cluster(self, id: str) -> ClusterAnswer | None:
        found = await self._in(self._reader, self._cluster, id)
        return None if found is None else ClusterAnswer(found.keeper, _hits(found.members))

    async def refresh(self) -> None:
        """Load what the writer of an index that is only read has written since."""
        await self._in(self.ingest.writer, self.index.refresh)

    async def stats(self) -> StatsAnswer:
        return await self._in(self._reader, self._stats)

    async def watched_stats(self) -> StatsAnswer:
        """The same, also while there is much to do."""
        return await self._in(self._watch, self._stats)

    def _stats(self) -> StatsAnswer:
        found = self.index.stats()
        return StatsAnswer(
            documents=found.documents,
            keepers=found.keepers,
            rows=found.rows,
            watermark=found.watermark,
            database_bytes=found.database_bytes,
            cache_bytes=found.cache_bytes,
            memory_bytes=found.memory_bytes,
            segments=list(found.segments),
            store=found.store,
            scheme=found.scheme,
        )

    async def compare(self, pair: CompareRequest) -> CompareAnswer:
        """Two texts by everything there is."""
        texts = [pair.left, pair.right]
        for text in texts:
            check_one(text)
            if len(text) > self.limits.compared:
                raise Refused(413, f"a text to be compared has at most {self.limits.compared:,} characters")
        if pair.html:
            texts = list(await asyncio.gather(*(self._extract.put(page) for page in texts)))
        found = await self._in(self._slow, lambda: explain(*texts, threshold=pair.threshold))
        return CompareAnswer(
            found.verdict,
            found.duplicate,
            found.jaccard,
            found.threshold,
            found.bit_distance,
            found.simhash_distance,
            found.cosine,
            list(found.containment),
            list(found.shared),
            list(found.only_left),
            list(found.only_right),
        )

    async def collapse(self, ranked: CollapseRequest) -> CollapseAnswer:
        """A ranked list with near-duplicates folded under their first occurrence."""
        if len(ranked.results) > self.limits.collapsed:
            raise Refused(413, f"a list to be collapsed has at most {self.limits.collapsed:,} results")
        texts: list[str | None] = []
        for one in ranked.results:
            if one.text is not None and one.html is not None:
                raise DataError("give a result text or html, not both")
            check_one(one.text or one.html or "")
            texts.append(one.text if one.html is None else await self._extract.put(one.html))
        return await self._in(self._slow, self._collapse, ranked, texts)

    def _collapse(self, ranked: CollapseRequest, texts: list[str | None]) -> CollapseAnswer:
        ids = [one.id for one in ranked.results]
        if ids and self.index.store == "none" and all(text is None for text in texts):
            return self._collapse_codes(ids)
        self._load(ids, texts)
        config = self.index.config
        threshold = config.verify.threshold if ranked.threshold is None else ranked.threshold
        shown = collapse([text or "" for text in texts], threshold=threshold, features=config.shown)
        return CollapseAnswer(
            [
                ResultAnswer(
                    ids[one.rank],
                    one.rank,
                    [FoldedAnswer(ids[f.rank], f.rank, None, f.measured) for f in one.folded],
                )
                for one in shown
            ]
        )

    def _load(self, ids: list[str], texts: list[str | None]) -> None:
        """Put stored texts where there are none, a few at a time: refused before more is loaded than may be."""
        budget = self.limits.body - sum(len(text or "") for text in texts)
        missing = [at for at, text in enumerate(texts) if text is None]
        for start in range(0, len(missing), LOADED_AT_ONCE):
            group = missing[start : start + LOADED_AT_ONCE]
            for at, entry in zip(group, self._stored(ids, group, max(budget, 0)), strict=True):
                if entry.text is None:
                    raise DataError(
                        "this index keeps no texts: send them with the results, with all or with none"
                    )
                budget -= len(entry.text)
                self._check_budget(budget)
                texts[at] = entry.text
        self._check_budget(budget)

    def _check_budget(self, left: int) -> None:
        if left < 0:
            most = self.limits.body
            reason = f"texts to be collapsed have at most {most:,} characters together; send fewer results"
            raise Refused(413, reason)

    def _cluster(self, id: str) -> Cluster | None:
        try:
            return self.index.cluster(id, most=self.limits.documents)
        except TextTooLarge as error:
            raise Refused(413, f"{error}; ask the library for it") from None

    def _get_all(self, ids: list[str], most: int) -> list[Stored | None]:
        """What is stored, if there is room for it; its size is known before it is loaded."""
        try:
            return self.index.get_all(ids, most=most)
        except TextTooLarge:
            reason = f"the stored texts have more than {most:,} bytes; send fewer results, or ask the library"
            raise Refused(413, reason) from None

    def _stored(self, ids: list[str], places: list[int], most: int) -> list[Stored]:
        """What is stored under the ids at these places."""
        found = self._get_all([ids[at] for at in places], most)
        for at, entry in zip(places, found, strict=True):
            if entry is None:
                raise DataError(f"result {at} has no text, and the index has no document of its id")
        return [entry for entry in found if entry is not None]

    def _collapse_codes(self, ids: list[str]) -> CollapseAnswer:
        entries = self._stored(ids, list(range(len(ids))), self.limits.body)
        prints = self.form.joined([entry.fingerprint or b"" for entry in entries])
        if not isinstance(prints, Codes):
            raise DataError("this index keeps no texts and no codes: send texts with the results")
        radius = self.index.config.method.radius  # type: ignore[union-attr]  # what searches codes has one
        return CollapseAnswer(
            [
                ResultAnswer(
                    ids[one.rank],
                    one.rank,
                    [FoldedAnswer(ids[f.rank], f.rank, int(f.measured), None) for f in one.folded],
                )
                for one in collapse_codes(prints, radius=radius)
            ]
        )

    async def _in(self, executor: ThreadPoolExecutor, call: Callable[..., Result], *given: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(executor, call, *given)


def _hits(found: Sequence[Hit]) -> list[HitAnswer]:
    return [HitAnswer(hit.id, hit.distance, hit.similarity) for hit in found]
