"""Where methods fail: templates, short texts, changes of numbers alone, and wording changed throughout.

Number and wording changes are made here from real documents with a fixed seed; the rest is labelled in the sets.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.quality.overlaps import all_jaccard
from benchmarks.quality.recipes import FOLDED, distances
from benchmarks.quality.sets import APART, SAME, LabelledSet, of_labels
from numpy.typing import NDArray

import neardup as nd
from neardup.compare import similarity

__all__ = [
    "aliases",
    "change_numbers",
    "change_words",
    "changed",
    "kinds",
    "short_lines",
    "short_texts",
    "template_pairs",
    "verdicts",
]

Json = dict[str, Any]
Texts = list[str]
Rows = NDArray[np.int64]
NUMBER = re.compile(r"\d+")
WORD = re.compile(r"\w+")
DOCUMENTS = 300


def verdicts(texts: Texts, left: Rows, right: Rows) -> dict[str, NDArray[np.bool_]]:
    """Which pairs each method calls the same; idf is that of the texts."""
    made = nd.Shingles().extract(texts, threads=2)
    jaccard = similarity.jaccard(made, left, right)
    folded = similarity.jaccard(nd.Shingles(normalize=FOLDED).extract(texts, threads=2), left, right)
    wide = similarity.jaccard(nd.Shingles(width=12).extract(texts, threads=2), left, right)
    words = nd.Words(weights=nd.Idf.fit(texts, threads=2)).extract(texts, threads=2)
    apart = similarity.hamming(nd.Simhash(margins="none").compute(words), left, right)
    return {
        "Jaccard of 5 words >= .8": jaccard >= 0.8,
        "Jaccard of 5 words >= .5": jaccard >= 0.5,
        "the same >= .8, digits folded": folded >= 0.8,
        "Jaccard of 12 words >= 1/3": wide >= 1 / 3,
        "simhash, radius 3": apart <= 3,
        "simhash, radius 8": apart <= 8,
        "cosine of TF-IDF words >= .9": similarity.cosine(words, left, right) >= 0.9,
    }


def kinds(given: LabelledSet, name_of: Callable[[str], str] = str) -> list[Json]:
    """The share of judged pairs called the same, by what their note says they are."""
    left, right = (np.array([pair[side] for pair in given.judged], np.int64) for side in (0, 1))
    said = verdicts(list(given.texts), left, right)
    by_kind: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, (_, _, label, note) in enumerate(given.judged):
        by_kind[name_of(note), int(label >= 1)].append(at)
    return [
        {
            "kind": kind,
            "label": label,
            "pairs": len(at),
            "said": {method: round(float(found[at].mean()), 4) for method, found in said.items()},
        }
        for (kind, label), at in sorted(by_kind.items())
    ]


def aliases(given: LabelledSet) -> Json:
    """Pages made of one sentence and a name, all of them different pages: pairs called the same all the same."""
    rows = np.array([row for row, text in enumerate(given.texts) if "is an alias of" in text], np.int64)
    at, to = np.triu_indices(len(rows), 1)
    left, right = rows[at], rows[to]
    fit = given.label[given.place(left, right)] == APART
    said = verdicts(list(given.texts), left[fit], right[fit])
    return {
        "pages": len(rows),
        "pairs": int(fit.sum()),
        "said": {method: round(float(found.mean()), 5) for method, found in said.items()},
        "count": {method: int(found.sum()) for method, found in said.items()},
    }


def short_texts(given: LabelledSet) -> list[Json]:
    """Pairs of one page in two versions that are called the same, by the length of the shorter."""
    sizes = np.array([len(words) for words in nd.features.tokens(list(given.texts))])
    same = np.flatnonzero(given.label == SAME)
    left, right = given.left[same], given.right[same]
    said = verdicts(list(given.texts), left, right)
    shorter = np.minimum(sizes[left], sizes[right])
    rows = []
    for low, high in ((0, 40), (40, 60), (60, 80), (80, 1 << 30)):
        fit = (shorter >= low) & (shorter < high)
        if fit.any():
            means = {method: round(float(found[fit].mean()), 4) for method, found in said.items()}
            rows.append({"from": low, "to": high, "pairs": int(fit.sum()), "said": means})
    return rows


def short_lines(given: LabelledSet, most: int = 4000, seed: int = 0) -> LabelledSet:
    """Lines of 6 to 39 tokens of a set's documents, each once, as documents of their own: revisions of a page bring
    revisions of its lines. They have no labels."""
    lines = sorted({line.strip() for text in given.texts for line in text.splitlines()})
    lines = [
        line for line, words in zip(lines, nd.features.tokens(lines), strict=True) if 6 <= len(words) < 40
    ]
    # Neighbours in the alphabet are similar, so whole runs of them are taken.
    starts = np.random.default_rng(seed).permutation(max(1, len(lines) // 20))[: most // 20]
    picked = [line for start in sorted(starts.tolist()) for line in lines[start * 20 : start * 20 + 20]]
    return of_labels(f"lines of {given.name}", [str(at) for at in range(len(picked))], picked, {}, [])


def change_numbers(text: str, draw: np.random.Generator) -> str:
    """Every number becomes another of as many digits."""

    def other(match: re.Match[str]) -> str:
        old = match[0]
        while True:
            new = "".join(str(digit) for digit in draw.integers(0, 10, len(old)))
            if new != old:
                return new

    return NUMBER.sub(other, text)


def change_words(text: str, share: float, vocabulary: Texts, draw: np.random.Generator) -> str:
    """Each word becomes, with the chance `share`, a word drawn from the vocabulary: a crude model of rewording."""

    def other(match: re.Match[str]) -> str:
        return vocabulary[int(draw.integers(len(vocabulary)))] if draw.random() < share else match[0]

    return WORD.sub(other, text)


def changed(given: LabelledSet, seed: int = 0) -> list[Json]:
    """Documents beside copies with all numbers changed, and with a share of their words changed."""
    draw = np.random.default_rng(seed)
    sizes = [len(text) for text in given.texts]
    fit = [row for row in range(len(given)) if 1000 <= sizes[row] <= 30_000]
    picked = [given.texts[row] for row in draw.permutation(fit)[:DOCUMENTS]]
    vocabulary = sorted({word for text in picked for word in text.split() if word.isalpha()})
    rows = []
    with_numbers = [text for text in picked if NUMBER.search(text)]
    cases: list[tuple[str, Texts, Texts]] = [
        ("numbers", with_numbers, [change_numbers(text, draw) for text in with_numbers])
    ]
    for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3):
        cases.append(
            (f"{share:.0%} of words", picked, [change_words(t, share, vocabulary, draw) for t in picked])
        )
    for name, before, after in cases:
        count = len(before)
        said = verdicts([*before, *after], np.arange(count), np.arange(count) + count)
        means = {method: round(float(found.mean()), 4) for method, found in said.items()}
        rows.append({"change": name, "documents": count, "said": means})
    return rows


def template_pairs(given: LabelledSet) -> Json:
    """Pairs of different pages that are called the same, of all pairs known to be different."""
    apart = np.flatnonzero(given.label == APART)
    left, right = given.left[apart], given.right[apart]
    # Only pairs that share something can be called the same by a set measure, but simhash may collide on any.
    words = nd.Words(weights=nd.Idf.fit(list(given.texts), threads=2)).extract(list(given.texts), threads=2)
    near = distances(nd.Simhash(margins="none").compute(words), given)[apart]
    similar = all_jaccard(nd.Shingles().extract(list(given.texts), threads=2), given)[apart]
    wide = all_jaccard(nd.Shingles(width=12).extract(list(given.texts), threads=2), given)[apart]
    folded = all_jaccard(nd.Shingles(normalize=FOLDED).extract(list(given.texts), threads=2), given)[apart]
    close = np.flatnonzero((near <= 16) | (similar >= 0.2))
    cosine = similarity.cosine(words, left[close], right[close], threads=2)
    return {
        "set": given.name,
        "pairs": len(apart),
        "count": {
            "Jaccard of 5 words >= .8": int((similar >= 0.8).sum()),
            "Jaccard of 5 words >= .5": int((similar >= 0.5).sum()),
            "the same >= .8, digits folded": int((folded >= 0.8).sum()),
            "Jaccard of 12 words >= 1/3": int((wide >= 1 / 3).sum()),
            "simhash, radius 3": int((near <= 3).sum()),
            "simhash, radius 8": int((near <= 8).sum()),
            "cosine of TF-IDF words >= .9": int((cosine >= 0.9).sum()),
        },
    }
