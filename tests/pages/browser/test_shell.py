"""What all pages share: elements from plain values, and charts, in a page under the pages' own policy."""

import functools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from neardup.pages import PageFiles
from neardup.pages.files import SAFE

PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Shell</title>
<link rel="icon" href="/page/icon.svg"><link rel="stylesheet" href="/page/style.css">
<main id="main"><h1>Shell</h1></main></html>"""


class Handler(BaseHTTPRequestHandler):
    def __init__(self, files, *given):
        self.files = files
        super().__init__(*given)

    def do_GET(self):
        reply = self.files.reply("GET", self.path) if self.path in self.files.paths else None
        status, headers, body = reply or (200, [(b"content-type", b"text/html"), *SAFE], PAGE)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name.decode(), value.decode())
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        pass


@pytest.fixture(scope="module")
def url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, PageFiles({})))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_hidden_characters_are_seen(url, open_page):
    page = open_page(url)
    shown = page.evaluate("""async () => {
        const { el, plain, visible } = await import("/page/dom.js");
        const codes = [0, 7, 27, 0x7f, 0x85, 0xad, 0x61c, 0x200b, 0x200e, 0x2028, 0x202e, 0x2066, 0xfeff];
        const hidden = codes.map((code) => String.fromCodePoint(code)).concat("\\ud800", "\\udc00", "\\u{e0041}");
        return hidden.map((one) => [el("p", {}, visible(`a${one}b`)).textContent, plain(`a${one}b`)]);
    }""")
    for whole, line in shown:
        assert whole.startswith("aU+") and whole.endswith("b") and whole.isascii()
        assert line.startswith("a[U+") and line.isascii()
    kept = "tab\tline\nemoji \U0001f469\u200d\U0001f4bb हिन्दी ไทย"
    script = """async (text) => {
        const { el, visible } = await import("/page/dom.js");
        return el("p", {}, visible(text)).textContent;
    }"""
    assert page.evaluate(script, kept) == kept


def test_texts_are_cut_between_characters_and_never_become_markup(url, open_page):
    page = open_page(url)
    cut, tags, numbers = page.evaluate("""async () => {
        const { bytes, count, el, plain, score, share, visible } = await import("/page/dom.js");
        const bad = "<img src=x onerror=alert(1)><script>alert(2)</scr" + "ipt>";
        document.body.append(el("p", { title: bad, "data-x": bad }, bad, visible(bad), [bad, null, false, [0]]));
        return [[plain("ab\\u{1f600}cd", 3), el("p", {}, visible("ab\\u{1f600}cd", 3)).textContent],
            document.querySelectorAll("img, p script").length,
            [bytes(999), bytes(119100), bytes(2e9), count(1234567), score(0.8004), score(null), share(1, 8)]];
    }""")
    assert cut == ["ab…", "ab … (4 more characters)"] and tags == 0
    assert numbers == ["999 bytes", "119.1 KB", "2.0 GB", "1,234,567", "0.800", "–", "12.5%"]


def test_charts_of_nothing_and_of_hostile_names(url, open_page, axe):
    page = open_page(url)
    page.evaluate("""async () => {
        const { bars, histogram, timeline } = await import("/page/charts.js");
        const bad = "<b>\\u202e</b>";
        const bins = [0, 1, 2, 3].map((at) => ({ from: at / 4, to: (at + 1) / 4, count: at * 3 }));
        document.querySelector("main").append(
            histogram({ title: "None", bins: [] }), histogram({ title: "Some", bins, cut: 0.5 }),
            bars({ title: "None", rows: [] }), bars({ title: bad, rows: [{ label: bad, value: 1, of: 4 }], unit: "x" }),
            timeline({ title: "None", series: [{ name: "", values: [] }], times: [0, 0] }),
            timeline({ title: bad, times: [0, 60000],
                       series: [{ name: "some", values: [null, 0, 3, null, 1] }, { name: "none", values: [null] }] }));
    }""")
    assert page.locator("figure").count() == 6 and page.locator("main b").count() == 0
    labels = page.locator("svg[role=img]").evaluate_all(
        "all => all.map((one) => one.getAttribute('aria-label'))"
    )
    assert labels[1] == "Some: 18 pairs from 0.00 to 1.00, cut at 0.50" and "[U+202E]" in labels[3]
    assert labels[4].endswith(": last nothing yet; at most nothing ") and "[U+202E]" in labels[5]
    assert labels[5].endswith(": last some 1, none nothing yet; at most 3 ")
    assert "NaN" not in page.locator("main").inner_html()
    # Bars below the cut are pale, and heights follow counts.
    read = "all => all.map((one) => [one.getAttribute('class'), parseFloat(one.getAttribute('height'))])"
    heights = page.locator("figure").nth(1).locator("rect").evaluate_all(read)
    assert [name for name, _ in heights] == ["bar off", "bar off", "bar", "bar"]
    assert [size for _, size in heights] == pytest.approx([0, 25.2, 50.4, 75.6])
    axe(page)


def test_markup_is_an_error_under_the_policy(url, open_page, watch):
    """Even our own scripts cannot turn a text into markup, nor load anything from elsewhere."""
    watch.expected += ["TrustedHTML", "Trusted", "Content Security Policy"]
    page = open_page(url)
    assert (
        page.evaluate("""() => {
        try { document.body.innerHTML = "<b>x</b>"; return "ran"; } catch (error) { return error.name; }
    }""")
        == "TypeError"
    )
    asked = "() => fetch('http://127.0.0.2:9/').then(() => 'sent', () => 'stopped')"
    assert page.evaluate(asked) == "stopped"
