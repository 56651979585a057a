"""Explains why two texts are or are not near-duplicates: all measures, what they share, and where they differ."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

import neardup.compare.similarity as measure
from neardup.compare.changes import Changes, changes_of
from neardup.compare.diff import align_short
from neardup.compare.passages import Span, matched_spans
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize, tokens
from neardup.features.shingles import Shingles, Words
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.simhash import Simhash
from neardup.readers.document import Document
from neardup.values.checks import check_fields, checked, checked_methods

__all__ = ["Explanation", "explain"]

_FIRST = np.zeros(1, np.int64)


@checked_methods
@dataclass(frozen=True)
class Explanation:
    """All measures of one pair. Similarities are 0 to 1; distances are differing bits.

    `duplicate` compares Jaccard similarity of word shingles with the threshold, inclusive. `shared`, `only_left` and
    `only_right` are samples of shingles as text; `spans` are the passages of the left text that occur in the
    right one, in the order of the left one. `diff` is a list of ("same" | "left" | "right", words), or None if the
    texts are too long to align or the extra `edit` is not installed. `changes` counts what differs: title, numbers,
    names, negations, language, sentences.

    verdict           what the two texts are, in words
    width             words per shingle
    tokens            the number of tokens of the left and the right text
    jaccard           Jaccard similarity of the shingles
    containment       the share of left in right, and of right in left
    cosine            cosine of the word counts
    minhash           the Jaccard similarity that MinHash estimates
    simhash_distance  differing bits of the simhash codes
    bit_distance      differing bits of the 1-bit MinHash codes
    weakest_bits      the bits of the left simhash code with the smallest margins, weakest first
    flipped_bits      the bits in which the simhash codes differ

    >>> import neardup as nd
    >>> found = nd.explain("the ferry leaves the pier at eight", "the ferry leaves the pier at nine", width=2)
    >>> found.verdict, round(found.jaccard, 2), found.only_left
    ('different', 0.71, ('at eight',))
    """

    verdict: Literal["identical", "same words", "near-duplicate", "different", "empty"]
    duplicate: bool
    threshold: float
    width: int
    tokens: tuple[int, int]
    jaccard: float
    containment: tuple[float, float]
    cosine: float
    edit: float | None
    minhash: float
    simhash_distance: int
    bit_distance: int
    weakest_bits: tuple[int, ...]
    flipped_bits: tuple[int, ...]
    shingles: tuple[int, int, int]
    shared: tuple[str, ...]
    only_left: tuple[str, ...]
    only_right: tuple[str, ...]
    spans: tuple[Span, ...]
    diff: tuple[tuple[str, str], ...] | None
    changes: Changes

    def __post_init__(self) -> None:
        check_fields(self)

    def by_measure(self, similarity: float) -> Explanation:
        """The same with the verdict of another measure than Jaccard, which gives this similarity."""
        if self.verdict not in ("near-duplicate", "different"):
            return self
        similar = similarity >= self.threshold
        return replace(self, duplicate=similar, verdict="near-duplicate" if similar else "different")

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self) | {"changes": self.changes.to_json()}


@checked
def explain(
    left: str | bytes | Document,
    right: str | bytes | Document,
    *,
    threshold: float = 0.8,
    width: int = 5,
    normalize: Normalize | None = None,
    samples: int = 5,
) -> Explanation:
    """Compare two texts by all measures.

    `threshold` (0 to 1, inclusive) decides the verdict by Jaccard similarity of runs of `width` words. Returns an
    Explanation: the verdict, every measure, the shingles that only one text has, and the differences word by word.

    left, right  two texts, or two Documents
    normalize    what is ignored, such as case; by default as in `dedup`
    samples      the most shingles to show of each kind
    raises       ConfigError if `threshold` is not 0 to 1 or `width` not 1 to 1024

    >>> import neardup as nd
    >>> found = nd.explain("the ferry leaves at eight", "the ferry leaves at nine", threshold=0.5, width=2)
    >>> found.verdict, found.jaccard, found.only_left
    ('near-duplicate', 0.6, ('at eight',))
    """
    if not 0 <= threshold <= 1:
        raise ConfigError(f"threshold {threshold}: must be from 0 to 1")
    how = normalize or Normalize()
    pair = [left, right]
    made, counted = Shingles(width, normalize=how), Words(normalize=how, weights="count")
    # Fingerprints are those of the public seed. What is measured has a seed that nobody can know who forges a word.
    seed = _seed(left, right)
    shingles = replace(made, seed=seed).extract(pair)
    words = replace(counted, seed=seed).extract(pair)
    codes = Simhash(margins="ranks").compute(counted.extract(pair))
    bits = BitMinHash().compute(public := made.extract(pair))
    sketches = MinHash().compute(public)
    found = tokens(pair, how)
    texts = [_shingle_texts(part, width) for part in found]
    jaccard = float(measure.jaccard(shingles, [0], [1])[0])
    empty = not found[0] or not found[1]
    distance = 0 if empty else int(measure.hamming(codes, [0], [1])[0])
    bit_distance = 0 if empty else int(measure.hamming(bits, [0], [1])[0])
    differing = int(codes.codes[0, 0] ^ codes.codes[1, 0])
    assert codes.ranks is not None
    diff, edit = (None, None) if empty else _diff(found[0], found[1])
    if empty:
        verdict = "empty"
    elif _raw(left) == _raw(right):
        verdict = "identical"
    elif found[0] == found[1]:
        verdict = "same words"
    else:
        verdict = "near-duplicate" if jaccard >= threshold else "different"
    only_left, only_right = texts[0].keys() - texts[1].keys(), texts[1].keys() - texts[0].keys()
    shared = texts[0].keys() & texts[1].keys()

    def sample(source: dict[str, int], kept: set[str]) -> tuple[str, ...]:
        return tuple(sorted(kept, key=source.__getitem__)[:samples])

    return Explanation(
        verdict=verdict,  # type: ignore[arg-type]
        duplicate=not empty and jaccard >= threshold,
        threshold=threshold,
        width=width,
        tokens=(len(found[0]), len(found[1])),
        jaccard=jaccard,
        containment=(
            float(measure.containment(shingles, [0], [1])[0]),
            float(measure.containment(shingles, [0], [1], of="right")[0]),
        ),
        cosine=float(measure.cosine(words, [0], [1])[0]),
        edit=edit,
        minhash=0.0 if empty else float(measure.sketch_similarity(sketches, [0], [1])[0]),
        simhash_distance=distance,
        bit_distance=bit_distance,
        weakest_bits=tuple(int(bit) for bit in codes.ranks[0]),
        flipped_bits=tuple(bit for bit in range(64) if differing >> bit & 1) if not empty else (),
        shingles=(len(shared), len(only_left), len(only_right)),
        shared=sample(texts[0], shared),
        only_left=sample(texts[0], only_left),
        only_right=sample(texts[1], only_right),
        spans=matched_spans(found[0], found[1], width),
        diff=diff,
        changes=Changes.of(changes_of(pair, _FIRST, _FIRST + 1)[0]),
    )


def _seed(left: str | bytes | Document, right: str | bytes | Document) -> int:
    """A seed drawn from the two texts: another one for each word that is changed."""
    drawn = hashlib.blake2b(digest_size=8, person=b"neardup pair")
    for text in (left, right):
        drawn.update(hashlib.sha256(_raw(text)).digest())
    return int.from_bytes(drawn.digest(), "little")


def _raw(text: str | bytes | Document) -> bytes:
    if isinstance(text, Document):
        text = text.text
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _shingle_texts(words: list[str], width: int) -> dict[str, int]:
    """Each distinct shingle as text, with the place of its first occurrence."""
    width = min(width, len(words)) or 1
    places: dict[str, int] = {}
    for start in range(len(words) - width + 1):
        places.setdefault(" ".join(words[start : start + width]), start)
    return places


def _diff(left: list[str], right: list[str]) -> tuple[tuple[tuple[str, str], ...] | None, float | None]:
    """The differences word by word, and the share of words that the alignment leaves equal."""
    blocks = align_short(left, right)
    if blocks is None:
        return None, None
    parts: list[tuple[str, str]] = []
    same = 0
    for block in blocks:
        one, other = left[block.left.start : block.left.stop], right[block.right.start : block.right.stop]
        if block.equal:
            same += len(one)
            parts.append(("same", " ".join(one)))
        else:
            parts.extend(
                (side, " ".join(words)) for side, words in (("left", one), ("right", other)) if words
            )
    return tuple(parts), 2 * same / (len(left) + len(right))
