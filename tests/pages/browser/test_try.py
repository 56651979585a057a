"""The Try-it page, with `neardup try` and with an index behind it."""

import signal

import httpx
import pytest
from playwright.sync_api import Page, expect
from support.command import serving
from support.reviewing import reviewed, scanned
from support.serving import served

PHONE, WALL = {"width": 390, "height": 844}, {"width": 3840, "height": 2160}
BAD = "<img src=x onerror=alert(1)><script>alert(2)</script> \u202eevil\u202c"
WORDS = "the tide tables for the harbour are printed every spring and sold at the kiosk beside the pier"


@pytest.fixture(scope="module")
def alone():
    """`neardup try`: no index."""
    with serving("try", "--no-open") as server:
        yield server.url
        assert server.stop(signal.SIGINT) == 0
    assert server.logs == []


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    with served(tmp_path_factory.mktemp("try") / "index.nd") as server:
        for id_, text in (("tides", WORDS), (f"x/{BAD}", f"{BAD} {WORDS} {WORDS[:40]}")):
            httpx.post(f"{server.url}/v1/seen", json={"id": id_, "text": text}, trust_env=False)
        yield server.url


def fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize(
    "options", [{}, {"dark": True}, {"size": PHONE}, {"size": WALL}], ids=["desk", "dark", "phone", "wall"]
)
def test_an_example_is_explained_everywhere(alone, open_page, axe, options):
    page = open_page(alone, **options)
    page.get_by_role("button", name="One word changed").click()
    expect(page.get_by_role("heading", name="Near-duplicates")).to_be_visible()
    assert page.locator(".bits .bit").count() == 128
    assert page.locator(".bits .weak").count() == 16
    assert fits(page)
    if "size" not in options:  # the same elements in other sizes
        axe(page)


def test_what_is_shown_is_what_the_service_says(alone, open_page):
    page = open_page(alone)
    left, right = WORDS, WORDS.replace("spring", "autumn")
    page.get_by_role("textbox", name="First text").fill(left)
    page.get_by_role("textbox", name="Second text").fill(right)
    page.get_by_role("button", name="Compare").click()
    response = httpx.post(f"{alone}/v1/try", json={"left": left, "right": right}, trust_env=False).json()
    pair = response["pair"]
    expect(page.get_by_role("heading", name="Different")).to_be_visible()
    expect(page.locator(".verdict td.big").first).to_have_text(f"{pair['jaccard']:.3f}")
    bits = "".join(page.locator(".code").first.locator(".bit").all_inner_texts())
    assert bits == response["left"]["bits"]
    assert page.locator(".code").first.locator(".apart").count() == pair["distance"]
    assert page.locator(".probes tbody tr").count() == len(response["flips"])
    assert page.locator(".place.same").count() == pair["equal"]
    assert page.locator(".band.equal").count() == sum(band["whole"] for band in pair["bands"])
    assert page.locator("del").all_inner_texts() == ["spring"] and page.locator("ins").all_inner_texts() == [
        "autumn"
    ]


def test_the_threshold_changes_the_verdict_and_the_keyboard_asks(alone, open_page):
    page = open_page(alone)
    page.get_by_role("textbox", name="First text").fill(WORDS)
    page.get_by_role("textbox", name="Second text").fill(WORDS.replace("spring", "autumn"))
    page.get_by_role("textbox", name="Second text").press("Control+Enter")
    expect(page.get_by_role("heading", name="Different")).to_be_visible()
    page.get_by_label("Threshold").fill("0.4")
    page.get_by_label("Threshold").dispatch_event("change")
    expect(page.get_by_role("heading", name="Near-duplicates")).to_be_visible()


def test_hostile_texts_are_shown_and_never_run(alone, open_page, axe):
    page = open_page(alone)
    page.get_by_role("textbox", name="First text").fill(f"{BAD} {WORDS}")
    page.get_by_role("textbox", name="Second text").fill(f"{WORDS} {BAD} \x07 {'y' * 100_000}")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".bands")).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    assert fits(page)
    axe(page)


def test_nothing_is_asked_for_nothing_and_words_are_needed(alone, open_page):
    page = open_page(alone)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("Paste two texts")
    page.get_by_role("textbox", name="First text").fill("... !!!")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#result")).to_contain_text("A text without words has no fingerprint")
    assert not page.get_by_role("button", name="One text and the index").is_visible()


def test_a_text_is_looked_up_in_the_index_and_compared(indexed, open_page, axe):
    page = open_page(f"{indexed}/try")
    page.get_by_role("button", name="One text and the index").click()
    page.get_by_role("textbox", name="First text").fill(WORDS + "!")
    page.get_by_role("button", name="Look it up").click()
    expect(page.get_by_role("heading", name="in the index")).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Compare with tides").click()
    expect(page.get_by_role("heading", name="The same words")).to_be_visible()
    assert page.get_by_role("textbox", name="Second text").input_value() == WORDS
    page.get_by_role("button", name="One text and the index").click()
    page.get_by_role("textbox", name="First text").fill(
        "beans are sown in a sheltered bed as soon as the soil can be worked at all"
    )
    page.get_by_role("button", name="Look it up").click()
    expect(page.get_by_role("heading", name="New: nothing in the index")).to_be_visible()


def test_a_hostile_id_is_a_name(indexed, open_page):
    page = open_page(f"{indexed}/try")
    page.get_by_role("button", name="One text and the index").click()
    page.get_by_role("textbox", name="First text").fill(f"{BAD} {WORDS} {WORDS[:40]}")
    page.get_by_role("button", name="Look it up").click()
    expect(page.locator("#hits th", has_text="<script>alert(2)</script>")).to_be_visible()
    assert page.locator("#hits img").count() == 0
    page.locator("#hits tr", has_text="<script>").get_by_role("button").click()
    expect(page.get_by_role("heading", name="Identical")).to_be_visible()


def test_a_service_that_is_gone_is_reported(open_page, watch, tmp_path):
    watch.expected += ["ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"]
    with served(tmp_path / "index.nd") as server:
        page = open_page(f"{server.url}/try")
        expect(page.get_by_role("button", name="One text and the index")).to_be_visible()
    page.get_by_role("button", name="One word changed").click()
    expect(page.get_by_role("alert")).to_contain_text("does not answer")


def test_a_review_has_it_too(open_page, tmp_path):
    with reviewed(scanned(tmp_path)) as server, open_page:
        page = open_page(server.url)
        page.get_by_role("link", name="Try it").click()
        page.get_by_role("button", name="Two words changed").click()
        expect(page.get_by_role("heading", name="Different")).to_be_visible()
        assert not page.get_by_role("button", name="One text and the index").is_visible()
        page.get_by_role("link", name="Review").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
