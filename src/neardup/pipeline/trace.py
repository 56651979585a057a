"""Two texts through every stage, with what each stage makes of them: votes, weak bits, flips, sketch, bands.

For people who learn the method or want to understand a verdict. All hashes have the public seed: what is shown here
says nothing about an index whose seed is secret."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.compare.explain import Explanation, explain
from neardup.compare.verify import Jaccard
from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.features.normalize import tokens
from neardup.features.shingles import Shingles, Words
from neardup.fingerprints.fingerprints import Codes, Sketches
from neardup.fingerprints.minhash import MinHash
from neardup.fingerprints.simhash import Simhash
from neardup.search.codes import top_bits
from neardup.search.lsh import LSH
from neardup.search.psm.psm import PSM

__all__ = ["Band", "Flip", "Pair", "Print", "Trial", "trial"]

BITS = 64
WIDTH = 5
HEADER, RADIUS, FLIPS = 20, 3, 24  # as for an index of a million codes
LOWEST = 0.4  # below, bands would need more values than a person looks at
ONE_SIDED = 0.8  # of two containments, when one text holds the other and not the other way round
DIFF_PARTS, DIFF_PART = 400, 600


@dataclass(frozen=True)
class Print:
    """One text. `bits` are the code's, bit 63 first, and `margins` the votes behind each of them in the same order: the
    larger their size, the firmer the bit. `weakest` are the numbers of all bits, the weakest first. `sketch` holds the
    MinHash values in hexadecimal digits, band after band. A text without words has no fingerprint: all is empty."""

    tokens: int
    shingles: int
    code: str
    bits: str
    margins: list[float]
    weakest: list[int]
    sketch: list[str]


@dataclass(frozen=True)
class Flip:
    """A probe of PSM: the header bits it flips, none for the first, the sum of their margins, and whether the right
    text is stored under the header that results."""

    bits: list[int]
    cost: float
    reaches: bool


@dataclass(frozen=True)
class Band:
    """A band of the sketches: in how many of its places both are equal; the texts share the band if all are."""

    equal: int
    whole: bool


@dataclass(frozen=True)
class Pair:
    """How two texts compare. `distance` counts the bits in which the codes differ, `differing` names them.
    `reached_by` is the first probe of PSM that reaches the right text, 0 the header itself; None if none does.
    `estimate` is the sketches' guess at `jaccard`, with the standard `error` to expect of it; `chance` is how often two
    such texts share a band. Of `diff` only the beginning is kept where it is long."""

    verdict: str
    duplicate: bool
    reasons: list[str]
    jaccard: float
    containment: list[float]
    cosine: float
    edit: float | None
    differing: list[int]
    distance: int
    reached_by: int | None
    equal: int
    estimate: float
    error: float
    chance: float
    bands: list[Band]
    shingles: list[int]
    shared: list[str]
    only_left: list[str]
    only_right: list[str]
    diff: list[list[str]] | None


@dataclass(frozen=True)
class Trial:
    """One text, or two, through all stages. `pair` is None where there is one text, or one without words."""

    threshold: float
    header_bits: int
    radius: int
    bands: int
    rows: int
    left: Print
    right: Print | None
    flips: list[Flip]
    pair: Pair | None


def trial(left: str, right: str | None = None, *, threshold: float = 0.8) -> Trial:
    """Take one text or two through simhash with PSM, and MinHash with LSH, and compare them exactly."""
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold {threshold}: must be above 0 and at most 1")
    texts = [left] if right is None else [left, right]
    words = Words(weights="count").extract(texts)
    shingles = Shingles(WIDTH).extract(texts)
    bands = Config(verify=Jaccard(max(threshold, LOWEST))).bands
    codes = Simhash(BITS).compute(words)
    sketches = MinHash(bands.values).compute(shingles)
    counts = [int(count) for count in shingles.sizes]
    made = explain(left, right, threshold=threshold, width=WIDTH, samples=8) if right is not None else None
    word_counts = [len(found) for found in tokens(texts)]
    prints = [_print(codes, sketches, row, word_counts[row], counts[row]) for row in range(len(texts))]
    flips = _flips(codes)
    pair = None
    if made is not None and not codes.empty.any():
        pair = _pair(made, codes, sketches, bands, flips)
    return Trial(
        threshold=threshold,
        header_bits=HEADER,
        radius=RADIUS,
        bands=bands.bands,
        rows=bands.rows,
        left=prints[0],
        right=prints[1] if right is not None else None,
        flips=flips,
        pair=pair,
    )


def _print(codes: Codes, sketches: Sketches, row: int, tokens: int, shingles: int) -> Print:
    if codes.empty[row]:
        return Print(tokens, shingles, "", "", [], [], [])
    assert codes.margins is not None
    code, margins = int(codes.codes[row, 0]), codes.margins[row]
    return Print(
        tokens=tokens,
        shingles=shingles,
        code=f"{code:016x}",
        bits=f"{code:064b}",
        margins=[round(float(margin), 4) for margin in margins[::-1]],
        weakest=[int(bit) for bit in np.argsort(np.abs(margins), kind="stable")],
        sketch=[f"{value:08x}" for value in sketches.values[row].tolist()],
    )


def _flips(codes: Codes) -> list[Flip]:
    """The left text's probes in PSM's own order, the header as it is first."""
    if codes.empty[0]:
        return []
    psm = PSM(RADIUS, flips=FLIPS, header_bits=HEADER, order="heap")
    costs = np.abs(psm.costs(codes, np.array([0])))
    masks = psm.masks(costs, HEADER, np.zeros(HEADER, np.float32), FLIPS, 1)[0]
    headers: NDArray[np.uint64] = top_bits(codes.codes, BITS, HEADER)
    apart = int(headers[0] ^ headers[1]) if len(codes) > 1 and not codes.empty[1] else None
    found = [Flip([], 0.0, apart == 0)]
    for mask in masks.tolist():
        if mask:
            bits = [BITS - HEADER + bit for bit in range(HEADER) if mask >> bit & 1]
            found.append(Flip(bits, round(float(costs[0, bits].sum()), 4), apart == mask))
    return found


def _pair(made: Explanation, codes: Codes, sketches: Sketches, bands: LSH, flips: list[Flip]) -> Pair:
    equal = sketches.values[0] == sketches.values[1]
    counts = equal.reshape(bands.bands, bands.rows).sum(axis=1)
    apart = int(codes.codes[0, 0] ^ codes.codes[1, 0])
    by_band = [Band(int(count), bool(count == bands.rows)) for count in counts]
    reached_by = next((place for place, flip in enumerate(flips) if flip.reaches), None)
    estimate = float(equal.mean())
    return Pair(
        verdict=made.verdict,
        duplicate=made.duplicate,
        reasons=_reasons(made, estimate, sum(band.whole for band in by_band), bands, reached_by),
        jaccard=made.jaccard,
        containment=list(made.containment),
        cosine=made.cosine,
        edit=made.edit,
        differing=[bit for bit in range(BITS - 1, -1, -1) if apart >> bit & 1],
        distance=made.simhash_distance,
        reached_by=reached_by,
        equal=int(equal.sum()),
        estimate=estimate,
        error=math.sqrt(made.jaccard * (1 - made.jaccard) / bands.values),
        chance=float(bands.curve(made.jaccard)),
        bands=by_band,
        shingles=list(made.shingles),
        shared=list(made.shared),
        only_left=list(made.only_left),
        only_right=list(made.only_right),
        diff=None if made.diff is None else [[kind, _cut(part)] for kind, part in made.diff[:DIFF_PARTS]],
    )


def _cut(part: str) -> str:
    if len(part) <= DIFF_PART:
        return part
    half = DIFF_PART // 2
    return f"{part[:half]} … {part[-half:]}"


def _reasons(
    made: Explanation, estimate: float, shared: int, bands: LSH, reached_by: int | None
) -> list[str]:
    """Sentences that give the reason for the verdict, and say whether a search would have found the pair."""
    shared, left, right = made.shingles
    found = []
    if made.verdict == "identical":
        found.append("The texts are the same, character by character.")
    elif made.verdict == "same words":
        found.append(
            "The texts have the same words in the same order; they differ only in case, signs or spaces."
        )
    side = "at or above" if made.jaccard >= made.threshold else "below"
    found.append(
        f"They share {shared:,} of {shared + left + right:,} different runs of {made.width} words: "
        f"a Jaccard similarity of {made.jaccard:.3f}, {side} the threshold of {made.threshold:g}."
    )
    least, most = sorted(made.containment)
    if made.jaccard < made.threshold <= most and least < ONE_SIDED * most:
        inner, outer = ("first", "second") if made.containment[0] == most else ("second", "first")
        found.append(
            f"But {most:.0%} of the {inner} text occurs in the {outer} one: one holds the other, "
            "which a search for containment would report."
        )
    lsh = f"{shared:,} of {bands.bands:,} bands" if shared else f"none of the {bands.bands:,} bands"
    found.append(
        f"Their sketches agree in {estimate:.1%} of the places and share {lsh}: MinHash with LSH "
        f"{'would compare them' if shared else 'would never look at this pair'}."
    )
    near = made.simhash_distance <= RADIUS
    how = (
        "their headers are the same"
        if reached_by == 0
        else f"flip number {reached_by} reaches the other's header"
    )
    if near and reached_by is not None:
        psm = f"PSM finds it, since {how}"
    elif near:
        psm = f"but none of the first {FLIPS} flips reaches the other's header, so PSM misses it"
    else:
        psm = f"more than the radius of {RADIUS}, so simhash with this radius does not report it"
    found.append(f"Their simhash codes differ in {made.simhash_distance} of {BITS} bits: {psm}.")
    return found
