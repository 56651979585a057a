"""One pass over texts: fingerprints as `fingerprint` makes them, digests equal for equal tokens, and token counts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.features.texts import as_texts
from neardup.fingerprints.one_pass import read_texts

WORDS = st.sampled_from(
    ["a", "A", "b", "ab", "é", "e\u0301", "the", "1", "世界", "ﬁ", "fi", "x_y", "-", "\u00ad", "\ufffd"]
)
texts = st.lists(st.lists(WORDS, max_size=5).map(" ".join) | st.text(max_size=6), max_size=12)
PRINTS = [nd.MinHash(32), nd.MinHash(16, permutations="independent"), nd.BitMinHash(), nd.Simhash(), None]
FEATURES = [
    nd.Shingles(2),
    nd.Words(weights="log"),
    nd.Words(normalize=nd.Normalize(accents="strip", digits="fold")),
]


@pytest.mark.parametrize("prints", PRINTS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("features", FEATURES, ids=lambda f: type(f).__name__)
@settings(max_examples=budget(25))
@given(texts, st.sampled_from([1, 2, 3]))
def test_one_pass_gives_every_column(prints, features, texts, threads):
    reading = read_texts(texts, features, prints, threads=threads)
    tokens = [tuple(part) for part in nd.features.tokens(texts, features.normalize)]
    assert reading.tokens.tolist() == [len(part) for part in tokens]
    assert reading.empty.tolist() == [not part for part in tokens]
    digests = [bytes(row) for row in reading.digests]
    for i, one in enumerate(tokens):
        for j, other in enumerate(tokens):
            assert not one or not other or (digests[i] == digests[j]) == (one == other)
    if prints is None:
        assert reading.prints is None
        return
    alone = nd.fingerprint(texts, features, prints)
    assert reading.prints.scheme == alone.scheme and np.array_equal(reading.prints.empty, alone.empty)
    column = "values" if isinstance(prints, nd.MinHash) else "codes"
    assert np.array_equal(getattr(reading.prints, column), getattr(alone, column))


def test_digests_see_stop_words_and_are_seeded():
    stop = nd.Words(normalize=nd.Normalize(stopwords=("en",), stem="english"))
    reading = read_texts(["the falcon flies", "falcon flies", "falcon fly"], stop, None)
    assert len({bytes(row) for row in reading.digests}) == 3
    other = read_texts(["the falcon flies"], nd.Words(seed=5), None)
    assert bytes(other.digests[0]) != bytes(reading.digests[0])
    assert read_texts([b"\xff\xff"], nd.Words(), None).replaced == 2


def test_characters_and_sentences():
    """There are never more features than tokens were counted; equal digests of characters are equal characters."""
    texts = ["ab cd. ef", "ab cd ef", "abcd. ef", "ab  cd. ef", "a. b! c? d", "ab\ncd", ""]
    for features in (nd.Characters(3), nd.features.Sentences()):
        tokens = read_texts(texts, features, nd.MinHash(8)).tokens
        assert (features.extract(texts).sizes <= tokens).all()
    digests = [bytes(row) for row in read_texts(texts, nd.Characters(3), None).digests]
    rows = nd.Characters(3).extract(texts)
    for i, j in combinations(range(len(texts) - 1), 2):
        assert (digests[i] == digests[j]) <= (rows.row(i)[0].tolist() == rows.row(j)[0].tolist())
    assert digests[0] == digests[3] != digests[2]


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_sizes_in_utf8_at_every_level(cpu):
    """Strings of every width that Python stores, and bytes, with one sign or byte anywhere in a block."""
    signs = [
        "a",
        "\x7f",
        "\x80",
        "ÿ",
        "\u07ff",
        "\u0800",
        "中",
        "\ud7ff",
        "\ud800",
        "\udfff",
        "\ue000",
        "\uffff",
        "😀",
    ]
    texts = [
        before * at + sign + "x" * 70
        for at in (0, 1, 63, 64, 150)
        for sign in signs
        for before in ("a", "é", "中")
    ]
    texts += ["\ud800" + "😀" * 40, "\U0010ffff" * 65, ""]
    sizes, _ = as_texts(texts).sizes()
    assert sizes.tolist() == [len(text.encode("utf-8", "surrogatepass")) for text in texts]
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        assert as_texts([text]).sizes()[1] == as_texts([data]).sizes()[1] == is_text(data)


def test_wrong_bytes_are_found_at_every_place(cpu):
    rng = np.random.default_rng(5)
    edges = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF]
    rows = []
    for letters in ("é", "ࠀ中\ud7ff", "𐀀\U0010ffff", "aé中😀"):
        for at in range(140):
            data = bytearray("".join(rng.choice(list(letters + " x"), 140)).encode()[: at + 1])
            rows.append(bytes(data))  # perhaps cut off within a character
            data[at] = rng.choice(edges)
            rows.append(bytes(data))
    assert [as_texts([row]).sizes()[1] for row in rows] == [is_text(row) for row in rows]


@given(st.lists(st.text(alphabet="ab\xe9\u03c9\U0001f600", max_size=4), min_size=1, max_size=8), st.data())
def test_same_texts_are_those_with_the_same_bytes(texts, data):
    given_as = [text.encode() if data.draw(st.booleans()) else text for text in texts]
    column = as_texts(given_as)
    left, right = (np.repeat(np.arange(len(texts)), len(texts)), np.tile(np.arange(len(texts)), len(texts)))
    same = column.same(left, right) != 0
    assert same.tolist() == [texts[a] == texts[b] for a, b in zip(left.tolist(), right.tolist(), strict=True)]
