"""The item pipeline: it drops or marks items of near-duplicate pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from neardup.errors import ConfigError
from neardup.scrapy.judge import Judge, Page
from neardup.scrapy.seen_store import Verdict
from neardup.values.checks import checked

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["NearDuplicate", "NearDuplicateItems"]


class NearDuplicate(DropItem):
    """An item was dropped: `id` is a duplicate of `duplicate_of`, by `similarity` (0 to 1, None if unknown)."""

    @checked
    def __init__(self, verdict: Verdict) -> None:
        self.id, self.duplicate_of, self.similarity = verdict.id, verdict.duplicate_of, verdict.similarity
        near = "" if verdict.similarity is None else f", similarity {verdict.similarity:.3f}"
        super().__init__(f"near-duplicate of {verdict.duplicate_of}{near}")


class NearDuplicateItems:
    """Drops or marks items that are near-duplicates.

    An item gets the verdict of the page with its URL, if `NearDuplicateLinks` has judged that page. Any other item is
    judged by its own text, or by the text of its HTML. Items without a URL, a text and HTML pass, and are counted.
    """

    @checked
    def __init__(self, judge: Judge) -> None:
        self._judge, self._options = judge, judge.options

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDuplicateItems:
        return cls(Judge.of(crawler))

    async def process_item(self, item: Any, spider: object = None) -> Any:
        fields = ItemAdapter(item)
        if self._options.action == "mark":
            self._check_field(item)
        verdict = await self._verdict(fields)
        if verdict is None or verdict.new:
            return item
        if self._options.action == "drop":
            self._judge.count("items_dropped")
            raise NearDuplicate(verdict)
        self._judge.count("items_marked")
        fields[self._options.mark_field] = {
            "id": verdict.duplicate_of,
            "similarity": verdict.similarity,
        }
        return item

    async def _verdict(self, fields: ItemAdapter) -> Verdict | None:
        url = fields.get(self._options.url_field)
        if not isinstance(url, str) or not url:
            self._judge.count("unreadable")
            return None
        if (recent := self._judge.recent(url)) is not None:
            return recent
        text, html = fields.get(self._options.text_field), fields.get(self._options.html_field)
        if isinstance(text, str):
            return await self._judge.judge(Page(url, text=text))
        if isinstance(html, str | bytes):
            return await self._judge.judge(Page(url, html=html))
        self._judge.count("unreadable")
        return None

    def _check_field(self, item: Any) -> None:
        """Item classes declare their fields. If the field for the mark is missing, report it before the first
        duplicate."""
        names = ItemAdapter.get_field_names_from_class(type(item))
        if names is not None and self._options.mark_field not in names:
            raise ConfigError(
                f"{type(item).__name__} has no field {self._options.mark_field!r} for marks: add it, or name another "
                "one in NEARDUP_MARK_FIELD"
            )
