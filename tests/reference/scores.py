"""The naive twins of evaluation: sets of pairs and double loops, as the definitions read."""

from __future__ import annotations

import gzip
from itertools import combinations, product
from pathlib import Path


def pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def tsv(path: Path) -> list[list[str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file][1:]


def pairs_of(clusters: dict[str, str]) -> set[tuple[str, str]]:
    return {pair(a, b) for a, b in combinations(clusters, 2) if clusters[a] == clusters[b]}


def scores(found: set, positive: set, negative: set, similar: set = frozenset()) -> dict[str, int]:
    """Counts of found pairs, each once; pairs in neither set are unlabelled."""
    wrong = found & negative
    return {
        "found": len(found),
        "right": len(found & positive),
        "wrong": len(wrong - similar),
        "apart": len(wrong & similar),
        "missed": len(positive - found),
        "unlabelled": len(found - positive - negative),
    }


def bcubed(found: dict[str, str], true: dict[str, str]) -> tuple[float, float]:
    """Document by document; documents without a true cluster do not take part."""
    precision = recall = 0.0
    for a in true:
        ours = [b for b in true if found.get(a, a) == found.get(b, b)]
        theirs = [b for b in true if true[a] == true[b]]
        both = len(set(ours) & set(theirs))
        precision += both / len(ours)
        recall += both / len(theirs)
    return precision / len(true), recall / len(true)


def components(pairs: set[tuple[str, str]]) -> dict[str, str]:
    label: dict[str, str] = {}
    for a, b in pairs:
        label.setdefault(a, a), label.setdefault(b, b)
    changed = True
    while changed:
        changed = False
        for a, b in pairs:
            low = min(label[a], label[b])
            changed |= label[a] != low or label[b] != low
            label[a] = label[b] = low
    return label


def intact(rate: float, words: int, width: int) -> list[float]:
    """P(c shingles survive) by trying all 2**words sets of changed words."""
    chance = [0.0] * (words - width + 2)
    for changed in product((False, True), repeat=words):
        p = 1.0
        for word in changed:
            p *= rate if word else 1 - rate
        survive = sum(not any(changed[i : i + width]) for i in range(words - width + 1))
        chance[survive] += p
    return chance
