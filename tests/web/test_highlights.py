"""The words that a page sets apart, and the words of links to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ConfigError, DataError
from neardup.web import HtmlExtractor
from neardup.web.highlights import split_marks
from neardup.web.html_worker import reader
from neardup.web.links import InLinks, Link, merge_links, read_links

pytest.importorskip("resiliparse")

PAGE = """<html><head><title> The
ferry </title></head><body><nav><a href="/">Home</a></nav><main><h1>North <a href="/pier">pier</a></h1>
<p>It leaves <b>at</b>two, <strong>not (three)</strong>, from <a href="/map">the map</a> or <a name="x">here</a>.</p>
<p>Ordinary words that are enough for the extractor to take them as the main part.</p></main></body></html>"""


@pytest.mark.parametrize(("method", "menu"), [("main", ""), ("whole", "Home ")])
def test_each_kind_of_highlight_is_found_in_the_text_alone(method, menu):
    text, title, marks = reader(f"{method}+highlights")(PAGE)
    assert (text, title.split()) == (reader(method)(PAGE)[0], ["The", "ferry"])
    headings, bold, anchors = marks.split("\n")
    # In "main" a tag inside a word does not part it, so the whole word is bold.
    assert headings == "North pier" and anchors == f"{menu}the map"
    assert bold == ("attwo not (three)" if method == "main" else "at not (three)")


def test_a_page_that_contains_the_marks_has_no_highlights():
    page = PAGE.replace("Ordinary", "Ordi\x02nary")
    assert reader("main+highlights")(page)[2] == "\n\n"


def test_a_mark_does_not_reach_over_words_of_scripts_without_spaces():
    pieces, plain = split_marks("我們\x02在這裏\x04看 no\x03rt\x04h x\x02-y\x04")
    assert pieces == ([], ["在這裏", "-y"], ["north"]) and plain == "我們在這裏看 north x-y"


@given(
    st.lists(
        st.sampled_from(
            ["<b>", "</b>", "<h2>", "</h2>", "<a href=x>", "</a>", "<p>", "é", "wort ", "字 ", " x", "\xa0"]
        )
    )
)
def test_texts_are_those_without_highlights(parts):
    page = f"<body><main>{''.join(parts)}</main></body>"
    text, _, marks = reader("whole+highlights")(page)
    assert text == reader("whole")(page)[0]
    words = set(text.split())
    assert all(word in words for line in marks.split("\n") for word in line.split())


@pytest.mark.process
def test_extractors_give_highlights_if_asked():
    with HtmlExtractor("main", highlights=True) as extractor:
        found = extractor.extract([PAGE, ""])
    assert found.highlights[0].startswith("North pier\n") and found.highlights[1] == "\n\n"
    with HtmlExtractor("main") as extractor:
        assert extractor.extract([PAGE]).highlights == [""]
    with pytest.raises(ConfigError, match="highlights are in the text"):
        HtmlExtractor("tags", highlights=True)


def test_links_of_all_formats(tmp_path):
    (tmp_path / "a.tsv").write_text("http://a/\thttp://b/\tthe pier\tsee\tnow\nhttp://a/\thttp://c/\n")
    (tmp_path / "b.tsv").write_text("text\tto\tfrom\nthe pier\thttp://b/\thttp://a/\n")
    (tmp_path / "c.csv").write_text('from,to,text\nhttp://a/,http://b/,"the, pier"\n')
    (tmp_path / "d.jsonl").write_text('{"from": "http://a/", "to": "http://b/", "before": "see"}\n')
    assert list(read_links(tmp_path / "a.tsv")) == [
        Link("http://a/", "http://b/", "the pier", "see", "now"),
        Link("http://a/", "http://c/"),
    ]
    assert list(read_links(tmp_path / "b.tsv")) == [Link("http://a/", "http://b/", "the pier")]
    assert list(read_links(tmp_path / "c.csv")) == [Link("http://a/", "http://b/", "the, pier")]
    assert list(read_links(tmp_path / "d.jsonl")) == [Link("http://a/", "http://b/", before="see")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.tsv", "http://a/\thttp://b/\nalone\n", "line 2: expected the columns from and to"),
        ("a.jsonl", '{"from": "x"}\n', "line 1: expected an object"),
        ("a.jsonl", '{"from": "x", "to": "y", "text": 3}\n', "line 1: expected an object"),
        ("a.jsonl", "[1]\n", "line 1: expected an object"),
        ("a.jsonl", "{\n", "line 1: not JSON"),
    ],
)
def test_damaged_links_name_their_line(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said):
        list(read_links(tmp_path / name))


def test_words_of_links_by_their_distance(tmp_path):
    rows = [
        "http://a/\thttp://Example.org:80/p\tthe  pier\tone two three\tfour five",
        "http://b/\thttps://example.org/p#top\tthe pier\tone two three\tfour five",  # the same words: once
        "http://c/\thttps://example.org/p\tboats",
        *(f"http://d/{n}\thttps://example.org/q\tlink{n}" for n in range(120)),
    ]
    (tmp_path / "links.tsv").write_text("\n".join(rows))
    found = InLinks.load(tmp_path / "links.tsv")
    assert found.lines("https://www.example.org/p", 2) == ["the pier boats", "three four", "two five"]
    assert len(found.lines("https://example.org/q", 2)[0].split()) == 100
    assert found.lines("https://example.org/other", 2) == ["", "", ""]


def test_links_are_moved_to_what_is_kept():
    links = [Link("a", "1", "x"), Link("a", "2", "x"), Link("a", "2", "x"), Link("b", "3", "y")]
    merged = merge_links(links, {"1": "1", "2": "1"}.get)
    assert [tuple(one) for one in merged] == [("1", "a", "1", "x"), ("1", "a", "2", "x")]
