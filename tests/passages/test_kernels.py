"""The kernels behind repeated parts, each beside its naive twin."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference.repeats import lines_of, paragraphs_of

import neardup as nd
from neardup import _core
from neardup.features.texts import as_texts

# Letters, marks, digits and line ends of every kind the normaliser treats in a way of its own.
ALPHABET = "ab A1٣½ﬁéß\u0301\u0327\u00ad\u200b한ᄒ\u1161字 。.,_-'\n\r\t\u2028ไม่क्षİ\U0001d400"
TEXTS = st.text(st.sampled_from(ALPHABET), max_size=40) | st.text(max_size=20)
HOWS = st.builds(
    nd.Normalize,
    nfkc=st.booleans(),
    casefold=st.booleans(),
    accents=st.sampled_from(["keep", "strip"]),
    digits=st.sampled_from(["keep", "fold"]),
    punctuation=st.sampled_from(["drop", "keep"]),
)


@given(TEXTS, HOWS)
@example("x½", nd.Normalize())
@example("12 34", nd.Normalize(digits="fold"))
def test_tokens_are_traced_to_their_characters(text, how):
    words = nd.features.tokens([text], how)[0]
    hashes, offsets, begins, ends = _core.token_stream(as_texts([text]), how.native(), 7, True, 1)
    assert len(hashes) == len(words) == offsets[-1]
    behind = 0
    for word, begin, end in zip(words, begins.tolist(), ends.tolist(), strict=True):
        assert 0 <= begin < end <= len(text) and word in nd.features.tokens([text[begin:end]], how)[0]
        if begin >= behind:
            assert nd.features.tokens([text[behind:begin]], how) == [[]]
        behind = max(behind, end)
    assert nd.features.tokens([text[behind:]], how) == [[]]


@given(TEXTS)
def test_bytes_are_traced_as_strings_are(text):
    how = _core.Normalizer()
    text = text.encode("utf-8", "replace").decode()
    _, _, begins, ends = _core.token_stream(as_texts([text]), how, 7, True, 1)
    _, _, first, last = _core.token_stream(as_texts([text.encode()]), how, 7, True, 1)
    for begin, end, b, e in zip(begins, ends, first, last, strict=True):
        assert text.encode()[b:e].decode() == text[begin:end]


@given(st.lists(TEXTS, max_size=5), HOWS, st.integers(1, 3), st.sampled_from(["line", "paragraph"]))
@example(["a\r\nb\rc\n\nd e\n \t\n\nf"], nd.Normalize(), 1, "paragraph")
@example(["\xad\r1"], nd.Normalize(nfkc=False), 1, "paragraph")
def test_parts_are_what_lines_and_paragraphs_are(texts, how, least, unit):
    part, split = (_core.Part.line, lines_of) if unit == "line" else (_core.Part.paragraph, paragraphs_of)
    digests, begins, ends, counts, offsets = _core.parts_of(as_texts(texts), how.native(), part, least, 5, 2)
    names: dict[bytes, tuple[str, ...]] = {}
    for row, text in enumerate(texts):
        expected = []
        for begin, end in split(text):
            words = tuple(nd.features.tokens([text[begin:end]], how)[0])
            if len(words) >= least:
                expected.append((begin, end, words))
        here = slice(offsets[row], offsets[row + 1])
        assert list(zip(begins[here], ends[here], counts[here], strict=True)) == [
            (b, e, len(words)) for b, e, words in expected
        ]
        for digest, (_, _, words) in zip(digests[here], expected, strict=True):
            assert names.setdefault(digest.tobytes(), words) == words
    assert len(set(names.values())) == len(names)


def test_parts_are_the_same_at_every_level(cpu, udhr):
    found = _core.parts_of(as_texts(udhr[:40]), nd.Normalize().native(), _core.Part.line, 3, 1, 1)
    _core.force_cpu(_core.Cpu.baseline)
    again = _core.parts_of(as_texts(udhr[:40]), nd.Normalize().native(), _core.Part.line, 3, 1, 2)
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True)) and len(found[1]) > 1000


LETTERS = st.lists(st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1), max_size=60)


@given(LETTERS)
@example([1] * 200)
@example([1, 2] * 100)
def test_suffix_array(letters):
    suffixes, shared = _core.suffix_array(np.array(letters, np.int64))
    expected = sorted(range(len(letters)), key=lambda i: letters[i:])
    assert suffixes.tolist() == expected
    for i in range(1, len(letters)):
        a, b = letters[expected[i - 1] :], letters[expected[i] :]
        same = next((k for k in range(min(len(a), len(b))) if a[k] != b[k]), min(len(a), len(b)))
        assert shared[i] == same


@given(st.lists(st.integers(0, 3), max_size=30))
def test_maximal_repeats(letters):
    column = np.array(letters, np.int64)
    suffixes, shared = _core.suffix_array(column)
    lows, highs, lengths = _core.maximal_repeats(column, suffixes, shared)
    found = {
        tuple(letters[suffixes[low] : suffixes[low] + length]): sorted(suffixes[low:high].tolist())
        for low, high, length in zip(lows, highs, lengths, strict=True)
    }
    expected = {}
    for begin in range(len(letters)):
        for end in range(begin + 1, len(letters) + 1):
            word = letters[begin:end]
            where = [i for i in range(len(letters)) if letters[i : i + len(word)] == word]
            before = {letters[i - 1] if i else None for i in where}
            behind = {letters[i + len(word)] if i + len(word) < len(letters) else None for i in where}
            if len(where) > 1 and len(before) > 1 and len(behind) > 1:
                expected[tuple(word)] = where
    assert found == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=200), st.integers(2, 4))
def test_grouping(digests, least):
    column = np.array(digests, np.uint64).reshape(-1, 2) << np.uint64(61)
    numbers = np.arange(len(digests), dtype=np.int64)
    for threads in (1, 2):
        places, firsts, counts = _core.group_parts(column, numbers, least, threads)
        expected = {
            (i, digests.index(d), digests.count(d))
            for i, d in enumerate(digests)
            if digests.count(d) >= least
        }
        assert set(zip(places, firsts, counts, strict=True)) == expected and len(places) == len(expected)


@given(st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=5), st.integers(2, 4), st.booleans())
def test_windows_that_may_be_repeated_are_all_collected(documents, width, apart):
    tokens = np.array([word for words in documents for word in words], np.uint64)
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in documents])]).astype(np.int64)
    keys = [
        (tuple(words[at : at + width]), row if apart else 0, int(offsets[row]) + at)
        for row, words in enumerate(documents)
        for at in range(len(words) - width + 1)
    ]
    kinds = [key[:2] for key in keys]
    for threads in (1, 2):
        filter_ = _core.WindowFilter(20)
        filter_.mark(tokens, offsets, width, 1, apart, 0, 64, threads)
        hashes, places = filter_.collect(tokens, offsets, width, 1, apart, 0, 64, 0, threads)
        expected = [key[2] for key in keys if kinds.count(key[:2]) > 1]
        assert sorted(places.tolist()) == expected  # a filter of a million slots has no false alarm here
        names = {hash_: keys_ for hash_, keys_ in zip(hashes.tolist(), places.tolist(), strict=True)}
        assert len(names) == len({kinds[[k[2] for k in keys].index(place)] for place in places.tolist()})


def test_a_wrong_window_is_noticed():
    tokens = np.array([1, 2, 3, 9, 1, 2, 4], np.uint64)

    def column(*values):
        return np.array(values, np.int64)

    chains = _core.Chains(len(tokens), 3)
    assert chains.check(column(0, 4), column(0, 0), column(2, 2), tokens) == 1
    chains = _core.Chains(len(tokens), 2)
    assert chains.check(column(0, 4), column(0, 0), column(2, 2), tokens) == 0
    chains = _core.Chains(len(tokens), 2)  # only the last word of a window behind a checked one is looked at
    assert chains.check(column(0, 1, 4, 5), column(0, 1, 0, 1), column(2, 2, 2, 2), tokens) == 1


def test_hostile_shapes_are_refused():
    tokens, offsets = np.arange(5, dtype=np.uint64), np.array([0, 5], np.int64)
    filter_ = _core.WindowFilter(10)
    for bad in (np.array([0, 6], np.int64), np.array([1, 5], np.int64), np.array([0, 4, 2, 5], np.int64)):
        with pytest.raises(ValueError):
            filter_.mark(tokens, bad, 2, 1, False, 0, 64, 1)
    with pytest.raises(ValueError):
        filter_.mark(tokens, offsets, 1, 1, False, 0, 64, 1)
    chains = _core.Chains(5, 2)
    for places, firsts in (([4], [0]), ([1], [2]), ([2, 1], [0, 0]), ([-1], [-1]), ([1 << 62], [0])):
        columns = [np.array(values, np.int64) for values in (places, firsts, [2] * len(places))]
        with pytest.raises(ValueError):
            chains.check(*columns, tokens)
        with pytest.raises(ValueError):
            chains.join(*columns, 0)
    with pytest.raises(ValueError):
        _core.maximal_repeats(np.zeros(2, np.int64), np.array([0, 2], np.uint32), np.zeros(2, np.uint32))
    with pytest.raises(TypeError):
        _core.suffix_array(np.zeros(2, np.int32))
