"""Write the tables of code points: python tools/unicode_tables.py > core/text/unicode_tables.inc

What the core must know of each code point: its combining class, how it decomposes (NFKD), whether NFKC can change it,
its case folding, what is left of it without accents, and what it is to a tokeniser. Every table is a two-stage trie:
the first stage maps `code point >> 7` to a block, the second holds the blocks. tests/test_unicode.py checks that the
file is what this script writes (when the running Python has the same Unicode version).
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

LIMIT = 0x110000
BLOCK = 128

# Scripts written without spaces between words: each of their characters is a token of its own.
UNSPACED = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0xA9E0, 0xA9FF),  # Myanmar extended B
    (0xAA60, 0xAA7F),  # Myanmar extended A
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # iteration mark, closing mark, zero of CJK
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3040, 0x30FF),  # Hiragana and Katakana
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # CJK extension A
    (0x4E00, 0x9FFF),  # CJK
    (0xF900, 0xFAFF),  # CJK compatibility
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x1AFF0, 0x1B16F),  # Kana supplements
    (0x20000, 0x323AF),  # CJK extensions B to H
)

WORD, SINGLE, SPACE, PUNCTUATION, IGNORED = range(5)


def character_class(c: str) -> int:
    """What a code point is to a tokeniser (enum Class in core/text/unicode.hpp)."""
    category = unicodedata.category(c)
    if category == "Cf":
        return IGNORED
    if category[0] in "LNM" or c == "_":
        return SINGLE if any(a <= ord(c) <= b for a, b in UNSPACED) else WORD
    return SPACE if category[0] in "ZC" else PUNCTUATION


def is_accent(c: str) -> bool:
    """Marks that decorate a letter; not those that are letters in Indic, Thai and kana writing."""
    order = unicodedata.combining(c)
    return unicodedata.category(c) == "Mn" and (order == 1 or 10 <= order <= 36 or order >= 200)


def without_accents(c: str) -> str:
    plain = "".join(x for x in unicodedata.normalize("NFD", c) if not is_accent(x))
    return unicodedata.normalize("NFC", plain)


def compositions() -> dict[tuple[int, int], int]:
    """Primary composites: pairs of code points that NFC joins. Hangul is left to arithmetic."""
    pairs = {}
    for code in range(LIMIT):
        form = unicodedata.decomposition(chr(code))
        if form and not form.startswith("<"):
            parts = [int(x, 16) for x in form.split()]
            if len(parts) == 2 and unicodedata.normalize("NFC", "".join(map(chr, parts))) == chr(code):
                pairs[parts[0], parts[1]] = code
    return pairs


def is_hangul(code: int) -> bool:
    return 0xAC00 <= code <= 0xD7A3


def properties(code: int, second: set[int]) -> int:
    """Packed: combining class (8 bits), class (3), may change under NFKC, folds, has accents, is a digit."""
    c = chr(code)
    joins_backward = code in second or 0x1161 <= code <= 0x1175 or 0x11A8 <= code <= 0x11C2
    unsafe = unicodedata.normalize("NFKC", c) != c or joins_backward or unicodedata.combining(c) != 0
    return (
        unicodedata.combining(c)
        | character_class(c) << 8
        | unsafe << 11
        | (c.casefold() != c) << 12
        | (without_accents(c) != c) << 13
        | (unicodedata.category(c) == "Nd") << 14
    )


class Pool:
    """Strings of code points, each stored once as its length followed by its code points; number 0 is 'no change'."""

    def __init__(self) -> None:
        self.values = [0]
        self.places: dict[tuple[int, ...], int] = {}

    def place(self, text: str) -> int:
        key = tuple(map(ord, text))
        if key not in self.places:
            self.places[key] = len(self.values)
            self.values += [len(key), *key]
        return self.places[key]


def trie(value: Callable[[int], int]) -> tuple[list[int], list[int]]:
    first: list[int] = []
    second: list[int] = []
    blocks: dict[tuple[int, ...], int] = {}
    for start in range(0, LIMIT, BLOCK):
        block = tuple(value(code) for code in range(start, start + BLOCK))
        if block not in blocks:
            blocks[block] = len(blocks)
            second += block
        first.append(blocks[block])
    return first, second


def array(kind: str, name: str, values: list[int]) -> None:
    # Those declared in core/text/unicode.hpp, for lookups in inner loops, are seen from everywhere.
    linkage = "extern const" if name.startswith("kProperties") else "static constexpr"
    print(f"{linkage} std::{kind}_t {name}[] = {{")
    line = "   "
    for value in values:
        text = f" {value},"
        if len(line) + len(text) > 110:
            print(line)
            line = "   "
        line += text
    print(line)
    print("};")


def main() -> None:
    surrogate = range(0xD800, 0xE000)
    pairs = compositions()
    second = {b for _, b in pairs}
    pool = Pool()

    def mapped(change: Callable[[str], str]) -> Callable[[int], int]:
        def value(code: int) -> int:
            if code in surrogate or is_hangul(code):
                return 0
            c = chr(code)
            return pool.place(change(c)) if change(c) != c else 0

        return value

    print("// Generated by tools/unicode_tables.py; do not edit.")
    print(f'static constexpr char kUnicodeVersion[] = "{unicodedata.unidata_version}";')
    tables = {
        "Properties": lambda code: SPACE << 8 if code in surrogate else properties(code, second),
        "Decomposition": mapped(lambda c: unicodedata.normalize("NFKD", c)),
        "Fold": mapped(str.casefold),
        "Plain": mapped(without_accents),
    }
    for name, value in tables.items():
        first, blocks = trie(value)
        array("uint8" if max(first) < 256 else "uint16", f"k{name}Index", first)
        array("uint16", f"k{name}Block", blocks)
    assert max(pool.places.values()) < 65536
    array("uint32", "kPool", pool.values)
    ordered = sorted(pairs.items())
    array("uint64", "kPairs", [a << 21 | b for (a, b), _ in ordered])
    array("uint32", "kComposites", [c for _, c in ordered])


if __name__ == "__main__":
    sys.exit(main())
