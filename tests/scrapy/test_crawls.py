"""Real crawls of a real site: mirrored pages are dropped, and the pages they link to are never requested; templated
pages are kept."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from support.article_site import ARTICLES, ArticleSite
from support.command import serving
from support.site import GOODS, PAGES, build, prose, served

import neardup as nd
from neardup.scrapy.judge import Judge, Page
from neardup.scrapy.middleware import NearDuplicateLinks
from neardup.scrapy.options import Options
from neardup.scrapy.seen_store import Verdict, open_memory

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
ITEMS = {"ITEM_PIPELINES": {"neardup.scrapy.NearDuplicateItems": 300}}
LINKS = {"SPIDER_MIDDLEWARES": {"neardup.scrapy.NearDuplicateLinks": 50}}
ORIGINALS = {"/", "/mirror/", "/shop/"}
ORIGINALS |= {f"/site/{name}{more}" for name in PAGES for more in ("", "/more")}
ORIGINALS |= {f"/shop/{name}{more}" for name in GOODS for more in ("", "/reviews")}
BREADTH_FIRST = [
    *("-s", "DEPTH_PRIORITY=1"),
    *("-s", "SCHEDULER_DISK_QUEUE=scrapy.squeues.PickleFifoDiskQueue"),
    *("-s", "SCHEDULER_MEMORY_QUEUE=scrapy.squeues.FifoMemoryQueue"),
]
MIRRORED = {f"/mirror/{name}" for name in PAGES}
BEHIND = {f"/mirror/{name}/more" for name in PAGES}


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[str, list[str]]]:
    with served(build()) as (address, asked):
        yield address, asked


def run(start: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, HERE / "crawl.py", json.dumps([start]), json.dumps(settings)],
        capture_output=True,
        text=True,
        timeout=600,
    )


def crawl(start: str, **settings: Any) -> tuple[dict[str, Any], str]:
    """What a crawl kept, dropped and counted; and its log."""
    done = run(start, **settings)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def counts(report: dict[str, Any]) -> dict[str, int]:
    """The counters of the plug-in."""
    return {k.removeprefix("neardup/"): v for k, v in report["stats"].items() if k.startswith("neardup/")}


def counted(log: str, name: str) -> int:
    """A counter of the plug-in in the statistics that Scrapy logs."""
    found = re.search(rf"'neardup/{name}': (\d+)", log)
    return int(found[1]) if found else 0


def paths(items: list[dict[str, Any]], address: str) -> list[str]:
    return sorted(item["url"].removeprefix(address) for item in items)


@pytest.mark.slow
def test_mirrors_are_dropped_with_their_links_and_templates_kept(site, tmp_path):
    address, asked = site
    asked.clear()
    settings = {**ITEMS, **LINKS, "NEARDUP_INDEX": str(tmp_path / "i")}
    report, log = crawl(f"{address}/", **settings)
    assert paths(report["kept"], address) == sorted(ORIGINALS), log
    assert sorted(asked) == sorted(ORIGINALS | MIRRORED)
    pairs = {id.removeprefix(address): of.removeprefix(address) for id, of, _ in report["dropped"]}
    assert pairs == {f"/mirror/{name}": f"/site/{name}" for name in PAGES}
    assert all(0.9 < similarity < 1 for _, _, similarity in report["dropped"])
    assert counts(report) == {
        "seen": len(ORIGINALS) + 8,
        "new": len(ORIGINALS),
        "duplicates": 8,
        "items_dropped": 8,
        "links_dropped": 8,
    }
    with nd.Index(tmp_path / "i", mode="read") as index:
        assert len(index) == len(ORIGINALS) + 8 and index.verify().sound

    # The same URLs again: every page is an update of itself, and the mirror is still one.
    again, _ = crawl(f"{address}/", **settings)
    assert paths(again["kept"], address) == sorted(ORIGINALS)
    assert counts(again) == counts(report)
    with nd.Index(tmp_path / "i", mode="read") as index:
        assert len(index) == len(ORIGINALS) + 8 and index.verify().sound

    # The whole site under another name: it ends at the door.
    asked.clear()
    other = address.replace("127.0.0.1", "localhost")
    report, _ = crawl(f"{other}/", **settings)
    assert asked == ["/"] and report["kept"] == []
    assert report["dropped"] == [[f"{other}/", f"{address}/", 1.0]]
    assert counts(report) == {
        "seen": 1,
        "duplicates": 1,
        "items_dropped": 1,
        "links_dropped": len(PAGES) + 2,
    }

    # With links followed all the same, everything is fetched and nothing kept.
    asked.clear()
    report, _ = crawl(f"{other}/", **settings, NEARDUP_DROP_LINKS=False)
    assert sorted(asked) == sorted(ORIGINALS | MIRRORED | BEHIND) and report["kept"] == []
    count = len(asked)
    assert counts(report) == {
        "seen": count,
        "duplicates": count,
        "items_dropped": count,
        "links_lowered": count - 1,
    }


def documented_spider(address: str, folder: Path, *options: str) -> tuple[list[dict[str, Any]], str]:
    """What the spider in docs/how-to/scrapy.md keeps of a site, run by Scrapy's command; and its log."""
    page = (HERE.parents[1] / "docs" / "how-to" / "scrapy.md").read_text()
    spider = page.partition("```python\n")[2].partition("```")[0]
    assert "https://example.org/" in spider
    (folder / "pages.py").write_text(spider.replace("https://example.org/", f"{address}/"))
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "runspider", "pages.py", "-O", "pages.jsonl", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()], done.stderr


