"""A real Chromium for the pages. Whatever a page does wrong in it fails the test: errors in the console, uncaught
exceptions, breaches of the Content-Security-Policy, failed requests, and requests to any host but the page's own."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright", reason="the extra `test` is not installed")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

expect.set_options(timeout=60_000)  # five seconds are too few on a busy machine

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
WALL = {"width": 3840, "height": 2160}


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for the tests of a file; each page has a context of its own. Playwright keeps an event loop
    running in this thread as long as it is open, which other tests cannot have."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


class Watch:
    """What went wrong in the pages of a test. `expected` holds parts of messages that the test provokes itself."""

    def __init__(self) -> None:
        self.troubles: list[str] = []
        self.expected: list[str] = []

    def follow(self, page: Page) -> None:
        page.on(
            "console",
            lambda message: message.type in ("error", "warning") and self._note(f"console: {message.text}"),
        )
        page.on("pageerror", lambda error: self._note(f"page: {error}"))
        page.on("request", lambda asked: self._check_host(page, asked.url))
        page.on("dialog", lambda dialog: (self._note(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("download", lambda download: self._note(f"download: {download.url}"))

    def _check_host(self, page: Page, url: str) -> None:
        asked, own = urlsplit(url), urlsplit(page.url)
        if asked.scheme in ("data", "blob"):
            return
        if own.scheme in ("http", "https", "file") and (asked.scheme, asked.netloc) != (
            own.scheme,
            own.netloc,
        ):
            self._note(f"request to {url} from {page.url}")

    def _note(self, trouble: str) -> None:
        if not any(part in trouble for part in self.expected):
            self.troubles.append(trouble)


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Fails the test at its end if anything went wrong in its pages."""
    watch = Watch()
    yield watch
    assert not watch.troubles, "\n".join(watch.troubles)


class Pages:
    """`open_page(url, size=PHONE, dark=True)`: a watched page in a context of its own.

    Pages ask their server from time to time, so they must be gone before it is: in a test that starts one of its own,
    `with served(...) as server, open_page:` closes them first.
    """

    def __init__(self, browser: Browser, watch: Watch) -> None:
        self._browser, self._watch = browser, watch
        self._contexts: list[BrowserContext] = []

    def __call__(
        self,
        url: str | None = None,
        *,
        size: dict | None = None,
        dark: bool = False,
        advance: bool = False,
        **options,
    ) -> Page:
        scheme = "dark" if dark else "light"
        context = self._browser.new_context(viewport=size or DESK, color_scheme=scheme, **options)
        context.set_default_timeout(120_000)
        if not advance and url is not None and "#token=" in url:
            # The page of a review; most tests look at the pair that they have decided about.
            context.add_init_script("try { localStorage.setItem('neardup-advance', 'no') } catch {}")
        self._contexts.append(context)
        page = context.new_page()
        self._watch.follow(page)
        context.on("page", lambda other: other is not page and self._watch.follow(other))
        if url is not None:
            page.goto(url)
        return page

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *_: object) -> None:
        while self._contexts:
            self._contexts.pop().close()


@pytest.fixture
def open_page(browser: Browser, watch: Watch) -> Iterator[Pages]:
    """Opens pages, which are closed at the end at the latest."""
    with Pages(browser, watch) as pages:
        yield pages


@pytest.fixture
def axe():
    """`axe(page)`: no serious or critical finding of accessibility."""

    def check(page: Page, **options) -> None:
        found = Axe().run(page, **options).response["violations"]
        bad = [one for one in found if one["impact"] in ("serious", "critical")]
        problems = [f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:300]}" for one in bad]
        assert not bad, "\n".join(problems)

    return check


def fits(page: Page) -> None:
    """Nothing sticks out at the side: a page never scrolls sideways."""
    wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide[0] <= wide[1], f"the page is {wide[0]} wide in a window of {wide[1]}"
