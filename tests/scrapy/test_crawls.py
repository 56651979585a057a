"""Real crawls of a real site: mirrored pages are dropped, and the pages they link to are never requested; templated
pages are kept."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from support.command import serving
from support.site import GOODS, PAGES, build, prose, served

import neardup as nd
from neardup.scrapy.judge import Judge, Page
from neardup.scrapy.options import Options
from neardup.scrapy.seen_store import Verdict, open_memory

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
ITEMS = {"ITEM_PIPELINES": {"neardup.scrapy.NearDuplicateItems": 300}}
LINKS = {"SPIDER_MIDDLEWARES": {"neardup.scrapy.NearDuplicateLinks": 50}}
ORIGINALS = {"/", "/mirror/", "/shop/"}
ORIGINALS |= {f"/site/{name}{more}" for name in PAGES for more in ("", "/more")}
ORIGINALS |= {f"/shop/{name}{more}" for name in GOODS for more in ("", "/reviews")}
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


def test_the_spider_of_the_documentation(site, tmp_path):
    """The one in docs/how-to/scrapy.md, run by Scrapy's command: one page of each pair is kept, and its links."""
    address, _ = site
    page = (HERE.parents[1] / "docs" / "how-to" / "scrapy.md").read_text()
    spider = page.partition("```python\n")[2].partition("```")[0]
    assert "https://example.org/" in spider
    (tmp_path / "pages.py").write_text(spider.replace("https://example.org/", f"{address}/"))
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "runspider", "pages.py", "-O", "pages.jsonl"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    kept = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    pages = [item["url"].removeprefix(address).replace("mirror/", "site/", 1) for item in kept]
    assert sorted(pages) == sorted(path.replace("mirror/", "site/", 1) for path in ORIGINALS)
    assert re.search(r"WARNING: Dropped: near-duplicate of http://\S+, similarity 0\.9\d\d\n", done.stderr)
    assert "'neardup/duplicates': 8" in done.stderr


def test_items_alone_marked(site, tmp_path):
    """Without the middleware items are judged by their own text, and the crawl goes everywhere."""
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
    """An id that no index takes, pages the parser has no time for: the crawl goes on with them and says so."""
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

    # Whatever the machine is busy with: elements this deep keep the parser for minutes, and it has half a second.
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

    def inc_value(self, name: str) -> None:
        self[name.removeprefix("neardup/")] += 1


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
    assert counts(report) == {"errors": 2} and "may be a duplicate" in log
