"""Documents of an attacker who knows a seed: forged words, and shingles that stick to every sketch."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import neardup as nd
from neardup import _core
from neardup.fingerprints import DEFAULT_SEED

__all__ = ["FORGED", "PAGE", "forged_page", "sticky_pages"]

FORGED: dict[str, str] = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "forged_words.json").read_text()
)
PAGE = " ".join(["the ferry leaves the north quay at noon", "north ferry leaves quay the noon at the"] * 5)


def forged_page(page: str = PAGE) -> str:
    """Gibberish whose words have the hashes of a page's words under the public seed; it is longer than the page."""
    return " ".join(FORGED[word] for word in page.split())


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@cache
def _mined(seed: int, values: int = 128, tried: int = 200_000) -> str:
    """For each value of a sketch the shingle, of many tried, that has the smallest: few pages have a smaller one."""
    draw = np.random.default_rng(1)
    texts = [
        " ".join(f"m{word}" for word in words) for words in draw.integers(0, 1 << 30, (tried, 5)).tolist()
    ]
    hashes = nd.Shingles(5, seed=seed).extract(texts).hashes
    mixed = _mix(hashes ^ np.uint64(_core.permutations(1, seed)[0]))
    bins, low = (mixed >> np.uint64(57)).astype(np.int64), mixed & np.uint64(0xFFFFFFFF)
    order = np.lexsort((low, bins))
    _, first = np.unique(bins[order], return_index=True)
    assert len(first) == values
    return " ".join(texts[row] for row in order[first].tolist())


def sticky_pages(many: int = 12, seed: int = DEFAULT_SEED) -> list[str]:
    """Long pages of words of their own, with the same mined shingles behind them: about 0.14 of a page."""
    draw = np.random.default_rng(2)
    return [
        " ".join(f"p{page}w{word}" for word in draw.integers(0, 1 << 30, 2000).tolist()) + " " + _mined(seed)
        for page in range(many)
    ]
