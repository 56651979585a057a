"""Worked examples of the lecture slides (US) and of the slides of SL (CS), through the library's own calls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from neardup.compare import similarity
from neardup.features import Characters, Features, Shingles
from neardup.fingerprints import Simhash
from neardup.search.codes import to_codes
from neardup.search.hamming.adjacent import Adjacent, rotate
from neardup.search.psm.vosh import vosh
from papers.experiment import Claim, Experiment, Options, Result, table

FEATURES = {"0101": 0.05, "1101": 0.02, "0001": 0.01, "1110": 0.03, "0100": 0.05, "0011": 0.09}
EIGHT = (37586, 50086, 2648, 934, 40957, 2650, 64475, 40955)
PHRASES = ("the cat sat on the mat", "the cat sat on a mat", "we all scream for ice cream")
PHRASE_CODES = (851459198, 847263864, 984968088)
TROPICAL = (
    "Tropical fish include fish found in tropical environments around the world, including both freshwater and salt "
    "water species"
)
HASHES = (938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779)
CLUSTERS = ({0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9})


def four_bits(words: Sequence[str]) -> tuple[str, list[float]]:
    """The low four bits of a 32-bit simhash of features given as four bits each, and their weights, first bit first."""
    codes = Simhash(bits=32).compute(Features.of([{int(word, 2): FEATURES[word] for word in words}]))
    assert codes.margins is not None
    return f"{int(codes.codes[0, 0]) & 15:04b}", [round(float(w), 2) for w in codes.margins[0, 3::-1]]


def gap(a: int, b: int) -> int:
    return (a ^ b).bit_count()


def run(options: Options) -> Result:
    rows: list[Result] = []

    def add(source: str, example: str, printed: object, here: object, note: str = "") -> None:
        rows.append(
            {"source": source, "example": example, "printed": str(printed), "here": str(here), "note": note}
        )

    every = list(FEATURES)
    code, weights = four_bits(every)
    add("CS", "4-bit simhash of six features", "0101", code)
    add("CS", "their weights", [-0.15, 0.05, -0.01, 0.09], weights)
    add(
        "CS",
        "without the two lightest features",
        "0111",
        four_bits([w for w in every if w not in ("1101", "0001")])[0],
    )
    add(
        "CS",
        "without two heavy features",
        "0011",
        four_bits([w for w in every if w not in ("0101", "0100")])[0],
    )
    order = [bit + 1 for (bit,) in vosh([abs(w) for w in weights], 4, 1)]
    add(
        "CS",
        "bits by ascending size of their weight",
        [3, 2, 4, 1],
        order,
        "worked out from the printed weights",
    )
    a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    pair = Features.of([a, b])
    add("US", "Jaccard of {0,1,2,5,6} and {0,2,3,5,7,9}", 0.375, float(similarity.jaccard(pair, [0], [1])[0]))
    add(
        "US",
        "containment of A in B",
        0.6,
        float(similarity.containment(pair, [0], [1])[0]),
        "worked out from the printed rule",
    )
    touched = [{i for i, cluster in enumerate(CLUSTERS) if cluster & side} for side in (a, b)]
    clusters = Features.of(touched)
    add("US", "JS_clu of the same over four clusters", 0.5, float(similarity.jaccard(clusters, [0], [1])[0]))
    rose = ["a rose is a rose is a rose"]
    bag = Shingles(width=4, weights="count").extract(rose)
    add(
        "US",
        "4-shingles of “a rose is a rose is a rose”, bag and set",
        (5, 3),
        (int(bag.weights.sum()), len(bag.hashes)),
        "E32: printed as a set of 5",
    )
    add(
        "US",
        "3-shingles of the tropical fish sentence",
        16,
        len(Shingles(width=3).extract([TROPICAL]).hashes),
    )
    add("US", "of the 16 hash values those 0 mod 4", [664, 492, 236, 908], [h for h in HASHES if h % 4 == 0])
    cat = Characters(width=2, weights="count").extract([PHRASES[1]])
    add(
        "US",
        "2-character shingles of “the cat sat on a mat”, bag and set",
        (19, 16),
        (int(cat.weights.sum()), len(cat.hashes)),
        "E32: printed as a set of 19",
    )
    p = PHRASE_CODES
    add(
        "US",
        "distances of the three printed simhashes",
        (4, 16, 12),
        (gap(p[0], p[1]), gap(p[0], p[2]), gap(p[1], p[2])),
    )
    mine = Simhash(bits=32).compute(Characters(width=2, weights="count").extract(list(PHRASES)))
    left, right = np.array([0, 0, 1]), np.array([1, 2, 2])
    own = tuple(similarity.hamming(mine, left, right).tolist())
    add(
        "US",
        "the first pair of phrases is the nearest",
        True,
        own[0] < min(own[1:]),
        f"our 32-bit simhashes: {own}; the slides' hash is Ruby's own",
    )
    eight = to_codes(EIGHT, bits=16)
    order = sorted(EIGHT)
    add(
        "US",
        "eight numbers sorted, distances of neighbours",
        [9, 1, 5, 6, 2, 9, 9],
        [gap(x, y) for x, y in pairwise(order)],
    )
    turned = sorted(rotate(eight.codes, 16, 2)[:, 0].tolist())
    add("US", "rotated left twice and sorted", [3736, 3739, 10592, 10600, 19274, 32750, 32758, 61295], turned)
    found = Adjacent(radius=3).candidates(eight)
    pairs = [(x + 1, y + 1) for x, y in zip(found.left.tolist(), found.right.tolist(), strict=True)]
    add(
        "US",
        "pairs within 3 bits by rotate, sort, check adjacent",
        [(2, 4), (3, 6), (5, 8)],
        pairs,
        "E40: may miss pairs in general",
    )
    return {"rows": rows, "passes_at_0.8": similarity.sketch_curve(0.8, 200, 160).item()}


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = [
        (
            r["source"],
            r["example"],
            f"`{r['printed']}`",
            f"`{r['here']}`",
            "yes" if r["printed"] == r["here"] else "no",
            r["note"],
        )
        for r in result["rows"]
    ]
    return [
        *table(("from", "example", "printed", "here", "same", "note"), rows, left=6),
        "Other errata of the slides:",
        "",
        "- E14, E15: the heap pushes two children of the set that it pops, the right one only if the last gap is 2.",
        "- E16: one sign is wrong, without consequences.",
        "- E29: the slides list five approaches and call them four.",
        "- E30: SHA-2 has 224 to 512 bits.",
        "- E31: Hamming distance compares fingerprints; it does not make them.",
        "- E33: the sketch takes the lowest value, not the lowest bit.",
        "- E34: one equal minimum means that one value of the sketch agrees; it is not the similarity.",
        "- E35: the values of two sketches are compared position by position, not as sets.",
        "- E36: a sketch of 200 values is an estimate. A pair with J = 0.8 agrees in 80% of the values with "
        f"probability {result['passes_at_0.8']:.2f}.",
        "- E37: sketches were introduced by Broder.",
        "- E38: simhash estimates the cosine, not Jaccard.",
        "- E39: k has two meanings.",
        "- E40: rotating, sorting and checking neighbours takes O(B n log n) and may miss pairs.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    same = sum(r["printed"] == r["here"] for r in result["rows"])
    apart = [r["example"] for r in result["rows"] if r["printed"] != r["here"]]
    return [
        Claim(
            "US, CS",
            "worked examples of the slides",
            f"{len(result['rows'])} examples",
            f"{same} the same",
            "yes" if not apart else "partly",
            f"these differ: {'; '.join(apart)}" if apart else "all agree",
        )
    ]


EXPERIMENT = Experiment("us-examples", "US and CS: worked examples", run, section, claims)
