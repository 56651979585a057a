"""The spider middleware: it does not follow the links of copied pages."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import HtmlResponse

from neardup.scrapy.follow import Links
from neardup.scrapy.judge import Judge, Page
from neardup.scrapy.seen_store import Verdict
from neardup.values.checks import checked

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["NearDuplicateLinks"]


class NearDuplicateLinks:
    """Judges each HTML page. Requests from a near-duplicate are dropped, or get a lower priority.

    Manku, Jain and Das Sarma (WWW 2007) give the reason: a near-duplicate probably links to more near-duplicates,
    like the pages of a mirror. Pages that are mostly links, such as lists, are followed while they lead to something
    new (`follow.py`). Items pass; `NearDuplicateItems` drops those.

    Only pages with status 200 to 299 are judged. A request with `meta={"neardup": False}` is not judged.
    """

    @checked
    def __init__(self, judge: Judge) -> None:
        self._judge, self._options = judge, judge.options
        self._links = Links()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDuplicateLinks:
        return cls(Judge.of(crawler))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: object = None
    ) -> AsyncIterator[Any]:
        verdict = await self._verdict(response)
        if verdict is not None:
            self._links.judged(response.url, verdict.new)
        requests: list[Request] = []
        async for one in result:
            if not isinstance(one, Request):
                yield one
            elif verdict is None or verdict.new:
                self._links.found([one.url])
                yield one
            else:
                requests.append(one)
        if verdict is not None and requests:
            for one in self._of_duplicate(response, requests, verdict):
                yield one

    def _of_duplicate(
        self, response: Response, requests: list[Request], verdict: Verdict
    ) -> Iterator[Request]:
        """The requests from a near-duplicate page that are sent all the same."""
        chain = response.meta.get("neardup_chain", 0) if response.request is not None else 0
        links = [one.url for one in requests]
        words = sys.maxsize if verdict.words is None else verdict.words
        followed = self._links.of_duplicate(response.url, links, words, chain)
        if followed.follow:
            self._judge.count("lists_followed")
            for one in requests:
                yield one.replace(meta={**one.meta, "neardup_chain": followed.chain})
            return
        if followed.reason == "trap":
            self._judge.count("traps_stopped")
        if self._options.drop_links:
            self._judge.count("links_dropped", len(requests))
            return
        self._judge.count("links_lowered", len(requests))
        for one in requests:
            yield one.replace(priority=one.priority + self._options.priority_adjust)

    async def _verdict(self, response: Response) -> Verdict | None:
        if not isinstance(response, HtmlResponse) or not 200 <= response.status < 300:
            return None
        if response.request is not None and response.meta.get("neardup", True) is False:
            return None
        verdict = await self._judge.judge(Page(response.url, html=response.body, charset=response.encoding))
        if verdict is not None:
            self._judge.remember(response.url, verdict)
        return verdict
