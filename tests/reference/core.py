"""Naive twins of the text kernels: plain Python, slow, easy to check by eye."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from functools import cache

import xxhash

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15

UNSPACED = [
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0x1780, 0x17FF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x323AF),
]


def mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def draw(seed: int, i: int) -> int:
    return mix((seed + (i + 1) * GOLDEN) & MASK)


@cache
def is_accent(c: str) -> bool:
    order = unicodedata.combining(c)
    return unicodedata.category(c) == "Mn" and (order == 1 or 10 <= order <= 36 or order >= 200)


@cache
def without_accents(c: str) -> str:
    return unicodedata.normalize(
        "NFC", "".join(x for x in unicodedata.normalize("NFD", c) if not is_accent(x))
    )


def normal_text(text: str, nfkc=True, casefold=True, accents="keep", digits="keep", **_: object) -> str:
    text = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
    if nfkc:
        text = unicodedata.normalize("NFKC", text)
    if casefold:
        text = "".join(c.casefold() for c in text)
    if accents == "strip":
        text = "".join(without_accents(c) for c in text)
    if nfkc:
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    if digits == "fold":
        text = re.sub(r"\d+", "0", text)
    return text


def tokens(text: str, punctuation="drop", **steps: object) -> list[str]:
    found, word = [], ""
    for c in normal_text(text, **steps) + " ":
        category = unicodedata.category(c)
        if category[0] in "LNM" or c == "_":
            if not any(a <= ord(c) <= b for a, b in UNSPACED):
                word += c
                continue
            found += [word, c]
        else:
            found.append(word)
            if punctuation == "keep" and category[0] in "PS":
                found.append(c)
        word = ""
    return [token for token in found if token]


def characters(text: str, punctuation="drop", whitespace="collapse", **steps: object) -> str:
    kept = []
    for c in normal_text(text, **steps):
        category = unicodedata.category(c)
        if category[0] in "PS" and c != "_" and punctuation == "drop":
            kept.append("\n" if whitespace == "collapse" else "")
        elif category[0] in "ZC":
            kept.append({"collapse": "\n", "keep": c, "drop": ""}[whitespace])
        else:
            kept.append(c)
    if whitespace == "collapse":
        return re.sub("\n+", " ", "".join(kept).strip("\n"))
    return "".join(kept)


def sentences(text: str, **steps: object) -> list[list[str]]:
    """Split the normalised text where a sentence ends, then take each part's tokens."""
    parts = re.split(r"\n|\u3002|[.!?](?=[ \t\r])", normal_text(text, **steps))
    plain = {"nfkc": False, "casefold": False}
    return [found for part in parts if (found := tokens(part, **plain))]


def word_hash(word: str, seed: int) -> int:
    return xxhash.xxh3_64_intdigest(word.encode(), seed)


@cache
def base(seed: int) -> int:
    return (draw(seed, 1) << 2 | 3) & MASK


def shingle(parts: list[int], seed: int) -> int:
    total = 0
    for part in parts:
        total = (total * base(seed) + part) & MASK
    return mix((total + len(parts) * GOLDEN) & MASK)


def shingles(parts: list[int], width: int, seed: int, single_as_is: bool = True) -> list[int]:
    if width == 1 and single_as_is:
        return parts
    if not parts:
        return []
    width = min(width, len(parts))
    return [shingle(parts[i : i + width], seed) for i in range(len(parts) - width + 1)]


def word_shingles(text: str, width: int, seed: int, **steps: object) -> list[int]:
    return shingles([word_hash(t, seed) for t in tokens(text, **steps)], width, seed)


def character_shingles(text: str, width: int, seed: int, **steps: object) -> list[int]:
    return shingles([draw(seed, ord(c)) for c in characters(text, **steps)], width, seed, single_as_is=False)


def sentence_shingles(text: str, width: int, seed: int, **steps: object) -> list[int]:
    wholes = [shingle([word_hash(t, seed) for t in words], seed) for words in sentences(text, **steps)]
    return shingles(wholes, width, seed)


def winnow(sequence: list[int], window: int) -> list[int]:
    places: list[int] = []
    for start in range(max(1, len(sequence) - window + 1)):
        part = sequence[start : start + window]
        if not part:
            return []
        place = start + max(i for i, x in enumerate(part) if x == min(part))
        if not places or places[-1] != place:
            places.append(place)
    return [sequence[i] for i in places]


def row(features: list[int], weights: str = "constant") -> dict[int, float]:
    tf = {"constant": lambda n: 1.0, "count": float, "log": lambda n: 1 + math.log(n)}[weights]
    return {h: tf(n) for h, n in sorted(Counter(features).items())}
