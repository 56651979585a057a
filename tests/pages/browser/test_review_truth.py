"""The review page says what is true, also about large, identical and replaced documents; in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytest.importorskip("granian", reason="the extra `review` is not installed")

from support.reviewing import documents, ferry, reviewed, scanned

from neardup.findings import Findings, read_decisions

from .test_review import go

PRICE = "The contract of the northern ferry says 1,500 and 200 in C# for each day of the year."


def same_words(folder) -> Findings:
    other = PRICE.replace("1,500 and 200 in C#", "1.500 and -200 in C++")
    rows = [("first", PRICE), ("other", other), ("copy", PRICE)]
    return scanned(folder, [{"id": id, "text": text, "site": "s"} for id, text in rows])


def test_each_document_shows_its_own_text(tmp_path, open_page):
    found = same_words(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, f"#/compare/{found.row_of('first')}/{found.row_of('other')}")
        expect(page.locator(".sides .left")).to_contain_text("1.500 and -200 in C++")  # longer, so it is kept
        expect(page.locator(".sides .right")).to_contain_text("1,500 and 200 in C#")
        expect(page.locator(".sides ins").first).to_be_visible()
        expect(page.locator(".note")).to_contain_text("same words")
        go(page, f"#/compare/{found.row_of('first')}/{found.row_of('copy')}")
        expect(page.locator(".note").first).to_contain_text("identical, character by character")
        expect(page.locator("#differing")).to_have_text("no difference")


def test_a_difference_at_the_end_of_long_texts_is_shown(tmp_path, open_page):
    words = [f"w{n}" for n in range(90_000)]
    rows = [("one", [*words, "the", "end"]), ("two", [*words, "no", "end"])]
    found = scanned(tmp_path, [{"id": id, "text": " ".join(text), "site": "s"} for id, text in rows])
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, f"#/compare/{found.row_of('one')}/{found.row_of('two')}")
        expect(page.locator(".sides del")).to_have_text("the", timeout=120_000)
        expect(page.locator("#differing")).to_contain_text("1 word only left, 1 word only right; 1 of")
        lines = page.locator(".sides .pair").count()
        page.locator(".fold button").click()
        expect(page.locator(".sides .pair").nth(lines + 500)).to_be_attached()


def test_a_cluster_of_more_than_200_is_walked_whole(tmp_path, open_page):
    rows = [{"id": str(n), "text": f"{ferry(1)} number {n}", "site": "s"} for n in range(230)]
    found = scanned(tmp_path, rows)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, "#/clusters")
        page.locator(".primary-link").click()
        expect(page.locator("#compare")).to_contain_text("pair 1 of 229")
        page.keyboard.press("k")
        expect(page.locator("#said")).to_contain_text("first pair")


def test_a_rescan_under_an_open_page(tmp_path, open_page, watch):
    watch.expected.append("409")
    found = scanned(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        a, near = found.row_of("a"), found.row_of("a-near")
        go(page, f"#/compare/{a}/{near}")
        expect(page.locator("#verdict")).to_be_visible()
        page.keyboard.press("r")
        expect(page.locator("#progress")).to_have_text("1 decision")
        rows = [{"id": "new", "text": ferry(5), "site": "s"}, *documents()]
        again = scanned(tmp_path, rows, overwrite=True)
        expect(page.locator("#replaced")).to_be_visible()
        page.keyboard.press("a")
        expect(page.locator("#replaced")).to_contain_text("not saved")
        assert not len(read_decisions(again))  # nothing was written, and apply can read the log
        page.get_by_role("button", name="Reload").click()
        expect(page.locator("#progress")).to_have_text("0 decisions")
        expect(page.locator("#overview")).to_contain_text("decisions-1.jsonl")
        go(page, f"#/compare/{again.row_of('a')}/{again.row_of('a-near')}")
        expect(page.locator("#verdict")).to_be_visible()
        page.keyboard.press("r")
        expect(page.locator("#progress")).to_have_text("1 decision")


def test_several_decisions_are_undone(tmp_path, open_page):
    found = scanned(tmp_path)
    a, near, b, far = (found.row_of(id) for id in ("a", "a-near", "b", "b-far"))
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        for left, right, key in ((a, near, "a"), (b, far, "r"), (a, near, "r")):
            go(page, f"#/compare/{left}/{right}")
            expect(page.locator(".heads")).to_contain_text("a-near" if left == a else "b-far")
            page.keyboard.press(key)
            expect(page.locator("#verdict")).to_contain_text("You")
            expect(page.locator("#verdict")).to_contain_text("accepted" if key == "a" else "rejected")
        page.reload()
        expect(page.locator("#verdict")).to_be_visible()
        page.keyboard.press("o")
        expect(page.locator(".numbers")).to_be_visible()
        page.keyboard.press("u")  # from any view; the pair is shown
        expect(page.locator("#verdict")).to_contain_text("You accepted")
        expect(page.locator(".heads")).to_contain_text("a-near")
        page.keyboard.press("u")
        expect(page.locator(".heads")).to_contain_text("b-far")
        expect(page.locator("#verdict")).to_contain_text("Not decided yet")
        page.keyboard.press("u")
        expect(page.locator("#progress")).to_have_text("0 decisions")
        page.keyboard.press("u")
        expect(page.locator("#said")).to_contain_text("no decision to undo")


def test_enter_after_a_click_and_filters(tmp_path, open_page):
    found = scanned(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, "#/clusters")
        page.locator(".pick", has_text="b").first.click()
        page.locator("#search").fill("a-near")
        expect(page.locator(".pick")).to_have_count(1)
        expect(page.locator(".detail")).to_contain_text("a-near")  # the detail follows the filter
        page.locator(".pick").click()
        page.keyboard.press("Enter")
        expect(page.locator("#verdict")).to_be_visible()


def test_a_moved_slider_sends_one_request(tmp_path, open_page):
    found = scanned(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        a, near = found.row_of("a"), found.row_of("a-near")
        go(page, f"#/compare/{a}/{near}")
        expect(page.locator("#verdict")).to_be_visible()
        sent: list[str] = []
        page.on("request", lambda request: "/api/compare" in request.url and sent.append(request.url))
        with page.expect_request("**/api/compare**", timeout=60_000):
            page.evaluate(
                """() => {
                  const slider = document.getElementById("slider");
                  for (let step = 0; step < 20; step += 1) {
                    slider.value = slider.valueAsNumber - 1;
                    slider.dispatchEvent(new Event("input"));
                  }
                }"""
            )
        page.wait_for_timeout(500)  # others would follow now
        assert len(sent) == 1


def test_a_page_that_is_not_there_is_for_people(tmp_path, open_page, watch):
    watch.expected += ["404", "401"]
    with reviewed(scanned(tmp_path)) as server, open_page:
        page = open_page(f"{server.base}/nothing/here")
        expect(page.locator("h1")).to_have_text("This page needs a key")
        page.get_by_role("link", name="Go to the start page").click()
        expect(page.get_by_role("alert")).to_contain_text("open the address that")


def test_a_decision_leads_to_the_next_pair(tmp_path, open_page):
    found = scanned(tmp_path)
    b, far = found.row_of("b"), found.row_of("b-far")
    with reviewed(found) as server, open_page:
        page = open_page(server.url, advance=True)
        go(page, f"#/compare/{b}/{far}")
        expect(page.locator("#verdict")).to_be_visible()
        page.get_by_role("button", name="Keep both").click()
        expect(page.locator(".heads")).to_contain_text("b-near")
        page.keyboard.press("u")
        expect(page.locator(".heads")).to_contain_text("b-far")
        page.locator("#advance").uncheck()
        page.keyboard.press("r")
        expect(page.locator("#verdict")).to_contain_text("You rejected")


def test_the_address_shows_the_same_again(tmp_path, open_page):
    found = scanned(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        expect(page.locator("#brief")).not_to_be_empty()
        page.keyboard.press("]")
        page.locator("#to-clusters").click()
        page.locator("#by-order").select_option("size")
        page.locator("#search").fill("b-near")
        expect(page.locator(".pick")).to_have_count(1)
        expect(page).to_have_url(re.compile("threshold=0.81"))
        link = page.url
        page.reload()
        other = page.context.new_page()
        other.goto(link)
        for one in (page, other):
            expect(one.locator("#at")).to_have_text("0.81")
            expect(one.locator("#search")).to_have_value("b-near")
            expect(one.locator("#by-order")).to_have_value("size")
            expect(one.locator(".pick")).to_have_count(1)


@pytest.mark.parametrize("format", ["CSV", "JSONL"])
def test_a_list_is_exported(tmp_path, open_page, watch, format):
    watch.expected.append("download: blob:")
    rows = [{"id": f"={n}", "text": f"{ferry(1)} number {n}", "site": "s"} for n in range(3)]
    with reviewed(scanned(tmp_path, rows)) as server, open_page:
        page = open_page(server.url)
        go(page, "#/clusters")
        expect(page.locator(".pick")).to_have_count(1)
        with page.expect_download() as download:
            page.get_by_role("button", name=format, exact=True).click()
        text = download.value.path().read_text()
        assert text.count("dropped") == 2 and text.count("kept") == 1
        assert ("'=1" in text) == (format == "CSV")  # a spreadsheet does not run it