def test_the_spider_of_the_documentation(site, tmp_path):
    """One page of each pair is kept, and its links."""
    address, _ = site
    kept, log = documented_spider(address, tmp_path)
    pages = [item["url"].removeprefix(address).replace("mirror/", "site/", 1) for item in kept]
    assert sorted(pages) == sorted(path.replace("mirror/", "site/", 1) for path in ORIGINALS)
    assert re.search(r"WARNING: Dropped: near-duplicate of http://\S+, similarity 0\.9\d\d\n", log)
    assert "'neardup/duplicates': 8" in log


@pytest.mark.slow
@pytest.mark.parametrize("order", ["first in, first out", "last in, first out"])
def test_every_article_once(tmp_path, order):
    """Lists that look the same are followed; mirrors, sessions and the calendar end."""
    options = [] if order == "last in, first out" else BREADTH_FIRST
    with served(ArticleSite()) as (address, asked):
        kept, log = documented_spider(address, tmp_path, *options)
    titles = Counter(item["title"] for item in kept)
    articles = {title: many for title, many in titles.items() if title.startswith("Article ")}
    assert articles == {f"Article {number}": 1 for number in range(1, ARTICLES + 1)}, log[-4000:]
    assert len(asked) < 6 * ARTICLES and sum("/calendar/" in path for path in asked) < 20
    # In any order of the responses: of the two first lists the later one is a duplicate with links to follow, and the
    # calendar ends only because its links are dropped. Which lists turn out to be traps depends on the order.
    assert counted(log, "lists_followed") >= 1 and counted(log, "links_dropped") >= 1
    assert counted(log, "new") + counted(log, "duplicates") == counted(log, "seen") == len(asked), log[-4000:]


@pytest.mark.parametrize(
    ("order", "followed", "traps"), [("first in, first out", 8, 1), ("last in, first out", 5, 1)]
)
def test_every_article_once_page_by_page(tmp_path, order, followed, traps):
    """The same crawl without time: one response after another, so that each counter has one value."""
    options, stats = Options(index=str(tmp_path / "i"), index_options={"seed": 1}), Counters()
    judge = Judge(options, open_memory(options), stats)
    kept = asyncio.run(crawled_in_order(judge, ArticleSite(), last_first=order.startswith("last")))
    assert sorted(kept) == sorted(f"Article {number}" for number in range(1, ARTICLES + 1))
    assert (stats["lists_followed"], stats["traps_stopped"]) == (followed, traps)
    assert stats["links_dropped"] >= traps and stats["new"] + stats["duplicates"] == stats["seen"]


