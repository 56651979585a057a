"""Lines of texts, identified by their words: which lines recur, and texts without recurring lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.shingles import WIDEST, Shingles, TextFeatures

__all__ = ["LineTable", "lines_of", "recurring_lines", "without_lines"]

Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]


class LineTable:
    """All lines of some texts. Line i is `data[begins[i]:ends[i]]` of text `rows[i]`,
    which ends at `stops[rows[i] + 1]`.

    Lines with the same words have the same key; a line without words, or with more than 1,024, has key 0.
    """

    def __init__(self, texts: Sequence[bytes], features: TextFeatures, threads: int = 1) -> None:
        self.data = np.frombuffer(b"".join(texts), np.uint8)
        self.stops: Rows = np.cumsum([0, *map(len, texts)]).astype(np.int64)
        breaks = np.flatnonzero((self.data == 10) | (self.data == 13))
        self.begins: Rows = np.sort(np.concatenate([self.stops[:-1], breaks + 1]))
        self.ends: Rows = np.sort(np.concatenate([breaks, self.stops[1:]]))
        # A text has one more line than it has line breaks.
        self.rows = np.repeat(np.arange(len(texts)), np.diff(np.searchsorted(breaks, self.stops)) + 1)
        column = _core.Texts()
        column.add_spans(self.data, self.begins, self.ends)
        # A text shorter than a shingle is one shingle, so a line of words is one feature.
        whole = Shingles(WIDEST, normalize=features.normalize, hash=features.hash, seed=features.seed)
        made = whole.extract(column, threads=threads)
        self.keys = np.zeros(len(self.begins), np.uint64)
        single = made.sizes == 1
        self.keys[single] = made.hashes[made.offsets[:-1][single]]


def lines_of(texts: Sequence[bytes], features: TextFeatures, threads: int = 1) -> Keys:
    """The keys of the lines of each text, each once for a text."""
    lines = LineTable(texts, features, threads)
    held = lines.keys != 0
    order = np.lexsort((lines.keys[held], lines.rows[held]))
    rows, keys = lines.rows[held][order], lines.keys[held][order]
    fresh = np.ones(len(keys), np.bool_)
    fresh[1:] = (keys[1:] != keys[:-1]) | (rows[1:] != rows[:-1])
    found: Keys = keys[fresh]
    return found


def recurring_lines(batches: Iterator[Keys], often: float) -> tuple[Keys, Rows]:
    """Keys that occur in more than `often` texts, ascending, and in how many texts each occurs."""
    keys, counts = np.unique(np.concatenate([np.empty(0, np.uint64), *batches]), return_counts=True)
    return keys[counts > often], counts[counts > often]


def without_lines(
    texts: Sequence[bytes], known: Keys, features: TextFeatures, threads: int = 1
) -> list[bytes]:
    """The texts without the lines whose keys are in `known` (ascending). A text without other words is unchanged."""
    lines = LineTable(texts, features, threads)
    if not len(known) or not len(lines.keys):
        return list(texts)
    dropped = known[np.minimum(np.searchsorted(known, lines.keys), len(known) - 1)] == lines.keys
    # A line with very many words has no key, and is never part of a template.
    words = (lines.keys != 0) | (lines.ends - lines.begins > WIDEST)
    left = np.bincount(lines.rows[~dropped & words], minlength=len(texts))
    dropped &= left[lines.rows] > 0
    edges = np.zeros(len(lines.data) + 1, np.int32)
    np.add.at(edges, lines.begins[dropped], 1)
    behind = lines.ends + (lines.ends < lines.stops[lines.rows + 1])  # the line break is dropped too
    np.add.at(edges, behind[dropped], -1)
    kept = np.cumsum(edges[:-1]) == 0
    ends = np.concatenate([[0], np.cumsum(kept)])[lines.stops]
    data = lines.data[kept].tobytes()
    return [data[a:b] for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
