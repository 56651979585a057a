"""The report in a real browser: from a file, with nothing to fetch."""

import json

import pytest
from playwright.sync_api import Page

import neardup as nd
from neardup.sample import path as sample

PHONE, WALL = {"width": 390, "height": 844}, {"width": 3840, "height": 2160}
BAD = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\x00"


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    nd.report(nd.scan([sample()], folder / "s.findings", nd.Config.of(floor=0.7)), folder / "sample.html")
    words = " ".join(f"word{i}" for i in range(150))
    with (folder / "bad.jsonl").open("w") as file:
        for i in range(6):
            line = {"id": f"{BAD}{i}", "text": f"{BAD} {words} {BAD} {i} " + "y" * 1_000_000 * (i == 3)}
            file.write(json.dumps(line | {"site": f"{BAD}{i % 2}"}) + "\n")
    found = nd.scan([folder / "bad.jsonl"], folder / "b.findings", nd.Config(keep=nd.Keep(source="site")))
    nd.report(found, folder / "bad.html")
    return {name: (folder / f"{name}.html").as_uri() for name in ("sample", "bad")}


def wide(page: Page) -> list[int]:
    return page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")


@pytest.mark.parametrize(
    "options", [{}, {"dark": True}, {"size": PHONE}, {"size": WALL}], ids=["desk", "dark", "phone", "wall"]
)
def test_it_is_readable_everywhere(reports, open_page, axe, options):
    page = open_page(reports["sample"], **options)
    assert page.get_by_role("heading", level=1).inner_text() == "Duplicates in pages.jsonl.gz"
    assert page.locator("#verdict svg[role=img]").count() == 1
    assert page.locator("#plots svg[role=img]").count() == 4
    assert [kind.locator("article").count() for kind in page.locator(".kind").all()] == [5, 5, 5]
    scroll, window = wide(page)
    assert scroll <= window
    if "size" not in options:  # the same elements in other sizes
        axe(page)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(16, 19, 23)" if options.get("dark") else "rgb(245, 246, 248)")


def test_a_plot_is_also_a_table(reports, open_page):
    page = open_page(reports["sample"])
    plot = page.locator("figure", has_text="What another threshold would do")
    plot.get_by_text("As a table").click()
    assert plot.get_by_role("row", name="0.8 91 67").is_visible()


def test_hostile_words_remain_words(reports, open_page, axe):
    page = open_page(reports["bad"])
    assert page.locator("main img, main script").count() == 0
    assert page.locator(".begins", has_text="<script>alert(2)</script>").first.is_visible()
    assert page.locator(".mark", has_text="U+202E").first.is_visible()
    scroll, window = wide(page)
    assert scroll <= window
    axe(page)


def test_it_prints(reports, open_page):
    """On paper it is dark on white for any screen, nothing is sticky, and clusters are not cut in two."""
    page = open_page(reports["sample"], dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.querySelector('.bar-top')).position") == "static"
    assert page.evaluate("getComputedStyle(document.querySelector('article')).breakInside") == "avoid-page"
    # A browser draws a grid that is broken across pages over itself: a cluster longer than a page is no grid.
    assert page.evaluate("getComputedStyle(document.querySelector('article')).display") == "block"
    assert not page.locator("nav").is_visible()
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF") and 20_000 < len(paper) < 2_000_000
