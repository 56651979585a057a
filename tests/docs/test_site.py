"""The site builds without a warning, holds together, asks no other host, and its search finds pages."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from tools.site.check import check_site

ROOT = Path(__file__).parents[2]
SOURCES = ("docs", "src", "core", "tools/site")
NOT_SOURCES = {"", ".pyc"}  # folders, in which a file of Python's cache may be new


def newer_than_its_sources(mark: Path, root: Path) -> bool:
    """Whether `make docs` has passed after the last change of what the site is made of."""
    if not mark.exists():
        return False
    made = mark.stat().st_mtime
    sources = [*root.glob("*.*"), *(path for name in SOURCES for path in (root / name).rglob("*"))]
    return all(path.stat().st_mtime < made for path in sources if path.suffix not in NOT_SOURCES)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; warnings of mkdocs are errors. It is built here, except where `make docs` has just done that."""
    if newer_than_its_sources(ROOT / "build" / "site.passed", ROOT):
        return ROOT / "build" / "site"
    pytest.importorskip("mkdocstrings", reason="the extra `docs` is not installed; make docs installs it")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def test_a_site_is_used_again_only_if_nothing_changed_since(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    page, code = tmp_path / "docs" / "index.md", tmp_path / "src" / "scan.py"
    settings, mark = tmp_path / "mkdocs.yml", tmp_path / "build" / "passed"
    for path in (page, code, settings):
        path.touch()
        os.utime(path, (1000, 1000))
    assert not newer_than_its_sources(mark, tmp_path)
    mark.parent.mkdir()
    mark.touch()
    os.utime(mark, (1001, 1001))
    assert newer_than_its_sources(mark, tmp_path)
    for path in (page, code, settings):
        os.utime(path, (1002, 1002))
        assert not newer_than_its_sources(mark, tmp_path)
        os.utime(path, (1000, 1000))
    assert newer_than_its_sources(mark, tmp_path)


@pytest.mark.slow
def test_links_lead_somewhere_and_no_other_host_is_asked(site):
    assert check_site(site) == []


@pytest.mark.slow
def test_reference_is_made_from_the_code(site):
    commands = (site / "reference" / "commands" / "index.html").read_text("utf-8")
    assert "neardup index recover" in commands and "--allow-mass-removal" in commands
    names = (site / "reference" / "python" / "index.html").read_text("utf-8")
    assert 'id="neardup.dedup.dedup"' in names and 'id="neardup.index.api.Index.seen"' in names
    client = (site / "reference" / "python" / "http-client" / "index.html").read_text("utf-8")
    assert 'id="neardup.http.client.retry.Retry"' in client and "sent again" in client
    assert 'id="neardup.spark.run.dedup"' in (site / "reference/python/spark/index.html").read_text("utf-8")
    settings = (site / "reference" / "config" / "index.html").read_text("utf-8")
    assert "allow_rejects" not in settings and "recall" in settings and "casefold" in settings
    assert "POST /v1/seen" in (site / "reference" / "http" / "index.html").read_text("utf-8")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """No line for each request."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_search_works_without_any_other_host(address, chromium):
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra `test` is not installed")
    asked: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.locator("label[for=__search]").first.click()
        page.locator(".md-search__input").fill("contamination")
        found = page.locator(".md-search-result__link", has_text="contamination").first
        found.wait_for(timeout=60_000)
        found.click()
        page.wait_for_url("**/contamination/**", timeout=60_000)
        wide = page.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert wide <= 390, "the page is wider than a phone"
    others = [
        url for url in asked if urlsplit(url).scheme in ("http", "https") and not url.startswith(address)
    ]
    assert not others


def test_every_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = yaml.safe_load(text)["nav"]
    listed = set(_paths(nav))
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.startswith("inside/decisions/0")} <= listed


def _paths(item: object) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, list):
        for part in item:
            yield from _paths(part)
    elif isinstance(item, dict):
        for part in item.values():
            yield from _paths(part)


def test_check_names_what_is_wrong(tmp_path):
    (tmp_path / "style.css").write_text(
        "@import 'https://fonts.example/a.css'; p { background: url(//b.example/x.png) }"
    )
    (tmp_path / "index.html").write_text(
        '<p id="here"></p><a href="#here"></a><a href="#there"></a><a href="gone.html"></a><a href="other/#x"></a>'
        '<script src="https://cdn.example/a.js"></script><link rel="canonical" href="https://own.example/">'
        '<a href="https://elsewhere.example/">a link may lead elsewhere</a>'
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text('<p id="x"></p><img src="missing.png">')
    assert check_site(tmp_path) == [
        "index.html loads https://cdn.example/a.js from another host",
        "index.html links to #there: there is no such heading",
        "index.html links to gone.html: there is no such file",
        "other/index.html links to missing.png: there is no such file",
        "style.css loads https://fonts.example/a.css from another host",
        "style.css loads //b.example/x.png from another host",
    ]
    (tmp_path / "empty").mkdir()
    assert "holds no pages" in check_site(tmp_path / "empty")[0]


def test_docstrings_become_tables_and_code():
    pytest.importorskip("griffe", reason="the extra `docs` is not installed; make docs installs it")
    from tools.site.docstrings import with_tables

    text = "A sentence.\n\npath    the folder,\n        or an address\nseed    a number\n\n>>> 1 + 1\n2"
    assert with_tables(text) == (
        "A sentence.\n\n| name | meaning |\n|---|---|\n| `path` | the folder, or an address |\n| `seed` | a number |"
        "\n\n```pycon\n>>> 1 + 1\n2\n```"
    )