async def crawled_in_order(judge: Judge, site: ArticleSite, last_first: bool) -> list[str]:
    """The titles of the new articles of a site, crawled through the middleware one page at a time."""
    links = NearDuplicateLinks(judge)
    waiting, known, kept = deque([Request("http://site/")]), {"http://site/"}, list[str]()

    async def parsed(response: HtmlResponse) -> AsyncIterator[Request]:
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)

    try:
        while waiting:
            request = waiting.pop() if last_first else waiting.popleft()
            body = site.get(request.url.removeprefix("http://site"))
            if body is None:
                continue
            response = HtmlResponse(request.url, body=body.encode(), encoding="utf-8", request=request)
            async for one in links.process_spider_output(response, parsed(response)):
                if one.url not in known:
                    known.add(one.url)
                    waiting.append(one)
            verdict, title = judge.recent(request.url), response.css("title::text").get()
            if verdict is not None and verdict.new and title.startswith("Article "):
                kept.append(title)
    finally:
        await judge.close()
    return kept


@pytest.mark.slow
def test_a_crawl_that_is_stopped_and_continues(tmp_path):
    """With JOBDIR, under the asyncio reactor: the second half knows the pages of the first."""
    options = [
        "-s",
        "JOBDIR=job",
        "-s",
        "TWISTED_REACTOR=twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    ]
    with served(ArticleSite()) as (address, asked):
        first, log = documented_spider(address, tmp_path, *options, "-s", "CLOSESPIDER_PAGECOUNT=150")
        assert "closespider_pagecount" in log and 100 < len(asked) < 200
        second, log = documented_spider(address, tmp_path, *options)
    titles = Counter(item["title"] for item in first + second if item["title"].startswith("Article "))
    assert titles == {f"Article {number}": 1 for number in range(1, ARTICLES + 1)}, log[-4000:]


def test_items_alone_marked(site, tmp_path):
    """Without the middleware items are judged by their own text, and the crawl visits every page."""
    address, asked = site
    asked.clear()
    report, log = crawl(
        f"{address}/", **ITEMS, NEARDUP_INDEX=str(tmp_path / "i"), NEARDUP_ACTION="mark", ITEM_CLASS=True
    )
    everything = ORIGINALS | MIRRORED | BEHIND
    assert sorted(asked) == sorted(everything) and paths(report["kept"], address) == sorted(everything), log
    marked = {
        item["url"].removeprefix(address): item["duplicate_of"]["id"].removeprefix(address)
        for item in report["kept"]
        if item["duplicate_of"]
    }
    assert {frozenset(pair) for pair in marked.items()} == {
        frozenset((path, path.replace("mirror", "site"))) for path in MIRRORED | BEHIND
    }
    assert counts(report)["items_marked"] == counts(report)["duplicates"] == 16


def test_links_alone_under_another_reactor(site, tmp_path):
    address, asked = site
    asked.clear()
    report, log = crawl(
        f"{address}/",
        **LINKS,
        NEARDUP_INDEX=str(tmp_path / "i"),
        TWISTED_REACTOR="twisted.internet.selectreactor.SelectReactor",
    )
    assert sorted(asked) == sorted(ORIGINALS | MIRRORED), log
    assert paths(report["kept"], address) == sorted(asked)


def test_urls_of_one_form_are_one_page(tmp_path):
    pages = {
        "/": '<p>Two ways to one page.</p><a href="/p?utm_source=a">a</a><a href="/p?utm_source=b">b</a>',
        "/p": "<main>"
        + "many different words are here in a row to be read by every visitor " * 3
        + "</main>",
    }
    with served(pages) as (address, asked):
        settings = {**ITEMS, **LINKS, "NEARDUP_INDEX": str(tmp_path / "i"), "NEARDUP_CANONICAL_URLS": True}
        report, log = crawl(f"{address}/", **settings)
        assert len(asked) == 3 and len(report["kept"]) == 2, log
        home, page = (nd.urls.canonical_url(f"{address}{path}") for path in ("/", "/p"))
        assert report["dropped"] == [[page, page, 1.0]]
        with nd.Index(tmp_path / "i", mode="read") as index:
            assert sorted(entry.id for entry in index.documents()) == [home, page]


@pytest.mark.slow
def test_what_cannot_be_judged_is_kept(tmp_path):
    """An id that no index takes, pages the parser has no time for: the crawl continues with them and says so."""
    long = "/" + "x" * 9000
    pages = {"/": f'<p>Links.</p><a href="{long}">long</a><a href="/more">more</a>', long: "<p>Long.</p>"}
    pages["/more"] = "<p>Not so long.</p>"
    with served(pages) as (address, asked):
        report, log = crawl(
            f"{address}/", **ITEMS, **LINKS, NEARDUP_INDEX=str(tmp_path / "i"), URLLENGTH_LIMIT=20_000
        )
    assert len(asked) == 3 and len(report["kept"]) == 3
    # The page was asked about, and then its item.
    assert counts(report) == {"seen": 2, "new": 2, "errors": 2}
    assert "an id has at most 8,192 bytes" in log

    # On a machine of any speed: elements this deep keep the parser for minutes, and it has half a second.
    # An answer that is there when the time is over counts, so a page that is read at once could be judged after all.
    deep = "<div>" * 50_000 + "deep"
    pages = {"/": f'<a href="/more">more</a>{deep}', "/more": deep}
    with served(pages) as (address, asked):
        report, log = crawl(
            f"{address}/", **LINKS, NEARDUP_INDEX=str(tmp_path / "j"), NEARDUP_HTML_SECONDS=0.5
        )
    assert asked == ["/", "/more"] and counts(report) == {"unreadable": 2}
    assert log.count("could not be read: timeout") == 2


def test_settings_that_make_no_sense_stop_the_crawl(site, tmp_path):
    address, asked = site
    report, log = crawl(f"{address}/shop/1", **ITEMS, **LINKS)
    assert "NEARDUP_INDEX" in log and counts(report) == {}  # switched off, with a warning, as Scrapy does
    asked.clear()
    with nd.Index(tmp_path / "i"):
        log = run(f"{address}/", **ITEMS, NEARDUP_INDEX=str(tmp_path / "i")).stderr
    assert f"process {os.getpid()} has this index open" in log and asked == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"NEARDUP_INDEX": "i", "NEARDUP_ACTION": "burn"}, '"drop" or "mark"'),
        ({"NEARDUP_INDEX": "i", "NEARDUP_SERVICE": "http://127.0.0.1:1"}, "not both"),
        ({"NEARDUP_INDEX": "i", "NEARDUP_HTML": "best"}, "NEARDUP_HTML is one of main"),
        (
            {"NEARDUP_SERVICE": "http://127.0.0.1:1", "NEARDUP_INDEX_OPTIONS": {"ttl": 5}},
            "a service has its own",
        ),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(nd.ConfigError, match=message):
        Options.from_settings(Settings(settings))


