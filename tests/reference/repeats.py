"""Naive twins of the search for repeated lines, paragraphs and passages: definitions, written down.

`maximal_repeats` counts every run of words there is. `suffix_repeats` sorts the suffixes of the whole corpus, as the
literature does; it is slow, but not hopeless, on real text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict

import numpy as np

Found = dict[
    tuple[str, ...], list[tuple[int, int]]
]  # the words of a passage: document and place of each occurrence


def maximal_repeats(documents: list[list[str]], width: int, least: int = 2) -> Found:
    """Every run of `width` words or more with `least` occurrences, unless all of them continue equally on one side."""
    places: Found = defaultdict(list)
    for row, words in enumerate(documents):
        for begin in range(len(words)):
            for end in range(begin + width, len(words) + 1):
                places[tuple(words[begin:end])].append((row, begin))
    found: Found = {}
    for passage, where in places.items():
        if len(where) < least:
            continue
        before = {documents[row][at - 1] if at else (row, "begins") for row, at in where}
        behind = {
            documents[row][at + len(passage)] if at + len(passage) < len(documents[row]) else (row, "ends")
            for row, at in where
        }
        if len(before) > 1 and len(behind) > 1:
            found[passage] = where
    return found


def cut_words(
    documents: list[list[str]], width: int, least: int = 2, most: int | None = None
) -> list[list[bool]]:
    """Which words are removed: those in a window that occurred before, or that occurs more than `most` times."""
    windows: Found = defaultdict(list)
    for row, words in enumerate(documents):
        for at in range(len(words) - width + 1):
            windows[tuple(words[at : at + width])].append((row, at))
    dropped = [[False] * len(words) for words in documents]
    for where in windows.values():
        if len(where) < least:
            continue
        for row, at in where if most is not None and len(where) > most else where[1:]:
            dropped[row][at : at + width] = [True] * width
    return dropped


def suffix_repeats(documents: list[np.ndarray], width: int) -> list[tuple[int, int, int]]:
    """Length, count and first place (in words of the whole corpus) of each maximal repeat, by a full suffix array."""
    offsets = np.cumsum([0] + [len(words) for words in documents])
    joined = np.concatenate(documents)
    _, letters = np.unique(joined, return_inverse=True)
    # A separator of its own behind every document.
    text = np.insert(letters.astype(np.int64), offsets[1:], -1 - np.arange(len(documents)))
    place = np.delete(np.arange(len(text)), offsets[1:] + np.arange(len(documents)))
    to_word = np.full(len(text), -1)
    to_word[place] = np.arange(len(joined))

    n, known = len(text), 1
    rank = np.unique(text, return_inverse=True)[1]
    while True:
        behind = np.full(n, -1)
        behind[: n - known] = rank[known:]
        suffixes = np.lexsort((behind, rank))
        a, b = rank[suffixes], behind[suffixes]
        fresh = np.concatenate([[0], np.cumsum((a[1:] != a[:-1]) | (b[1:] != b[:-1]))])
        rank = np.empty(n, np.int64)
        rank[suffixes] = fresh
        if fresh[-1] == n - 1:
            break
        known *= 2

    shared, same = [0] * n, 0
    order, where, letters_ = suffixes.tolist(), rank.tolist(), text.tolist()
    for at in range(n):
        if where[at] == 0:
            same = 0
            continue
        other = order[where[at] - 1]
        while at + same < n and other + same < n and letters_[at + same] == letters_[other + same]:
            same += 1
        shared[where[at]] = same
        same = max(same - 1, 0)

    found, open_ = [], [(0, 0)]
    for i in range(1, n + 1):
        length, low = shared[i] if i < n else 0, i - 1
        while open_[-1][1] > length:
            low, closed = open_.pop()
            if closed >= width:
                members = order[low:i]
                if len({letters_[at - 1] if at else None for at in members}) > 1:
                    found.append((closed, i - low, int(to_word[min(members)])))
        if open_[-1][1] < length:
            open_.append((low, length))
    return sorted(found)


def lines_of(text: str) -> list[tuple[int, int]]:
    """Where the lines of a text begin and end, their line ends included."""
    return [m.span() for m in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)]


def paragraphs_of(text: str) -> list[tuple[int, int]]:
    """Where the paragraphs of a text begin and end, the blank lines behind each included. A line of white space and
    invisible format characters is blank."""
    found: list[tuple[int, int]] = []
    blank = True
    for begin, end in lines_of(text):
        if all(c.isspace() or unicodedata.category(c) == "Cf" for c in text[begin:end]):
            blank = True
            if found:
                found[-1] = (found[-1][0], end)
        elif blank:
            found.append((begin, end))
            blank = False
        else:
            found[-1] = (found[-1][0], end)
    return found
