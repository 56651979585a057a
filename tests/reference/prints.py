"""Naive twins of the fingerprint kernels, in plain Python numbers, and what their tests share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from neardup import _core
from neardup.features import Features

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
EMPTY_BIN = 0xFFFFFFFF


def levels() -> list[_core.Cpu]:
    return [level for level in _core.Cpu if level.value <= _core.best_cpu().value]


def same_everywhere(compute: Callable[[int], Any]) -> Any:
    """compute(threads) at every CPU level with one and two threads; all answers must be the same bytes."""
    answers = []
    try:
        for level in levels():
            _core.force_cpu(level)
            answers += [compute(threads) for threads in (1, 2)]
    finally:
        _core.force_cpu(_core.best_cpu())
    for answer in answers[1:]:
        assert as_bytes(answer) == as_bytes(answers[0])
    return answers[0]


def as_bytes(answer: Any) -> Any:
    if isinstance(answer, np.ndarray):
        return answer.dtype, answer.shape, answer.tobytes()
    if isinstance(answer, tuple):
        return tuple(as_bytes(part) for part in answer)
    return {
        field.name: as_bytes(value) if isinstance(value, np.ndarray) else value
        for field in fields(answer)
        for value in [getattr(answer, field.name)]
    }


def features_of(rows: Sequence[dict[int, float] | set[int]], scheme: str = "test") -> Features:
    """Features from rows of {hash: weight}, or of hashes that weigh 1."""
    tables = [dict.fromkeys(row, 1.0) if isinstance(row, (set, frozenset)) else row for row in rows]
    hashes = [h for row in tables for h in sorted(row)]
    weights = [row[h] for row in tables for h in sorted(row)]
    return Features(
        np.array(hashes, dtype=np.uint64),
        np.array(weights, dtype=np.float32),
        np.cumsum([0] + [len(row) for row in tables]).astype(np.int64),
        scheme,
    )


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def unmix(x: int) -> int:
    def unshift(y: int, by: int) -> int:
        out = y
        for _ in range(64 // by):
            out = y ^ out >> by
        return out

    x = unshift(x, 31) * pow(0x94D049BB133111EB, -1, 1 << 64) & MASK
    x = unshift(x, 27) * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & MASK
    return unshift(x, 30)


def draw(seed: int, i: int) -> int:
    return mix(seed + (i + 1) * GOLDEN & MASK)


def mix32(x: int) -> int:
    x = (x ^ x >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    x = (x ^ x >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return x ^ x >> 16


def exact_quantiles() -> list[float]:
    """Quantiles of N(0, 1) above the median, in units of 2**-12, not yet rounded."""
    return [4096 * NormalDist().inv_cdf((i + 0.5) / 65536) for i in range(32768, 65536)]


def simhash(
    row: dict[int, float], bits: int, tie: str, gaussian: bool
) -> tuple[list[int], list[np.float32], list[int]]:
    """Words of the code, margins and the integer votes behind them."""
    words = [0] * ((bits + 63) // 64)
    if not row:
        return words, [np.float32(0)] * bits, [0] * bits
    weights = {h: float(np.float32(w)) for h, w in row.items()}
    largest = max(map(abs, weights.values()))
    exponent = 23 - math.frexp(largest)[1] if largest else 0
    table = _core.gaussian_quantiles().tolist() if gaussian else []
    votes = [0] * bits
    for h, w in weights.items():
        scaled = round(w * 2.0**exponent)  # half to even; the product is exact
        for j in range(bits):
            if gaussian:
                nu = table[draw(h, j // 4) >> 16 * (j % 4) & 0xFFFF]
                votes[j] += (scaled * nu + 128) >> 8
            else:
                word = h if j < 64 else mix(h ^ 0xD6E8FEB86659FD93)
                votes[j] += scaled if word >> j % 64 & 1 else -scaled
    unit = 2.0 ** ((8 - 12 if gaussian else 0) - exponent)
    most = float(np.finfo(np.float32).max)
    margins = [np.float32(min(max(vote * unit, -most), most)) for vote in votes]
    for j, vote in enumerate(votes):
        words[j // 64] |= (vote >= 0 if tie == "ge" else vote > 0) << j % 64
    return words, margins, votes


def weakest_bits(margins: Sequence[float], count: int) -> list[int]:
    return sorted(range(len(margins)), key=lambda j: (abs(margins[j]), j))[:count]


def one_permutation(hashes: set[int], values: int, seed: int) -> list[int]:
    if not hashes:
        return [0] * values
    key = draw(seed, 0)
    bins = [EMPTY_BIN] * values
    for feature in hashes:
        h = mix(feature ^ key)
        place = h * values >> 64
        bins[place] = min(bins[place], min(h & 0xFFFFFFFF, EMPTY_BIN - 1))
    filled = list(bins)
    for j in range(values):
        attempt = 0
        while filled[j] == EMPTY_BIN:
            tries = draw(key ^ MASK, attempt // 4 * 65536 + j)
            filled[j] = bins[(tries >> 16 * (attempt % 4) & 0xFFFF) * values >> 16]
            attempt += 1
    return [mix32(value) for value in filled]


def permutations(values: int, seed: int) -> tuple[int, list[int], list[int]]:
    key = draw(seed, 0)
    return key, [draw(key, 2 * j) | 1 for j in range(values)], [draw(key, 2 * j + 1) for j in range(values)]


def permute(x: int, key: int, multiplier: int, offset: int) -> int:
    return (mix(x ^ key) * multiplier + offset) & MASK


def unpermute(y: int, key: int, multiplier: int, offset: int) -> int:
    return unmix((y - offset) * pow(multiplier, -1, 1 << 64) & MASK) ^ key


def independent(hashes: set[int], values: int, seed: int) -> list[int]:
    if not hashes:
        return [0] * values
    key, multipliers, offsets = permutations(values, seed)
    return [
        mix(min(permute(x, key, m, o) for x in hashes)) & 0xFFFFFFFF
        for m, o in zip(multipliers, offsets, strict=True)
    ]


def known_answers() -> Any:
    """The worked examples of the papers and slides, errata applied."""
    return json.loads((Path(__file__).parents[1] / "fixtures" / "known_answers.json").read_text())


def word_shingles(text: str, width: int = 5) -> set[int]:
    words = text.lower().split()
    return {
        _core.hash_bytes(" ".join(words[i : i + width]).encode("utf-8", "surrogatepass"), 0)
        for i in range(len(words) - width + 1)
    }
