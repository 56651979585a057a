"""nd.clusters.collapse against a naive twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.clusters import collapsed as folding
from neardup.fingerprints.fingerprints import Codes


def naive(count, near):
    """(shown, [folded]) by the rule itself: under the first one shown that is near."""
    shown: dict[int, list[int]] = {}
    for row in range(count):
        above = next((rank for rank in shown if near(rank, row)), None)
        if above is None:
            shown[row] = []
        else:
            shown[above].append(row)
    return list(shown.items())


def plain(found):
    return [(one.rank, [fold.rank for fold in one.folded]) for one in found]


def jaccard(left: str, right: str) -> float:
    one, two = set(left.split()), set(right.split())
    return len(one & two) / len(one | two) if one and two else 0.0


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=5).map(" ".join), max_size=30),
    st.sampled_from([0.25, 0.5, 0.75, 1.0]),
    st.sampled_from([1, 64, 1 << 18]),
)
def test_collapse_is_the_rule(texts, threshold, pairs):
    before, folding.PAIRS_AT_ONCE = folding.PAIRS_AT_ONCE, pairs
    try:
        found = nd.clusters.collapse(texts, threshold=threshold, features=nd.Words())
    finally:
        folding.PAIRS_AT_ONCE = before
    assert plain(found) == naive(len(texts), lambda a, b: jaccard(texts[a], texts[b]) >= threshold)
    for one in found:
        for fold in one.folded:
            assert fold.measured == pytest.approx(jaccard(texts[one.rank], texts[fold.rank]))


@given(st.lists(st.integers(0, 63), max_size=40), st.integers(0, 3), st.data())
def test_collapse_codes_is_the_rule(words, radius, data):
    empty = np.array(data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words))), bool)
    codes = Codes("test", empty, bits=64, codes=np.array(words, np.uint64).reshape(-1, 1))
    found = folding.collapse_codes(codes, radius=radius)

    def near(a: int, b: int) -> bool:
        return not empty[a] and not empty[b] and (words[a] ^ words[b]).bit_count() <= radius

    assert plain(found) == naive(len(words), near)


def test_long_lists_and_no_chains():
    texts = [" ".join(f"w{n}" for n in range(start, start + 20)) for start in range(0, 600, 1)]
    found = nd.clusters.collapse([nd.Document(str(n), text) for n, text in enumerate(texts)], threshold=0.8)
    assert plain(found)[:2] == [(0, [1]), (2, [3])]  # shingles of 5: a shift by one shares 15 of 17
    assert sum(1 + len(one.folded) for one in found) == 600


@pytest.mark.parametrize("threshold", [0, 1.5, -1])
def test_wrong_thresholds(threshold):
    with pytest.raises(nd.ConfigError):
        nd.clusters.collapse(["a"], threshold=threshold)