class Counters(Counter):
    """Statistics, as far as a judge uses them."""

    def inc_value(self, name: str, count: int = 1) -> None:
        self[name.removeprefix("neardup/")] += count


def test_pages_that_wait_together(tmp_path):
    """Of copies asked about at the same time one is new; a page that cannot be judged does not stop the others."""
    options, stats = Options(index=str(tmp_path / "i")), Counters()
    judge = Judge(options, open_memory(options), stats)
    texts = [prose(f"text {number}") for number in range(40)]
    pages = [Page(f"{copy}/{number}", text=text) for copy in "ab" for number, text in enumerate(texts)]
    pages.insert(7, Page("x" * 9000, text="an id too long"))
    pages.insert(50, Page("html", html=b"<p>" + prose("html").encode() + b"</p>"))

    async def ask() -> list[Verdict | None]:
        try:
            return await asyncio.gather(*map(judge.judge, pages))
        finally:
            await judge.close()

    verdicts = asyncio.run(ask())
    assert [place for place, verdict in enumerate(verdicts) if verdict is None] == [7]
    for number in range(40):
        pair = [verdict for verdict in verdicts if verdict and verdict.id in (f"a/{number}", f"b/{number}")]
        assert sorted(verdict.new for verdict in pair) == [False, True]
        copy, original = sorted(pair, key=lambda verdict: verdict.new)
        assert copy.duplicate_of == original.id and copy.similarity == 1
    assert stats == {"seen": 81, "new": 41, "duplicates": 40, "errors": 1}
    with nd.Index(tmp_path / "i") as index:
        assert len(index) == 81


