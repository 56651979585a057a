"""Judges the pages of one crawl in a separate thread; waiting pages are judged in one batch."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import NotConfigured

from neardup.errors import ConfigError
from neardup.http.client import ServiceError
from neardup.scrapy.backlog import Backlog
from neardup.scrapy.options import Options
from neardup.scrapy.seen_store import Memory, Verdict, open_memory
from neardup.web.html import HtmlExtractor

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

__all__ = ["Judge", "Page"]

AT_ONCE = 64  # pages in a batch: they are in memory anyway, and none waits long
CLOSING = 10.0  # seconds for pages that still wait for the service when the crawl ends
REMEMBERED = 10_000  # verdicts kept for items that arrive after their page

T = TypeVar("T")
log = logging.getLogger(__name__)
_judges: WeakKeyDictionary[Any, Judge] = WeakKeyDictionary()


@dataclass(frozen=True)
class Page:
    """A page or item to be judged: its URL, and its text or its HTML."""

    url: str
    text: str | None = None
    html: str | bytes | None = None
    charset: str | None = None


@dataclass(eq=False)
class _Case:
    id: str
    page: Page
    verdict: Future[Verdict | None] = field(default_factory=Future)


class Judge:
    """The index of a crawl, and its recent verdicts.

    A page is never lost because of an error: the error is logged and counted, and there is no verdict. Pages that come
    while a service is away are judged when it is back, so that copies of them are recognised from then on.
    """

    def __init__(self, options: Options, memory: Memory, stats: StatsCollector) -> None:
        self.options, self._memory, self._stats = options, memory, stats
        self._extractor = HtmlExtractor(
            options.html, workers=options.html_workers, seconds=options.html_seconds
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neardup")
        self._waiting: deque[_Case] = deque()
        self._recent: OrderedDict[str, Verdict] = OrderedDict()
        self._url_of: dict[str, str] = {}
        self._backlog, self._away = Backlog(), False
        self._late: Counter[str] = Counter()  # changed in the thread, added to the statistics at the end

    @classmethod
    def of(cls, crawler: Crawler) -> Judge:
        """The judge of a crawl. It is created for the first component and closed with the spider."""
        if not (hasattr(crawler, "settings") and hasattr(crawler, "signals")):
            raise ConfigError(f"crawler must be a Crawler of Scrapy, not {crawler!r:.80}")
        judge = _judges.get(crawler)
        if judge is None:
            options = Options.from_settings(crawler.settings)
            if not (options.index or options.service):
                raise NotConfigured("set NEARDUP_INDEX to a folder, or NEARDUP_SERVICE to an address")
            assert crawler.stats is not None
            judge = _judges[crawler] = cls(options, open_memory(options), crawler.stats)
            crawler.signals.connect(judge.close, signal=signals.spider_closed)
        return judge

    def remember(self, url: str, verdict: Verdict) -> None:
        """Keep the verdict of a page for its items."""
        self._recent[url] = verdict
        self._recent.move_to_end(url)
        if len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    def recent(self, url: str) -> Verdict | None:
        """The recent verdict for the page with this URL, for its items."""
        return self._recent.get(url)

    def count(self, name: str, many: int = 1) -> None:
        """Increase a counter in the crawl's statistics; called in the thread of the spider."""
        self._stats.inc_value(f"neardup/{name}", many)

    async def judge(self, page: Page) -> Verdict | None:
        """Look the page up and store it. None if there is no verdict, because of an error."""
        id = page.url
        if self.options.canonical_urls:
            from neardup.web.urls import canonical_url

            id = canonical_url(page.url)
        if self.options.canonical_urls and self._url_of.setdefault(id, page.url) != page.url:
            verdict: Verdict | None = Verdict(id, False, id, 1.0)
        else:
            verdict = await self._asked(_Case(id, page))
        if verdict is None:
            return None
        self.count("seen")
        self.count("new" if verdict.new else "duplicates")
        return verdict

    async def _asked(self, case: _Case) -> Verdict | None:
        self._waiting.append(case)
        self._thread.submit(self._work)
        try:
            verdict = await _result(case.verdict)
        except _AwayError:
            self.count("not_judged_yet")
            return None
        except Exception as error:
            log.error("%s is kept, although it may be a duplicate: %s", case.page.url, error)
            self.count("errors")
            return None
        if verdict is None:
            self.count("unreadable")
        return verdict

    def _work(self) -> None:
        """Judge the waiting pages, at most AT_ONCE. Each case starts a task, so a task may find none left."""
        cases = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
        try:
            texts = self._texts([case.page for case in cases])
        except Exception as error:
            for case in cases:
                case.verdict.set_exception(error)
            return
        readable = []
        for case, text in zip(cases, texts, strict=True):
            if text is None:
                case.verdict.set_result(None)
            else:
                readable.append((case, text))
        if readable:
            self._ask(readable)

    def _texts(self, pages: Sequence[Page]) -> list[str | None]:
        texts = [page.text for page in pages]
        rows = [row for row, page in enumerate(pages) if page.text is None and page.html is not None]
        if not rows:
            return texts
        found = self._extractor.extract(
            [pages[row].html or "" for row in rows], [pages[row].charset for row in rows]
        )
        for row, text in zip(rows, found.texts, strict=True):
            texts[row] = text
        for failure in found.failures:
            log.warning("%s is kept, but could not be read: %s", pages[rows[failure.row]].url, failure.reason)
        return texts

    def _ask(self, cases: list[tuple[_Case, str]]) -> None:
        self._catch_up()
        try:
            if self._away:
                raise _AwayError
            verdicts = self._memory.seen([case.id for case, _ in cases], [text for _, text in cases])
        except Exception as error:
            if _is_away(error):
                self._wait_for_service(error, cases)
            elif len(cases) == 1:
                cases[0][0].verdict.set_exception(error)
            else:
                # A page that causes an error must not affect the others, so each is tried alone. Pages already stored
                # are updated.
                for one in cases:
                    self._ask([one])
            return
        for (case, text), verdict in zip(cases, verdicts, strict=True):
            case.verdict.set_result(verdict._replace(words=len(text.split())))

    def _wait_for_service(self, error: Exception, cases: list[tuple[_Case, str]]) -> None:
        """Keep pages for later, and let the crawl go on with them as if they were new."""
        if not self._away:
            log.error("the service does not answer: pages are kept, and judged when it is back: %s", error)
        self._away = True
        for case, text in cases:
            self._backlog.add(case.id, text)
            case.verdict.set_exception(_AwayError())

    def _catch_up(self) -> None:
        """Judge the pages of the backlog, as long as the service answers."""
        self._away = False
        while self._backlog and not self._away:
            pages = self._backlog.first(AT_ONCE)
            try:
                verdicts = self._memory.seen([id for id, _ in pages], [text for _, text in pages])
            except Exception as error:
                self._away = _is_away(error)
                if not self._away:
                    log.error("%d pages that waited for the service are not judged: %s", len(pages), error)
                    self._backlog.done(len(pages))
                    self._late["errors"] += len(pages)
                continue
            self._backlog.done(len(pages))
            self._late["judged_later"] += len(pages)
            self._late["duplicates_found_later"] += sum(not verdict.new for verdict in verdicts)

    async def close(self) -> None:
        """Close the index and stop the processes that read HTML. Pages that wait for a service get some seconds."""
        await _result(self._thread.submit(self._close))
        self._thread.shutdown()
        for name, many in self._late.items():
            self.count(name, many)
        if lost := len(self._backlog) + self._backlog.lost:
            self.count("not_judged", lost)
            log.error("the service did not come back: %d pages were kept and not judged", lost)

    def _close(self) -> None:
        try:
            until = time.monotonic() + CLOSING
            self._catch_up()
            while self._backlog and time.monotonic() < until:
                time.sleep(0.2)
                self._catch_up()
        finally:
            try:
                self._memory.close()
            finally:
                self._extractor.close()


class _AwayError(Exception):
    """The service is away; the page is in the backlog."""


def _is_away(error: Exception) -> bool:
    return isinstance(error, _AwayError) or (isinstance(error, ServiceError) and error.unavailable)


async def _result(future: Future[T]) -> T:
    """Wait for another thread, under any of Scrapy's reactors."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        return await asyncio.wrap_future(future)
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    done: Deferred[None] = Deferred()
    wake: Any = reactor
    future.add_done_callback(lambda _: wake.callFromThread(done.callback, None))
    await done
    return future.result()
