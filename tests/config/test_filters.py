"""Filters: which documents take no part, why, and that nothing else changes."""

import numpy as np
import pytest

import neardup as nd
from neardup.config.filters import LANGUAGE, LINKS, PASSED, SHORT, Filters
from neardup.errors import ConfigError

ENGLISH = "This is a plain English sentence about the weather, the house and the people who live there. " * 3
GERMAN = "Dies ist ein ganz gewöhnlicher deutscher Satz über das Wetter, das Haus und die Leute darin. " * 3


def check(filters, texts, raw=None):
    tokens = np.array([len(text.split()) for text in texts], np.int64)
    sizes = np.array([len(text.encode()) for text in raw or texts], np.int64)
    return filters.check(raw or texts, texts, tokens, sizes).tolist()


def test_each_reason():
    texts = ["one two", "one two three", "see https://example.org/ now", ""]
    assert check(Filters(), texts) == [PASSED] * 4 and not Filters().active
    assert check(Filters(min_words=3), texts) == [SHORT, PASSED, PASSED, SHORT]
    assert check(Filters(min_bytes=8), texts) == [SHORT, PASSED, PASSED, SHORT]
    assert check(Filters(links=True), texts) == [LINKS, LINKS, PASSED, LINKS]
    # Too short is said first, whatever else it lacks.
    assert check(Filters(min_words=3, links=True), texts) == [SHORT, LINKS, PASSED, SHORT]
    assert check(Filters(links=True), ["x"] * 4, ["<a HREF = 'x'>", "WWW.x.org", "http:/x", "href"]) == [
        0,
        0,
        3,
        3,
    ]


def test_languages():
    pytest.importorskip("resiliparse")
    assert check(Filters(languages=("en",)), [ENGLISH, GERMAN]) == [PASSED, LANGUAGE]
    assert check(Filters(languages=("en", "de")), [ENGLISH, GERMAN, ""])[:2] == [PASSED, PASSED]


def test_wrong_filters():
    for wrong in (
        {"min_words": -1},
        {"min_bytes": -1},
        {"languages": "en"},
        {"languages": ["EN"]},
        {"languages": ["english"]},
    ):
        with pytest.raises(ConfigError):
            Filters(**wrong)


@pytest.mark.parametrize("memory", [None, "20MB"])
def test_filtered_documents_are_left_out_and_replace_no_other(memory):
    long = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
    texts = [long, "a b", "a b", long + " 1", "", long]
    config = nd.Config(filters=Filters(min_words=3))
    result = nd.dedup(texts, config, threshold=0.5, memory=memory)
    assert result.filtered == 3 and result.kept.tolist() == [3]
    assert [d.row for d in result.dropped] == [0, 5]  # filtered ones are no duplicates
    assert result.exact == 1 and "3 left out by filters" in result.summary()
    everything = nd.dedup(texts, nd.Config(filters=Filters(min_bytes=1000)), memory=memory)
    assert everything.filtered == 6 and len(everything.kept) == 0 and not everything.dropped


def test_links_are_looked_for_in_the_page():
    pytest.importorskip("resiliparse")
    pages = [f"<html><body><p>{ENGLISH}</p>{link}</body></html>" for link in ("", "<a href='/x'>more</a>")]
    import pandas

    table = pandas.DataFrame({"html": pages, "id": ["0", "1"]})
    result = nd.dedup(table, nd.Config(filters=Filters(links=True)))
    assert result.filtered == 1 and result.kept.tolist() == [1]


def test_a_language_that_cannot_be_detected_is_refused_before_it_leaves_everything_out():
    pytest.importorskip("resiliparse")
    with pytest.raises(nd.ConfigError, match="no language 'xx'"):
        check(Filters(languages=("en", "xx")), [ENGLISH])
