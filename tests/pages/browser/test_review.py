"""The review page as a person uses it, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect
from support.corpora import read_jsonl

from neardup.findings import Findings, decided_cut, read_decisions, summarize

from .conftest import PHONE, WALL, fits

pytest.importorskip("granian", reason="the extra `review` is not installed")

from support.findings import make_findings
from support.reviewing import MARKUP, Reviewed, documents, reviewed, run_cli, scanned


@pytest.fixture
def found(tmp_path) -> Findings:
    return scanned(tmp_path)


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory) -> Iterator[tuple[Findings, Reviewed]]:
    """For tests that decide nothing."""
    long = [{"id": "long", "text": "word " * 200_000 + "x" * 1_000_000, "site": "long"}]
    long += [{"id": "long too", "text": "word " * 200_000 + "x" * 999_999 + "y", "site": "long"}]
    found = scanned(tmp_path_factory.mktemp("looked"), [*documents(), *long])
    with reviewed(found) as server:
        yield found, server


def go(page: Page, view: str) -> None:
    page.evaluate("hash => { location.hash = hash }", view)


def number(page: Page, name: str) -> int:
    shown = page.locator(".numbers > div", has=page.get_by_text(name, exact=True)).locator("dd").first
    return int(shown.inner_text().replace(",", ""))


def check_numbers(page: Page, found: Findings, threshold: float) -> None:
    said = read_decisions(found)
    wanted = summarize(found, decided_cut(found, threshold, decisions=said), threshold, said)
    expect(page.locator("#brief")).to_have_text(f"{wanted.dropped:,} dropped in {wanted.clusters:,} clusters")
    assert number(page, "Documents") == wanted.documents and number(page, "Kept") == wanted.kept
    assert number(page, "Exact duplicates") == wanted.exact and number(page, "Clusters") == wanted.clusters
    assert number(page, "Near-duplicates") == wanted.near


def slide(page: Page, threshold: float) -> None:
    expect(page.locator("#slider")).to_be_visible()  # the page has loaded the findings
    page.evaluate(
        """threshold => {
          const slider = document.getElementById("slider");
          slider.value = Math.round((threshold - 0.5) * 100);
          slider.dispatchEvent(new Event("input"));
        }""",
        threshold,
    )
    expect(page.locator("#at")).to_have_text(f"{threshold:.2f}")


def test_from_findings_to_the_output(found, open_page, tmp_path):
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        expect(page.locator("h1").first).to_have_text("in.findings")
        assert "token" not in page.url
        check_numbers(page, found, 0.8)
        for threshold in (0.95, 0.55, 0.8):
            slide(page, threshold)
            check_numbers(page, found, threshold)
        page.get_by_role("link", name="Go through the clusters").click()
        page.locator("#by-order").select_option("size")
        expect(page.locator(".pick").first).to_contain_text("4 documents")
        page.locator(".pick").first.click()
        expect(page.locator(".keeper")).to_contain_text("the longest is kept")
        expect(page.locator(".member")).to_have_count(3)
        page.locator(".member", has_text="b-far").get_by_role("link", name="Compare").click()
        expect(page.locator("#verdict")).to_contain_text("Not decided yet")
        expect(page.locator(".sides del").first).to_be_visible()
        expect(page.locator(".sides ins").first).to_contain_text("changed0")
        page.keyboard.press("r")
        expect(page.locator("#verdict")).to_contain_text("both are kept")
        expect(page.locator("#progress")).to_have_text("1 decision")
        page.keyboard.press("j")
        expect(page.locator(".heads")).to_contain_text("b-near")
        page.keyboard.press("a")
        expect(page.locator("#verdict")).to_contain_text("duplicates")
        expect(page.locator("#do-accept")).to_have_attribute("aria-pressed", "true")
        go(page, f"#/compare/{found.row_of('a')}/{found.row_of('a-near')}")
        expect(page.locator(".head").first).to_contain_text("a")
        page.get_by_role("button", name="Keep right instead").click()
        expect(page.locator(".head").first).to_contain_text("a-near")
        expect(page.locator("#verdict")).to_contain_text("You chose this keeper")
        expect(page.locator("#progress")).to_have_text("3 decisions")
        go(page, "#/")
        check_numbers(page, found, 0.8)
    # Closed and opened again, another day.
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        expect(page.locator("#progress")).to_have_text("3 decisions")
        check_numbers(page, found, 0.8)
        go(page, f"#/cluster/{found.row_of('b')}")
        expect(page.locator("#clusters")).to_contain_text("Rejected: not duplicates of the keeper")
    out = tmp_path / "kept.jsonl"
    code, said = run_cli("apply", str(found.path), "--out", str(out))
    assert code == 0 and "3 decisions" in said
    ids = {row["id"] for row in read_jsonl(out)}
    assert {"a-near", "b", "b-far", "alone", "also alone"} <= ids
    assert not {"a", "b-near", "b-same"} & ids and len(ids) == 6


def test_keys(found, open_page, watch):
    watch.expected.append("download: blob:")
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        expect(page.locator("#brief")).not_to_be_empty()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_contain_text("keep both")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.keyboard.press("]")
        expect(page.locator("#at")).to_have_text("0.81")
        page.keyboard.press("[")
        page.keyboard.press("c")
        expect(page.locator(".pick[aria-current]")).to_have_count(1)
        first = page.locator(".pick[aria-current]").get_attribute("href")
        page.keyboard.press("j")
        expect(page.locator(".pick[aria-current]")).not_to_have_attribute("href", first)
        page.keyboard.press("k")
        expect(page.locator(".pick[aria-current]")).to_have_attribute("href", first)
        page.keyboard.press("Enter")
        expect(page.locator("#verdict")).to_be_visible()
        pairs = set()
        for number in range(5):  # 3 + 1 + 1 pairs in three clusters
            pairs.add(page.url)
            heads = page.locator(".heads").inner_text()
            page.keyboard.press("j")
            if number < 4:
                expect(page.locator(".heads")).not_to_have_text(heads, use_inner_text=True)
        assert len(pairs) == 5
        expect(page.locator("#said")).to_contain_text("last pair")
        page.keyboard.press("a")
        expect(page.locator("#progress")).to_have_text("1 decision")
        page.keyboard.press("u")
        expect(page.locator("#progress")).to_have_text("0 decisions")
        go(page, f"#/compare/{found.row_of('a')}/{found.row_of('a-near')}")
        page.locator("#do-keep").focus()
        page.keyboard.press("s")
        expect(page.locator(".head .id").first).to_have_text("a-near")
        expect(page.locator("#do-keep")).to_be_focused()
        page.keyboard.press("u")  # the keeper of the policy is back on the left
        expect(page.locator(".head .id").first).to_have_text("a")
        expect(page.locator("#progress")).to_have_text("0 decisions")
        page.keyboard.press("Escape")
        expect(page.locator(".keeper")).to_be_visible()
        page.keyboard.press("/")
        expect(page.locator("#search")).to_be_focused()
        page.keyboard.type("b-far")
        expect(page.locator(".pick")).to_have_count(1)
        page.locator("#search").fill("nothing like this")
        expect(page.get_by_text("No cluster matches.")).to_be_visible()
        page.locator("#search").fill("")
        page.locator("#by-source").select_option("north")
        expect(page.locator(".pick")).to_have_count(2)
        go(page, "#/")
        with page.expect_download() as download:
            page.get_by_role("button", name="Export decisions as JSONL").click()
        assert download.value.suggested_filename == "decisions.jsonl"


def test_keys_that_are_faster_than_the_disk(found, open_page):
    """A person who continues before a decision is saved decides about the next pair, not again about the last; and
    of two decisions about one pair the last one counts."""
    b, near, far = (found.row_of(id) for id in ("b", "b-near", "b-far"))
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        held: list[Route] = []
        page.route("**/api/decisions", lambda route: held.append(route))

        def sent() -> None:
            for _ in range(2400):
                if held:
                    return
                page.wait_for_timeout(50)
            raise AssertionError("nothing was sent")

        def let_go() -> None:
            sent()
            held.pop().continue_()

        go(page, f"#/compare/{b}/{far}")
        expect(page.locator(".heads")).to_contain_text("b-far")
        page.keyboard.press("r")
        page.keyboard.press("j")
        expect(page.locator(".heads")).to_contain_text("b-near")
        let_go()
        expect(page.locator("#progress")).to_have_text("1 decision")
        expect(page.locator(".heads")).to_contain_text("b-near")
        page.keyboard.press("r")
        page.keyboard.press("a")
        sent()
        page.wait_for_timeout(300)
        assert len(held) == 1  # the second waits for the first
        let_go()
        let_go()
        expect(page.locator("#verdict")).to_contain_text("You accepted this pair")
    assert [(d.decision, d.pair) for d in read_decisions(found)] == [
        ("reject", tuple(sorted((b, far)))),
        ("accept", tuple(sorted((b, near)))),
    ]


def test_keys_before_there_is_anything_to_go_through(found, open_page):
    """A held key and a moved threshold while the page is still loading: nothing breaks, and it continues."""
    b, far = found.row_of("b"), found.row_of("b-far")
    with reviewed(found) as server, open_page:
        page = open_page(server.url)
        expect(page.locator("#brief")).not_to_be_empty()
        go(page, f"#/compare/{b}/{far}")
        expect(page.locator("#verdict")).to_be_visible()
        page.evaluate(
            """() => {
              for (const key of ["s", "]", "j", "k", "j"]) dispatchEvent(new KeyboardEvent("keydown", { key }));
            }"""
        )
        expect(page.locator("#progress")).to_have_text("1 decision")
        expect(page.locator("#verdict")).to_be_visible()
        expect(page.locator("#trouble")).to_be_empty()


def test_two_tabs(found, open_page):
    with reviewed(found) as server, open_page:
        one = open_page(server.url)
        expect(one.locator("#brief")).not_to_be_empty()
        other = one.context.new_page()
        other.goto(server.base)  # the same browser has the key already
        a, near, b, far = (found.row_of(id) for id in ("a", "a-near", "b", "b-far"))
        go(one, f"#/compare/{a}/{near}")
        go(other, f"#/compare/{b}/{far}")
        expect(one.locator("#verdict")).to_be_visible()
        expect(other.locator("#verdict")).to_be_visible()
        one.keyboard.press("r")
        expect(one.locator("#progress")).to_have_text("1 decision")
        other.keyboard.press("a")
        for page in (one, other):
            expect(page.locator("#progress")).to_have_text("2 decisions")
        go(other, f"#/compare/{a}/{near}")
        expect(other.locator("#verdict")).to_contain_text("You rejected")
        other.keyboard.press("a")
        expect(one.locator("#verdict")).to_contain_text("You accepted")
        assert [d.decision for d in read_decisions(found)] == ["accept", "accept"]


def test_hostile_documents_are_text(looked_at, open_page):
    _, server = looked_at
    page = open_page(server.url)
    go(page, "#/clusters")
    page.locator(".pick", has_text="<img").click()
    expect(page.locator(".keeper")).to_contain_text(MARKUP)
    page.locator(".member").get_by_role("link", name="Compare").click()
    expect(page.locator(".sides")).to_contain_text(MARKUP)
    expect(page.locator(".sides .mark", has_text="U+202E").first).to_be_visible()
    expect(page.locator(".sides .mark", has_text="U+0007").first).to_be_visible()
    go(page, "#/")
    slide(page, 0.5)
    expect(page.locator(".chart", has_text="What each source loses")).to_contain_text("<img")
    page.locator("#to-clusters").click()
    page.locator("#search").fill(MARKUP)
    expect(page.locator(".pick")).to_have_count(1)
    assert page.evaluate("window.hacked") is None and page.title() != "1"
    assert page.locator("main img, main script, main iframe").count() == 0
    # What is shown is bidi-isolated: a name cannot turn the words around it.
    turned = page.locator("main .id, main .text").evaluate_all(
        "all => all.filter(one => !/isolate/.test(getComputedStyle(one).unicodeBidi)).length"
    )
    assert turned == 0


def test_long_lines_are_drawn_in_parts(looked_at, open_page):
    found, server = looked_at
    page = open_page(server.url)
    go(page, f"#/compare/{found.row_of('long')}/{found.row_of('long too')}")
    expect(page.locator("#differing")).to_contain_text("1 word only left", timeout=120_000)
    fits(page)
    assert page.evaluate("document.body.innerText.length") < 400_000


@pytest.mark.parametrize(
    ("size", "dark"), [(None, False), (None, True), (PHONE, False), (PHONE, True), (WALL, False)]
)
def test_every_view_fits_and_is_for_everyone(looked_at, open_page, axe, size, dark):
    found, server = looked_at
    page = open_page(server.url, size=size, dark=dark)
    a, near, b = (found.row_of(id) for id in ("a", "a-near", "b"))
    for view, ready in (
        ("#/", ".numbers"),
        ("#/clusters", ".pick"),
        (f"#/cluster/{b}", ".keeper"),
        (f"#/compare/{a}/{near}", ".sides"),
    ):
        go(page, view)
        page.locator(ready).first.wait_for()
        fits(page)
        axe(page)
    page.keyboard.press("?")
    axe(page)
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in colour[4:-1].split(",")) / 3
    assert light < 60 if dark else light > 200


def test_without_the_key_and_without_a_server(found, open_page, watch):
    watch.expected += ["401", "ERR_CONNECTION_REFUSED", "404", "503"]  # the last while it stops
    with reviewed(found) as server, open_page:
        page = open_page(server.base)
        expect(page.get_by_role("alert")).to_contain_text("open the address that")
        page.goto(server.url)
        page.reload()
        expect(page.locator("#brief")).not_to_be_empty()
        assert server.stop() == 0
        expect(page.get_by_role("alert")).to_contain_text("does not answer")


@pytest.mark.slow
def test_a_hundred_thousand_clusters(tmp_path, open_page):
    findings = make_findings(tmp_path / "made", 100_000, 200_000)
    with reviewed(findings) as server, open_page:
        page = open_page(server.url)
        page.set_default_timeout(120_000)
        go(page, "#/clusters")
        page.locator(".pick").first.wait_for()
        assert page.locator(".long-item").count() < 60
        page.locator(".long").evaluate("box => { box.scrollTop = box.scrollHeight }")
        last = len(findings.cut().clusters.sizes()[0])
        expect(page.locator(f".long-item[aria-posinset='{last}'] .pick")).to_be_visible(timeout=120_000)
        assert page.locator(".long-item").count() < 60