@pytest.mark.slow
def test_crawlers_that_share_a_service(site, tmp_path):
    pytest.importorskip("neardup.http.client", reason="this version has no client of a service")
    pytest.importorskip("granian", reason="the extra `service` is not installed")
    address, asked = site
    other = address.replace("127.0.0.1", "localhost")
    with serving("serve", str(tmp_path / "i"), "--port", "0") as service:
        settings = {**ITEMS, **LINKS, "NEARDUP_SERVICE": service.url}
        asked.clear()
        report, log = crawl(f"{address}/", **settings)
        assert paths(report["kept"], address) == sorted(ORIGINALS), log
        assert sorted(asked) == sorted(ORIGINALS | MIRRORED)
        again, _ = crawl(f"{other}/", **settings)
        assert again["dropped"] == [[f"{other}/", f"{address}/", 1.0]]
    # The service has stopped: the crawl continues, and logs that it cannot know duplicates.
    report, log = crawl(f"{address}/shop/1", **LINKS, NEARDUP_SERVICE=settings["NEARDUP_SERVICE"])
    assert counts(report) == {"not_judged_yet": 2, "not_judged": 2}
    assert "the service does not answer" in log and "2 pages were kept and not judged" in log


@pytest.mark.slow
def test_a_service_that_is_away_for_a_while(tmp_path):
    """Pages that come meanwhile are kept at once and stored when the service is back: copies of them are known then."""
    pytest.importorskip("granian", reason="the extra `service` is not installed")
    stats = Counters()
    texts = [prose(f"text {number}") for number in range(30)]

    async def ask(judge: Judge, name: str, some: list[str]) -> list[Verdict | None]:
        return await asyncio.gather(
            *(judge.judge(Page(f"{name}/{n}", text=text)) for n, text in enumerate(some))
        )

    async def crawl_through_an_outage() -> None:
        with serving("serve", str(tmp_path / "i"), "--port", "0") as service:
            port = service.url.rpartition(":")[2]
            options = Options(service=service.url)
            judge = Judge(options, open_memory(options), stats)
            assert all(verdict and verdict.new for verdict in await ask(judge, "before", texts[:10]))
        try:
            for number in range(5):  # far more requests than one would wait for one by one
                assert await ask(judge, f"away{number}", texts[10 + number :]) == [None] * (20 - number)
            with serving("serve", str(tmp_path / "i"), "--port", port):
                late = None
                while late is None:  # until the breaker lets a request through
                    (late,) = await ask(judge, "after", [prose("another text")])
                assert late.new
                copies = await ask(judge, "copies", texts)
                assert all(verdict and not verdict.new for verdict in copies)
                await judge.close()
        except BaseException:
            await judge.close()
            raise

    asyncio.run(crawl_through_an_outage())
    assert stats["not_judged_yet"] >= 90 and stats["judged_later"] == stats["not_judged_yet"]
    assert stats["duplicates_found_later"] == 70 and "not_judged" not in stats
    assert stats["new"] == 11 and stats["duplicates"] == 30
