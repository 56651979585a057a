"""Crawl a small site with a mirror: its pages are dropped, and pages that only they link to are never fetched."""

from __future__ import annotations

import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import scrapy
from scrapy.crawler import CrawlerProcess

import neardup as nd

TEXTS = {
    "ferry": """The ferry leaves the north pier at eight and returns at noon, except on public holidays, when it remains
        in the harbour all day and the crew paint the railings, mend the nets and wait for the weather to turn.""",
    "cake": """Whisk the eggs with the sugar until pale, fold in the flour and the melted butter, pour everything into a
        tin lined with paper and bake it for forty minutes, or until a needle comes out clean.""",
}


def page(text: str, *links: str) -> str:
    return f"<main><p>{text}</p></main>" + "".join(f'<a href="{link}">{link}</a>' for link in links)


SITE = {
    "/": page("Two things to read, and a copy of each, made by a friend.", "/ferry", "/cake", "/copy"),
    "/copy": page(
        "Welcome to my copies of what I like to read on long evenings.", "/copy/ferry", "/copy/cake"
    ),
    **{f"/{name}": page(text) for name, text in TEXTS.items()},
    **{f"/copy/{name}": page(f"{text} Copied today.", f"/copy/{name}/more") for name, text in TEXTS.items()},
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = SITE.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class PagesSpider(scrapy.Spider):
    name = "pages"

    def parse(self, response):
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, priority=-link.count("/"))  # originals first


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        process = CrawlerProcess(
            {
                "SPIDER_MIDDLEWARES": {"neardup.scrapy.NearDuplicateLinks": 50},
                "ITEM_PIPELINES": {"neardup.scrapy.NearDuplicateItems": 300},
                "NEARDUP_INDEX": f"{folder}/pages.nd",
                "CONCURRENT_REQUESTS": 1,
                "TELNETCONSOLE_ENABLED": False,
                "LOG_ENABLED": False,
            }
        )
        crawler = process.create_crawler(PagesSpider)
        process.crawl(crawler, start_urls=[f"http://127.0.0.1:{server.server_port}/"])
        process.start()
        for name, value in sorted(crawler.stats.get_stats().items()):
            if name.startswith("neardup/"):
                print(f"{name:<22}{value}")
        with nd.Index(f"{folder}/pages.nd", mode="read") as index:
            for name in TEXTS:
                address = f"http://127.0.0.1:{server.server_port}"
                members = index.cluster(f"{address}/{name}").members
                print(" <- ".join(member.id.removeprefix(address) for member in members))
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
