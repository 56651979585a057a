"""The live page over a real index."""

import re

import httpx
import pytest
from playwright.sync_api import expect
from support.serving import served

PHONE, WALL = {"width": 390, "height": 844}, {"width": 3840, "height": 2160}
BAD = "<img src=x onerror=alert(1)>\u202e<script>alert(2)</script>"
WORDS = "the tide tables for the harbour are printed every spring and sold at the kiosk beside the pier"
TOKEN = "a-token-of-sixteen-or-more"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("live") / "index.nd") as server:
        yield server


def put(server, *ids):
    for id_ in ids:
        answer = httpx.post(f"{server.url}/v1/seen", json={"id": id_, "text": WORDS}, trust_env=False)
        assert answer.status_code == 200


def test_an_empty_index_says_what_to_do(server, open_page, axe):
    page = open_page(server.url)
    expect(page.get_by_role("status")).to_have_text("ready")
    expect(page.get_by_text("No duplicate yet")).to_be_visible()
    assert "curl" in page.locator("pre").inner_text()
    axe(page)


@pytest.mark.parametrize(
    "options", [{}, {"dark": True}, {"size": PHONE}, {"size": WALL}], ids=["desk", "dark", "phone", "wall"]
)
def test_numbers_and_hits(server, open_page, axe, options):
    put(server, "first", BAD, "y" * 5000)
    page = open_page(server.url, **options)
    expect(page.locator(".hits tbody tr").nth(1)).to_be_visible()
    live = httpx.get(f"{server.url}/v1/live", trust_env=False).json()
    shown = page.locator(".numbers dd:first-of-type").all_inner_texts()
    assert shown[0] == f"{live['index']['documents']:,}"
    assert shown[1] == f"{live['new'] + live['duplicates']:,}"
    assert shown[2] == f"{100 * live['duplicates'] / (live['new'] + live['duplicates']):.1f}%"
    expect(page.locator(".hits")).to_contain_text("<script>alert(2)</script>")
    expect(page.locator(".hits")).to_contain_text("[U+202E]")
    assert page.locator(".hits img, .hits script").count() == 0
    assert WORDS not in page.content()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    if "size" not in options:  # the same elements in other sizes
        axe(page)


def test_it_follows_what_happens(server, open_page):
    page = open_page(server.url)
    expect(page.locator(".numbers")).to_be_visible()
    page.get_by_text("As a table").click()
    put(server, "follow-a", "follow-b")
    expect(page.locator(".hits tbody tr").first).to_contain_text("follow-b")
    # What the reader has opened remains open, and the focus does not move.
    assert page.locator("details").evaluate("details => details.open")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_token_is_asked_for_and_kept_in_the_tab_alone(open_page, watch, axe, tmp_path):
    watch.expected.append("401")
    with served(tmp_path / "index.nd", environment={"NEARDUP_TOKEN": TOKEN}) as server, open_page:
        page = open_page(server.url)
        expect(page.get_by_role("heading", name="This service needs a token")).to_be_visible()
        axe(page)
        page.get_by_label("Token").fill("not the one")
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_text("The service refused this token.")).to_be_visible()
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Go on").click()
        expect(page.locator(".numbers")).to_be_visible()
        page.get_by_role("link", name="Try it").click()  # the same tab needs no second time
        expect(page.get_by_role("button", name="One text and the index")).to_be_visible()
        assert TOKEN not in page.url
        assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
        other = open_page(f"{server.url}/try")
        expect(other.get_by_role("heading", name="This service needs a token")).to_be_visible()


def test_a_service_that_ends_is_reported(open_page, watch, tmp_path):
    watch.expected += ["ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "503"]
    with served(tmp_path / "index.nd") as server:
        page = open_page(server.url)
        expect(page.get_by_role("status")).to_have_text("ready")
    expect(page.get_by_role("status")).to_have_text("not reachable")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")


def test_ten_minutes_are_drawn_also_for_a_page_that_is_opened_later(server, open_page, watch):
    put(server, "history-a", "history-b", "history-c")
    bad = httpx.post(f"{server.url}/v1/seen", json={"id": ""}, trust_env=False)
    assert bad.status_code in (400, 422)
    page = open_page(server.url)
    for title in ("Documents taken", "Searches", "Response time", "Errors", "Duplicates"):
        chart = page.locator("figure.chart", has=page.locator("figcaption", has_text=re.compile(f"^{title}")))
        expect(chart.locator("svg.middle text", has_text="now")).to_have_count(1)
        assert chart.locator("svg.middle text").count() == 5  # two heights and three times
    for title in ("Response time", "Errors", "Duplicates"):
        chart = page.locator("figure.chart", has=page.locator("figcaption", has_text=re.compile(f"^{title}")))
        expect(chart.locator("polyline").first).to_be_attached()
    expect(page.locator("figcaption", has_text="Errors")).to_contain_text("refused (4xx)")
    live = httpx.get(f"{server.url}/v1/live", trust_env=False).json()["history"]
    assert sum(one["refused"] for one in live) >= 1 and not any(one["failed"] for one in live)
    assert all(one["p50"] <= one["p99"] for one in live if one["requests"])
