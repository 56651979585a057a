"""Highlights against a count of words in plain Python."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import ConfigError
from neardup.features.highlights import WINDOW
from neardup.features.texts import as_texts

WORDS = st.lists(st.sampled_from(["ferry", "pier", "noon", "boat", "tide"]), max_size=6).map(" ".join)


def weights(features: nd.features.Features, row: int) -> dict[int, float]:
    hashes, values = features.row(row)
    return dict(zip(hashes.tolist(), values.tolist(), strict=True))


@given(
    st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=WINDOW + 5)), min_size=1, max_size=4),
    st.sampled_from([0, 1, 2.5]),
)
def test_counts_are_sums_over_the_lines(documents, title):
    highlights = nd.features.Highlights(title=title, anchors=0)
    multipliers = highlights.multipliers
    assert len(multipliers) == WINDOW + 5
    texts, extras = [text for text, _ in documents], ["\n".join(lines).encode() for _, lines in documents]
    found = highlights.extract(nd.Words(weights="count"), as_texts(texts), extras)
    naive = []
    for text, lines in documents:
        count: Counter[str] = Counter()
        for by, line in zip((1.0, *multipliers), (text, *lines), strict=False):
            for word in line.split():
                count[word] += by
        # A line that counts nothing adds no word; a word that a negative line outweighs keeps its number.
        naive.append({word: number for word, number in count.items()})
    for row, expected in enumerate(naive):
        got = weights(found, row)
        for word, number in expected.items():
            [key] = nd.Words().extract([word]).hashes.tolist()
            assert math.isclose(got.get(key, 0.0), number, abs_tol=1e-5)


def test_idf_weighs_the_counts_with_highlights():
    texts = ["ferry pier", "ferry boat", "tide"]
    words = nd.Words(weights=nd.Idf.fit(texts))
    plain = words.extract(texts)
    none = nd.features.Highlights(title=4).extract(words, as_texts(texts), [b"", b"", b""])
    assert np.array_equal(none.hashes, plain.hashes) and np.allclose(none.weights, plain.weights)
    titled = nd.features.Highlights(title=4).extract(words, as_texts(texts), [b"pier", b"", b""])
    [pier] = nd.Words().extract(["pier"]).hashes.tolist()
    idf = dict(zip(plain.hashes.tolist(), words.weights.of(plain.hashes).tolist(), strict=True))
    expected = {key: idf[key] * (5 if key == pier else 1) for key in weights(plain, 0)}
    length = math.sqrt(sum(value**2 for value in expected.values()))
    assert weights(titled, 0) == pytest.approx(
        {key: value / length for key, value in expected.items()}, rel=1e-5
    )


def test_a_config_refuses_what_has_no_weights():
    highlights = nd.features.Highlights()
    with pytest.raises(ConfigError, match="simhash"):
        nd.Config(highlights=highlights)
    with pytest.raises(ConfigError, match="simhash"):
        nd.Config.of("bits", highlights=highlights)
    with pytest.raises(ConfigError, match='html is "main" or "whole"'):
        nd.Config.of("simhash", highlights=highlights, html="tags")
    with pytest.raises(ConfigError, match="vectors"):
        nd.Config(vectors=nd.Vectors(), highlights=highlights)
    with pytest.raises(ConfigError, match="bold is a weight from 0"):
        nd.features.Highlights(bold=-1)
    config = nd.Config.of("simhash", highlights=highlights)
    assert nd.Config.from_plain(config.to_plain()) == config
    with pytest.raises(ConfigError, match="an index takes texts"):
        nd.Index("never.index", config)
