"""Spiders that share what they have seen: two crawls of one site at once, with one index on a server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.redis import Server
from support.site import GOODS, PAGES, build, served

import neardup as nd
from neardup.scrapy.options import Options

pytest.importorskip("scrapy")
pytestmark = [pytest.mark.process, pytest.mark.slow]

CRAWL = Path(__file__).parents[2] / "scrapy" / "crawl.py"
PLUGINS = {
    "ITEM_PIPELINES": {"neardup.scrapy.NearDuplicateItems": 300},
    "SPIDER_MIDDLEWARES": {"neardup.scrapy.NearDuplicateLinks": 50},
}


def started(start: str, **settings: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, CRAWL, json.dumps([start]), json.dumps(PLUGINS | settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    out, log = process.communicate(timeout=600)
    assert process.returncode == 0, log
    return json.loads(out), log


def test_two_crawls_at_once(address: Callable[..., str]) -> None:
    """Under two names the site is one: each page is kept by exactly one of the crawls, and none is lost."""
    index = address(expected=1000)
    with served(build()) as (site, asked):
        other = site.replace("127.0.0.1", "localhost")
        # Links are followed, so that both crawls visit every page.
        crawls = [started(f"{s}/", NEARDUP_INDEX=index, NEARDUP_DROP_LINKS=False) for s in (site, other)]
        reported = [ended(crawl)[0] for crawl in crawls]
        kept = [
            item["url"].removeprefix(site).removeprefix(other) for one in reported for item in one["kept"]
        ]
        pages = {path for path in asked if not path.startswith("/mirror/")} | {"/mirror/"}
        # Of a page and its mirror one was first, whichever it was.
        assert len(kept) == len(set(kept)) == len(pages)
        assert {path.replace("/mirror/", "/site/") for path in kept} == {
            p.replace("/mirror/", "/site/") for p in pages
        }
        assert len(pages) == 3 + 2 * len(PAGES) + 2 * len(GOODS)
        with nd.Index(index, mode="read") as seen:
            assert len(seen) == sum(one["stats"]["neardup/seen"] for one in reported)
            assert seen.stats().keepers == len(pages)
            assert seen.verify().problems == ()

        # A third, later, finds everything known: it ends at the door.
        asked.clear()
        last, _ = ended(started(f"{site.replace('127.0.0.1', '127.1')}/", NEARDUP_INDEX=index))
        assert last["kept"] == []
        assert asked == ["/"]


def test_a_server_that_is_not_there(server: Server) -> None:
    """Said at the start, without the password; the crawl does not go on as if nothing had been seen."""
    crawl = started("http://127.0.0.1:1/", NEARDUP_INDEX="redis://crawler:hunter2@127.0.0.1:1/0?timeout=0.2")
    out, log = crawl.communicate(timeout=600)
    assert "no answer" in log
    assert "hunter2" not in out + log
    assert "hunter2" not in repr(Options(index="redis://crawler:hunter2@127.0.0.1:1/0"))
