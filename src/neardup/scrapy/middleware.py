"""The spider middleware: it does not follow the links of near-duplicate pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import HtmlResponse

from neardup.scrapy.judge import Judge, Page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["NearDuplicateLinks"]


class NearDuplicateLinks:
    """Judges each HTML page, and drops the requests that come from a near-duplicate, or lowers their priority.

    Manku, Jain and Das Sarma (WWW 2007) give the reason: a near-duplicate probably links to more near-duplicates,
    like the pages of a mirror. Items pass; `NearDuplicateItems` drops those.

    Only pages with status 200 to 299 are judged. A request with `meta={"neardup": False}` is not judged: for example
    lists of links that are similar but lead to different pages.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge, self._options = judge, judge.options

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDuplicateLinks:
        return cls(Judge.of(crawler))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: object = None
    ) -> AsyncIterator[Any]:
        duplicate = await self._is_duplicate(response)
        async for one in result:
            if not duplicate or not isinstance(one, Request):
                yield one
            elif self._options.drop_links:
                self._judge.count("links_dropped")
            else:
                self._judge.count("links_lowered")
                yield one.replace(priority=one.priority + self._options.priority_adjust)

    async def _is_duplicate(self, response: Response) -> bool:
        if not isinstance(response, HtmlResponse) or not 200 <= response.status < 300:
            return False
        if response.request is not None and response.meta.get("neardup", True) is False:
            return False
        verdict = await self._judge.judge(Page(response.url, html=response.body, charset=response.encoding))
        if verdict is None:
            return False
        self._judge.remember(response.url, verdict)
        return not verdict.new
