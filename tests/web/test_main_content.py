"""Main content that misses the page: then the whole page is taken, and counted. Drawings are no words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import neardup as nd
from neardup.findings import summarize
from neardup.findings.scan import scan
from neardup.web import Extracted, HtmlExtractor

pytest.importorskip("resiliparse")
pytestmark = pytest.mark.process

PROSE = " ".join(
    f"Sentence {n} of the manual says how a database on another server is opened." for n in range(30)
)


def page(body: str, about: str = "") -> str:
    return f"<html><head><title>A page</title></head><body><h1>{about or 'A page'}</h1>{body}</body></html>"


# The first name hides the body from the extractor of resiliparse 1, the second from that of resiliparse 2.
HIDING = 'id="dblink" class="popup"'
HIDDEN = page(f"<div {HIDING}><p>{PROSE}</p></div>")
LINKS = page(
    "<ul>" + "".join(f'<li><a href="/{n}">Chapter {n} of the book</a></li>' for n in range(40)) + "</ul>"
)
ARTICLE = page(f'<nav><a href="/">Home</a></nav><article><p>{PROSE}</p></article><footer>By us</footer>')


def extracted(*pages: str, method: str = "main") -> Extracted:
    with HtmlExtractor(method) as extractor:  # type: ignore[arg-type]
        return extractor.extract(list(pages))


def test_a_body_that_is_taken_for_a_link_is_read_whole() -> None:
    found = extracted(HIDDEN, LINKS, ARTICLE)
    assert found.whole == [0, 1]
    texts = [text or "" for text in found.texts]
    assert "Sentence 29 of the manual" in texts[0]
    assert "Chapter 39 of the book" in texts[1]
    assert "Sentence 29 of the manual" in texts[2] and "Home" not in texts[2]


@pytest.mark.parametrize("method", ["main", "whole"])
def test_drawings_and_formulas_are_no_words(method: str) -> None:
    drawing = "<svg><title>Arrow</title><text>labelled axis</text><svg><text>inner</text></svg></svg>"
    formula = "<math><mi>xvariable</mi><mo>=</mo><mn>1</mn></math>"
    (text,) = extracted(page(f"<p>{PROSE} {drawing} and {formula} the end.</p>"), method=method).texts
    assert text is not None and "the end" in text
    assert not any(word in text for word in ("labelled", "inner", "xvariable", "Arrow"))


def test_pages_without_text_are_never_equal(tmp_path: Path) -> None:
    pages = [page("", " ").replace("<h1> </h1>", "").replace("A page", name) for name in ("one", "two")]
    rows = [json.dumps({"id": str(n), "html": text}) for n, text in enumerate([*pages, HIDDEN, ARTICLE])]
    (tmp_path / "pages.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    found = scan(tmp_path / "pages.jsonl", tmp_path / "findings", nd.Config(protect=()))
    summary = summarize(found)
    assert summary.empty == 2
    assert found.cut().kept[:2].all()
    assert summary.account["notes"] == {
        "pages were read whole: their main content holds under 30% of their words": 1
    }


def test_trafilatura_is_a_second_opinion(tmp_path: Path) -> None:
    """It reads the pages with too little main content, and no others; they are counted."""
    pytest.importorskip("trafilatura")
    menu = "<ul>" + "".join(f'<li><a href="/{n}">Other page {n}</a></li>' for n in range(20)) + "</ul>"
    hidden = page(f"{menu}<div {HIDING}><p>{PROSE}</p></div>")
    found = extracted(hidden, ARTICLE, method="second-opinion")
    assert found.second == [0] and not found.whole
    texts = [text or "" for text in found.texts]
    assert "Sentence 29 of the manual" in texts[0] and "Other page 7" not in texts[0]
    assert texts[1] == extracted(ARTICLE).texts[0]
    rows = [json.dumps({"id": str(n), "html": text}) for n, text in enumerate([hidden, ARTICLE])]
    (tmp_path / "pages.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    summary = summarize(scan(tmp_path / "pages.jsonl", tmp_path / "f", nd.Config(html="second-opinion")))
    assert summary.account["notes"] == {
        "pages were read by trafilatura: their main content holds under 30% of their words": 1
    }
