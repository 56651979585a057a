"""The review page answers whether it is safe to delete: verdict, audit, lanes, decisions about many, and learning."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

pytest.importorskip("granian", reason="the extra `review` is not installed")

from support.corpora import write_jsonl
from support.reviewing import ferry, reviewed, scanned

import neardup as nd
from neardup.findings import Findings, decided_cut, read_decisions
from neardup.findings.audit import audited, read_audit
from neardup.findings.scan import scan

from .conftest import PHONE, fits
from .test_review import go, slide


def forty(folder) -> Findings:
    """Twenty pairs; half of them have other numbers."""
    rows = []
    for n in range(20):
        rows += [
            (f"k{n}", ferry(n) + " ends here and now"),
            (f"r{n}", ferry(n) + (" ends here" if n % 2 else f" ends {n}")),
        ]
    return scanned(folder, [{"id": id, "text": text, "site": "s"} for id, text in rows])


def test_an_audit_in_the_page_gives_the_verdict(tmp_path, open_page, axe):
    found = forty(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        expect(page.locator(".question")).to_have_text("Delete 20 of 40 documents?")
        expect(page.locator("#estimate")).to_contain_text("Nobody has judged")
        axe(page)
        page.get_by_role("link", name="Judge random removals").click()
        page.locator("#reviewer").fill("Ada")
        page.locator("#reviewer").press("Tab")
        expect(page.locator("#judge-right")).to_be_visible()
        axe(page)
        for at in range(1, 6):
            page.keyboard.press("a")
            expect(page.locator("#audit-estimate")).to_contain_text(f"from {at} judged removal")
        first = page.locator("#audit-estimate").inner_text()
        page.get_by_role("button", name="Keep both").click()
        expect(page.locator("#audit-estimate")).to_contain_text("from 6 judged removals, 1 of them wrong")
        expect(page.locator("#progress")).to_have_text("1 decision")  # a wrong removal is corrected
        page.keyboard.press("u")
        expect(page.locator("#audit-estimate")).to_have_text(first)
        expect(page.locator("#progress")).to_have_text("0 decisions")
        page.keyboard.press("n")
        expect(page.locator("#audit")).to_contain_text("1 unsure")
        page.locator("#to-overview").click()
        expect(page.locator("#estimate")).to_contain_text("Estimated 100% right (95% interval")
        expect(page.locator(".verdict, #overview")).to_contain_text("by Ada on 20")
    said = audited(found, decided_cut(found))
    assert (said.right, said.wrong, said.unsure, said.names) == (5, 0, 1, ("Ada",))
    assert {answer.name for answer in read_audit(found)} == {"Ada"}


def test_the_lanes_lead_to_their_clusters(tmp_path, open_page, axe):
    with reviewed(forty(tmp_path)) as server, open_page:
        page = open_page(server.url)
        page.get_by_role("link", name="contained in its keeper").click()
        expect(page.locator("#by-lane")).to_have_value("contained")
        expect(page).to_have_url(re.compile("lane=contained"))
        shown = page.locator(".pane-list [role=status]")
        expect(shown).to_contain_text("of 20 clusters")
        expect(page.locator("#by-change option", has_text="words")).to_have_count(1)
        axe(page)


def test_a_filter_is_decided_as_a_whole_and_undone(tmp_path, open_page, axe):
    found = forty(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, "#/clusters?lane=contained")
        page.get_by_text("Decide everything in this list").click()
        page.locator("#bulk-accept").click()
        expect(page.locator("#bulk-do")).to_have_text(re.compile(r"Decide \d+ pairs"))
        many = int(re.sub(r"\D", "", page.locator("#bulk-do").inner_text()))
        assert not len(read_decisions(found))  # a preview changes nothing
        axe(page)
        page.locator("#bulk-do").click()
        expect(page.locator("#progress")).to_have_text(f"{many} decisions")
        assert {decision.how for decision in read_decisions(found)} == {"bulk"}
        page.keyboard.press("u")
        expect(page.locator("#progress")).to_have_text("0 decisions")


def test_the_model_proposes_after_twenty_decisions(tmp_path, open_page, axe):
    found = forty(tmp_path)
    with reviewed(found) as server, open_page:
        for n in range(20):
            server.decide("accept" if n % 2 else "reject", found.row_of(f"k{n}"), found.row_of(f"r{n}"))
        for n in range(1, 9, 2):
            server.decide("clear", found.row_of(f"k{n}"), found.row_of(f"r{n}"))
        assert server.get("verdict", threshold=0.8)["model"] is None  # 16 are too few
        for n in range(1, 9, 2):
            server.decide("accept", found.row_of(f"k{n}"), found.row_of(f"r{n}"))
        model = server.get("verdict", threshold=0.8)["model"]
        assert (model["examples"], model["wrong"], model["proposed"]) == (20, 10, 0)
        page = open_page(server.url)
        expect(page.locator("#estimate")).to_be_visible()
        expect(page.locator("#proposal")).to_have_count(0)  # nothing is left to accept


def test_a_dry_run_shows_every_removal(tmp_path, open_page, axe):
    found = forty(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        page.locator("#try-apply").click()
        expect(page.locator("#dry-run")).to_contain_text(
            "would write 20 documents and leave out 20 duplicates"
        )
        expect(page.locator("#dry-run tbody tr")).to_have_count(20)
        axe(page)


def test_the_audit_on_a_phone(tmp_path, open_page, axe):
    with reviewed(forty(tmp_path)) as server, open_page:
        page = open_page(server.url, size=PHONE, dark=True)
        go(page, "#/audit")
        expect(page.locator("#judge-right")).to_be_visible()
        fits(page)
        axe(page)


def test_wrong_questions_about_many(tmp_path):
    found = forty(tmp_path)
    with reviewed(found) as server, server.client() as client:
        ask = {"threshold": 0.8, "action": "accept", "filter": {}}
        seen = client.post("/api/bulk", json=ask).json()
        assert seen["pairs"] == 20 and len(seen["examples"]) == 5
        late = client.post("/api/bulk", json=ask | {"expected": 19})
        assert late.status_code == 422 and "nothing was decided" in late.json()["reason"]
        for wrong in ({"action": "burn"}, {"proposed": True}, {"action": "keep", "keep": "luck"}):
            assert client.post("/api/bulk", json=ask | wrong).status_code == 422
        lane = json.dumps({"row": 0, "keeper": 1, "lane": "luck", "verdict": "right"})
        assert (
            client.post("/api/audit", content=lane, headers={"content-type": "application/json"}).status_code
            == 422
        )
        assert not len(read_decisions(found)) and not read_audit(found)
        made = client.post("/api/bulk", json=ask | {"expected": 20, "name": "Ada"}).json()
        assert (made["first"], made["last"], made["decisions"]) == (1, 20, 20)
        dry = client.get("/api/dry-run", params={"threshold": 0.8}).json()
        assert (dry["kept"], dry["removed"], len(dry["removals"])) == (20, 20, 20)
        assert client.post("/api/undo", json={"first": 1, "last": 20}).json()["decisions"] == 0


def test_unsure_note_and_differences(tmp_path, open_page, axe):
    found = forty(tmp_path)
    k, r = found.row_of("k1"), found.row_of("r1")
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, f"#/compare/{k}/{r}")
        expect(page.locator("#verdict")).to_be_visible()
        page.get_by_text("Note", exact=True).click()
        page.locator("#note").fill("ask the author")
        page.get_by_role("button", name="Unsure").click()
        expect(page.locator("#verdict")).to_contain_text("unsure")
        expect(page.locator("#note")).to_have_value("ask the author")
        expect(page.locator("#progress")).to_have_text("0 decisions")  # a mark changes nothing
        for look in ("mono", "spaces", "unified", "lines"):
            page.locator(f"#look-{look}").click()
        expect(page.locator(".sides.mono.spaces.unified.lines")).to_be_visible()
        axe(page)
        page.keyboard.press("d")
        expect(page.locator(".pair.here")).to_have_count(1)
        page.reload()
        expect(page.locator(".sides.mono.spaces.unified.lines")).to_be_visible()  # the look is remembered
        go(page, "#/clusters?show=unsure")
        expect(page.locator(".pick")).to_have_count(1)
        page.keyboard.press("?")
        page.locator("#keys-on").uncheck()
        page.locator("#help button").click()
        page.keyboard.press("o")
        expect(page.locator("#clusters")).to_be_visible()  # keys are off
    (mark,) = read_decisions(found).marks.values()
    assert mark.note == "ask the author"


def test_a_range_of_the_histogram_lists_its_removals(tmp_path, open_page):
    found = forty(tmp_path)
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        expect(page.locator("#lossless")).to_be_visible()  # what is above the histogram is drawn
        page.locator("svg.brushed").scroll_into_view_if_needed()
        box = page.locator("svg.brushed").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 40, steps=4)
        page.mouse.up()
        expect(page).to_have_url(re.compile(r"least=0\.9"))
        expect(page.locator("#by-similarity")).to_be_visible()
        expect(page.locator(".pick")).not_to_have_count(0)


def test_a_template_is_a_table(tmp_path, open_page, axe):
    long = " ".join(f"clause{n}" for n in range(80))
    rows = [
        {"id": f"d{n}", "text": f"Order\n\n{long} for {n}x with thanks. {long}y", "site": "s"}
        for n in range(120)
    ]
    with reviewed(scanned(tmp_path, rows)) as server, open_page:
        page = open_page(server.url)
        go(page, "#/clusters")
        page.locator("#show-slots").click()
        expect(page.locator(".slots tbody tr")).to_have_count(100)
        expect(page.locator(".slots mark")).to_have_count(1)
        axe(page)
        page.locator(".slots").get_by_role("button", name="Show more").click()
        expect(page.locator(".slots tbody tr")).to_have_count(120)


@pytest.mark.parametrize("width", [390, 980, 1280])
def test_lanes_in_the_list_are_not_cut(tmp_path, open_page, width):
    """They wrap in a narrow list; if there are many, the first are shown and the others counted."""
    words = [f"clause{one}{two}" for one in "abcdefghij" for two in "abcdefghijklmnop"]
    text, negated = " ".join(words), " ".join([*words[:-14], "we do not see 17 boats now"])
    edited, shorter = " ".join([*words[:50], "other", *words[51:]]), " ".join(words[:-12])
    rows = [text, text, text.upper(), edited, shorter, negated]
    found = scanned(tmp_path, [{"id": f"d{n}", "text": one, "site": "s"} for n, one in enumerate(rows)])
    with reviewed(found) as server, open_page:
        page = open_page(server.url, size={"width": width, "height": 900})
        go(page, "#/clusters")
        lanes = page.locator(".pick .badge")
        expect(lanes).to_have_text(["meaning may change", "contained in its keeper", "3 more"])
        # In one step, as the list may be drawn again at any time.
        inside = page.evaluate(
            """() => {
                const row = document.querySelector(".pick"), outer = row.getBoundingClientRect();
                return [...row.querySelectorAll(".badge")].map((lane) => {
                    const inner = lane.getBoundingClientRect();
                    return inner.width > 0 && inner.right <= outer.right
                        && outer.top <= inner.top && inner.bottom <= outer.bottom;
                });
            }"""
        )
        assert inside == [True, True, True]
        fits(page)


def titled(folder) -> Findings:
    """A pair whose titles differ, which a guard keeps, and a pair of which one has other words at its end."""
    options, futures = "# Options\n\n" + ferry(1), "# Futures\n\n" + ferry(1)
    rows = [
        ("options", options),
        ("futures", futures),
        ("long", ferry(2) + " and more"),
        ("short", ferry(2, 1)),
    ]
    return scanned(folder, [{"id": id, "text": text, "site": "s"} for id, text in rows])


@pytest.mark.parametrize("size", [None, PHONE], ids=["desk", "phone"])
def test_what_guards_keep_is_listed(tmp_path, open_page, axe, watch, size):
    watch.expected.append("download")
    with reviewed(titled(tmp_path)) as server, open_page:
        page = open_page(server.url, size=size)
        expect(page.locator("#overview")).to_contain_text(
            "Guards keep 1 document although it is similar to another: title differs (1)."
        )
        page.locator("#show-protected").click()
        expect(page.locator("#protected tbody tr")).to_have_count(1)
        expect(page.locator("#protected tbody")).to_contain_text("title differs")
        fits(page)
        axe(page)
        with page.expect_download() as saved:
            page.locator("#protected").get_by_role("button", name="CSV").click()
        assert "title differs" in saved.value.path().read_text()
        page.locator("#protected").get_by_role("link", name="Compare").click()
        expect(page.locator("#verdict")).to_contain_text("A guard keeps both: title differs.")
        page.keyboard.press("a")  # a decision overrides a guard
        expect(page.locator("#verdict")).to_contain_text("You accepted this pair")


def test_the_verdict_says_what_would_be_lost_and_does_not_calm(tmp_path, open_page):
    with reviewed(forty(tmp_path)) as server, open_page:
        page = open_page(server.url)
        expect(page.locator("#lossless")).to_have_text(
            "Nothing is lost: every passage of 8 words or more is in the document that is kept."
        )
        # Nobody has judged anything: a page that finds nothing doubtful does not say that nobody is needed.
        expect(page.locator("#estimate")).to_contain_text("in 10 undecided removals the meaning may change")
        assert "needs you" not in page.locator("#estimate").inner_text()
        go(page, "#/clusters")
        expect(page.locator(".primary-link")).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.locator("#differing")).to_contain_text("Deleting the right one loses what only it has")


def test_clusters_that_need_a_person_are_a_list(tmp_path, open_page):
    with reviewed(risky(tmp_path)) as server, open_page:
        page = open_page(server.url)
        page.locator("#estimate").get_by_role("link", name="1 cluster needs you").click()
        expect(page.locator("#by-show")).to_have_value("doubtful")
        expect(page.locator(".pane-list [role=status]")).to_have_text("1 of 2 clusters")


def risky(folder) -> Findings:
    """A pair of other titles that no guard keeps, and a harmless pair."""
    config = nd.Config(verify=nd.Jaccard(0.5, 0.5), protect=())
    body = ferry(1)
    texts = {
        "options": f"# Options of the exchange\n\n{body}\n",
        "futures": f"# Futures and other bets\n\n{body.replace('ferry1', 'barge1').replace('noon1', 'dusk1')}\n",
        "calm": ferry(2) + " and more",
        "calm too": ferry(2),
    }
    path = write_jsonl(folder / "in.jsonl", [{"id": id, "text": text} for id, text in texts.items()])
    return scan(path, folder / "in.findings", config)


def test_the_network_of_a_cluster_divides_as_the_threshold_moves(tmp_path, open_page, axe):
    texts = {"one": ferry(1), "two": ferry(1, 1), "three": ferry(1, 2), "same": ferry(1).upper()}
    found = scanned(tmp_path, [{"id": id, "text": text, "site": "s"} for id, text in texts.items()])
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        slide(page, 0.5)
        go(page, "#/clusters")
        page.locator("#show-network").click()
        expect(page.locator("#network-said")).to_contain_text("4 documents in one cluster")
        expect(page.locator(".network .dot")).to_have_count(3)  # one for each text
        expect(page.locator(".network .ring")).to_have_count(1)
        expect(page.locator(".network .tie:not(.off)")).to_have_count(3)
        places = page.locator(".network .dot").evaluate_all(
            "dots => dots.map((dot) => dot.getAttribute('cx'))"
        )
        axe(page)
        slide(page, 0.99)
        expect(page.locator("#network-said")).to_contain_text(
            "1 cluster (2 documents), 2 documents without a duplicate"
        )
        expect(page.locator(".network .ring")).to_have_count(3)
        expect(page.locator(".network .tie:not(.off)")).to_have_count(0)
        after = page.locator(".network .dot").evaluate_all(
            "dots => dots.map((dot) => dot.getAttribute('cx'))"
        )
        assert after == places  # the same documents in the same places
        page.get_by_text("As a table").last.click()
        expect(page.locator(".detail tbody tr")).to_have_count(3)


def test_a_waterfall_adds_up(tmp_path, open_page, axe):
    with reviewed(forty(tmp_path)) as server, open_page:
        page = open_page(server.url)
        go(page, "#/clusters")
        expect(page.locator(".primary-link")).to_be_visible()
        page.keyboard.press("Enter")
        shown = page.locator(".waterfall text:not(.label)")
        expect(shown.first).to_have_text("1.000")
        values = [float(value.replace("−", "-")) for value in shown.all_text_contents()]
        assert len(values) > 2 and sum(values[:-1]) == pytest.approx(values[-1], abs=0.002)
        axe(page)


def test_the_writing_direction_is_that_of_the_document(tmp_path, open_page):
    arabic = "\u0627\u0644\u0639\u0628\u0627\u0631\u0629 \u062a\u063a\u0627\u062f\u0631 " * 30
    body = f"{arabic}\n\nLatin words alone in a paragraph of its own\n\n{arabic}"
    rows = [("a", f"{body} \u0627\u0644\u0622\u0646"), ("b", body)]
    found = scanned(tmp_path, [{"id": id, "text": text, "site": "s"} for id, text in rows])
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, "#/compare/0/1")
        expect(page.locator(".cell").first).to_be_visible()
        assert set(page.locator(".cell").evaluate_all("cells => cells.map((cell) => cell.dir)")) == {"rtl"}
        page.locator("#look-lines").click()
        numbers = page.locator(".cell.left").evaluate_all("cells => cells.map((cell) => cell.dataset.line)")
        assert numbers[0] == "1" and {"3", "5"} <= set(numbers)


def test_a_facet_of_languages(tmp_path, open_page):
    pytest.importorskip("resiliparse", reason="the extra `web` is not installed")
    english = (
        "the ferry leaves the north pier at eight in the morning and comes back before noon on every day "
    )
    russian = "паром уходит с северного причала в восемь часов утра и возвращается до полудня каждый день "
    rows = [
        (name, text * 4 + end) for name, text in (("en", english), ("ru", russian)) for end in ("1", "2 3")
    ]
    found = scanned(
        tmp_path,
        [{"id": f"{name}{at}", "text": text, "site": "s"} for at, (name, text) in enumerate(rows)],
    )
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        go(page, "#/clusters")
        expect(page.locator("#by-language option", has_text="Russian (1)")).to_have_count(1)
        page.locator("#by-language").select_option("ru")
        expect(page.locator(".pane-list [role=status]")).to_have_text("1 of 2 clusters")
        expect(page).to_have_url(re.compile("language=ru"))
