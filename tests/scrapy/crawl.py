"""Crawls, in a process of its own: a reactor runs once. Arguments are JSON: start, settings; JSON comes out."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess


@dataclass
class PageItem:
    url: str
    text: str
    duplicate_of: dict | None = None


class PagesSpider(scrapy.Spider):
    name = "pages"

    def parse(self, response):
        words = " ".join(response.xpath("//main//text()").getall())
        if self.settings.get("ITEM_CLASS"):
            yield PageItem(response.url, words)
        else:
            yield {"url": response.url, "text": words}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, priority=20 if "/site/" in link else 0)


def main() -> None:
    start, settings = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    kept, dropped = [], []
    process = CrawlerProcess(
        {
            "LOG_LEVEL": "WARNING",
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS": 1,
            "RETRY_ENABLED": False,
            **settings,
        }
    )
    crawler = process.create_crawler(PagesSpider)

    def keep(item, response, spider):
        kept.append(item if isinstance(item, dict) else vars(item))

    def drop(item, response, exception, spider):
        dropped.append([exception.id, exception.duplicate_of, exception.similarity])

    crawler.signals.connect(keep, signals.item_scraped)
    crawler.signals.connect(drop, signals.item_dropped)
    process.crawl(crawler, start_urls=start)
    process.start()
    stats = {key: value for key, value in crawler.stats.get_stats().items() if isinstance(value, int | str)}
    print(json.dumps({"kept": kept, "dropped": dropped, "stats": stats}))


if __name__ == "__main__":
    main()
