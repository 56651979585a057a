"""Hold every engine's estimates against exact similarity: a fast wrong answer is worth nothing.

Run as a process of its own per engine (started by run.py), so that one engine's failure names that engine.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import json
import random
import re
import sys
import unicodedata
from collections import Counter
from typing import Any

import corpus
import numpy as np
from numpy.typing import NDArray

# Scripts written without spaces: each character is a token.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)


def tokens(text: str) -> list[str]:
    """Words by the project's definition, the slow way: runs of letters, digits, marks and underscores."""
    text = unicodedata.normalize("NFKC", text).casefold()
    spaced = UNSPACED.sub(lambda match: f" {match[0]} ", text)
    return "".join(c if c == "_" or unicodedata.category(c)[0] in "LNM" else " " for c in spaced).split()


def shingles(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[i:] for i in range(5)), strict=False))


def jaccard(left: list[str], right: list[str]) -> float:
    a, b = shingles(left), shingles(right)
    return len(a & b) / len(a | b)


def angle(left: list[str], right: list[str]) -> float:
    """The angle between two bags of words, as a share of a half turn."""
    a, b = Counter(left), Counter(right)
    dot = sum(count * b[word] for word, count in a.items())
    norms = np.sqrt(float(sum(n * n for n in a.values())) * float(sum(n * n for n in b.values())))
    return float(np.arccos(min(dot / norms, 1.0)) / np.pi)


def sample(sets: list[str], count: int) -> tuple[list[str], NDArray[np.int64]]:
    """Texts and pairs of rows, spread evenly over the similarities that occur; one pair in ten is random."""
    rng = random.Random(7)
    texts: dict[str, str] = {}
    chosen: list[tuple[str, str]] = []
    for name in sets:
        found = dict(corpus.documents(name))
        bins: dict[int, list[tuple[str, str]]] = {}
        with gzip.open(corpus.data() / name / "exact_pairs.tsv.gz", "rt", encoding="utf-8") as lines:
            for row in csv.reader(lines, delimiter="\t"):
                if row[0] in found:  # not the header
                    bins.setdefault(min(int(float(row[2]) * 10), 9), []).append((row[0], row[1]))
        share = count // len(sets)
        for pairs in bins.values():
            chosen += rng.sample(pairs, min(len(pairs), share * 9 // 10 // len(bins)))
        names = sorted(found)
        chosen += [tuple(rng.sample(names, 2)) for _ in range(share // 10)]
        texts |= found
    used = sorted({name for pair in chosen for name in pair})
    long = {name for name in used if len(tokens(texts[name])) >= 100}
    used = [name for name in used if name in long]
    rows = {name: row for row, name in enumerate(used)}
    pairs = [(rows[a], rows[b]) for a, b in chosen if a in long and b in long]
    return [texts[name] for name in used], np.array(pairs, np.int64)


def main(request: dict[str, Any]) -> dict[str, Any]:
    texts, pairs = sample(request["sets"], request["pairs"])
    words = [tokens(text) for text in texts]
    engine = importlib.import_module(f"engines.{request['module']}")
    plain = [" ".join(row) for row in words]
    report: dict[str, Any] = {"engine": request["name"], "pairs": len(pairs)}

    def hold(what: str, estimate: NDArray[np.float64], exact: NDArray[np.float64]) -> None:
        errors = estimate - exact
        report[what] = {
            "mean_absolute_error": round(float(np.abs(errors).mean()), 4),
            "bias": round(float(errors.mean()), 4),
        }

    if hasattr(engine, "similarities") and "minhash" in request["works"]:
        exact = np.array([jaccard(words[left], words[right]) for left, right in pairs])
        hold("minhash", engine.similarities(plain, pairs, **request["options"]), exact)
        if request["module"] == "ours":  # our own tokens, from the text as it came
            hold("minhash, raw text", engine.similarities(texts, pairs), exact)
    if hasattr(engine, "angles") and "simhash" in request["works"]:
        exact = np.array([angle(words[left], words[right]) for left, right in pairs])
        hold("simhash", engine.angles(plain, pairs, **request["options"]), exact)
    return report


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
