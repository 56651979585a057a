"""Mitzenmacher's notes, figure 12.3: the chance that 90 of 100 places of two sketches agree, by resemblance."""

from __future__ import annotations

import numpy as np

from neardup import _core
from neardup.compare.similarity import jaccard, sketch_curve
from neardup.features import Features, Shingles
from neardup.fingerprints import MinHash
from papers import corpus
from papers.corpus import Collection
from papers.experiment import Claim, Experiment, Options, Result, table
from papers.plots import COLOURS, PRINTED, panels, save

VALUES, NEEDED, WIDTH, FEWEST = 100, 90, 4, 100
SEEDS, PER_DOCUMENT = 8, 4
QUOTED = {"0.8": 0.006, "0.5": 1e-18, "0.9": 0.988, "0.96": 0.997}
SAYS = {"0.8": "less than 0.006", "0.5": "almost 10^-18", "0.9": "greater than 0.988", "0.96": "over 0.997"}
MEANT = 0.95
EDGES = np.array(
    [
        0.5,
        0.6,
        0.7,
        0.75,
        0.8,
        0.825,
        0.85,
        0.86,
        0.87,
        0.88,
        0.89,
        0.9,
        0.91,
        0.92,
        0.93,
        0.94,
        0.95,
        0.96,
        0.98,
        1.0,
    ]
)


def similar_pairs(real: Collection, features: Features) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of pairs of a wide range of resemblance, and that: documents of FEWEST shingles or more with simhash
    codes less than 15 bits apart, each the left one of PER_DOCUMENT pairs at most."""
    left, right, _ = _core.scan(real.codes.codes, real.codes.codes, 64, 14, False, 2)
    long = features.sizes >= FEWEST
    kept = np.flatnonzero((left < right) & long[left] & long[right])
    kept = np.random.default_rng(12).permutation(kept)
    kept = kept[np.argsort(left[kept], kind="stable")]
    kept = kept[np.arange(len(kept)) - np.searchsorted(left[kept], left[kept]) < PER_DOCUMENT]
    exact = jaccard(features, left[kept], right[kept], threads=2)
    wide = (exact >= EDGES[0]) & (exact < 1)
    return left[kept][wide], right[kept][wide], exact[wide]


def run(options: Options) -> Result:
    real = corpus.real()
    features = Shingles(width=WIDTH).extract(real.texts)
    left, right, exact = similar_pairs(real, features)
    places = np.searchsorted(EDGES, exact, "right") - 1
    accepted = np.zeros(len(left))
    for seed in range(SEEDS):
        sketches = MinHash(values=VALUES, permutations="independent", seed=seed).compute(features, threads=2)
        accepted += (sketches.values[left] == sketches.values[right]).sum(axis=1) >= NEEDED
    model = sketch_curve(exact, VALUES, NEEDED)
    points = [
        {
            "resemblance": float(exact[inside].mean()),
            "pairs": int(inside.sum()),
            "accepted": float(accepted[inside].mean() / SEEDS),
            "model": float(model[inside].mean()),
        }
        for inside in (places == i for i in range(len(EDGES) - 1))
        if inside.sum() >= 30
    ]
    resemblance = np.linspace(0.5, 1, 101)
    return {
        "curve": [resemblance, sketch_curve(resemblance, VALUES, NEEDED)],
        "quoted": {r: float(sketch_curve(float(r), VALUES, NEEDED)) for r in QUOTED},
        "meant": float(sketch_curve(MEANT, VALUES, NEEDED)),
        "measured": points,
    }


def draw(result: Result) -> None:
    figure, (axis,) = panels(1, width=6.4, height=3.8)
    axis.plot(*result["curve"], color="black", linewidth=1.3, label="p(r), binomial")
    points = result["measured"]
    axis.plot(
        [p["resemblance"] for p in points],
        [p["accepted"] for p in points],
        "o",
        color=COLOURS[0],
        label="real pairs, measured",
    )
    axis.plot([float(r) for r in QUOTED], list(QUOTED.values()), **PRINTED, label="quoted in the notes")
    axis.set(
        xlabel="resemblance r (Jaccard of word 4-shingles)",
        ylabel="P(at least 90 of 100 agree)",
        ylim=(-0.02, 1.03),
    )
    axis.set(title="A sketch threshold of 90 of 100")
    axis.legend(loc="upper left", fontsize=9)
    save(figure, "mz-fig12-3")


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = [
        (r, SAYS[r], f"{value:.3g}", "yes" if right(r, value) else "no")
        for r, value in result["quoted"].items()
    ]
    more: list[tuple[object, ...]] = [
        (f"{p['resemblance']:.3f}", p["pairs"], f"{p['model']:.3f}", f"{p['accepted']:.3f}")
        for p in result["measured"]
    ]
    return [
        f"The model is p(r) = P(Bin({VALUES}, r) ≥ {NEEDED}). It is compared with sketches of {VALUES} independent "
        f"permutations of word {WIDTH}-shingles of real documents: for pairs of known resemblance, the share that "
        f"reaches the threshold, over {SEEDS} draws of permutations.",
        "",
        "![Chance of reaching 90 of 100 by resemblance](papers/mz-fig12-3.svg)",
        "",
        *table(("r", "quoted", "p(r)", "right"), rows),
        f"Errata E24: {SAYS['0.9']} is p({MEANT}) = {result['meant']:.4f}; at r = 0.9 "
        f"{1 - result['quoted']['0.9']:.0%} of pairs are missed. E25: at r = 0.5 it is {result['quoted']['0.5']:.1e}. "
        "E26: the other two values are right. E27: the curve accepts high r, and “share 90” and “more than 90” "
        "are two different tests. E28: the minimum of the union must be in the intersection.",
        "",
        *table(("mean resemblance", "pairs", "p(r)", "measured"), more),
    ]


def right(r: str, value: float) -> bool:
    """Whether a quoted number is true of p(r)."""
    return {"0.8": value < 0.006, "0.5": value < 2e-18, "0.9": value > 0.988, "0.96": value > 0.997}[r]


def claims(result: Result) -> list[Claim]:
    off = max(abs(p["accepted"] - p["model"]) for p in result["measured"] if p["pairs"] >= 100)
    wrong = [r for r, value in result["quoted"].items() if not right(r, value)]
    return [
        Claim(
            "MZ fig. 12.3",
            "sketches of real documents follow p(r)",
            "binomial",
            f"within {off:.3f} of it",
            "yes" if off < 0.05 else "partly" if off < 0.1 else "no",
            "all documents share one draw of permutations, so pairs of a family pass or fail together; the mean "
            "of several draws has less of this",
        ),
        Claim(
            "MZ 12.3",
            "quoted values of p(r) at 0.5, 0.8, 0.9, 0.96",
            "10^-18, 0.006, 0.988, 0.997",
            ", ".join(f"{result['quoted'][r]:.3g}" for r in ("0.5", "0.8", "0.9", "0.96")),
            "yes" if not wrong else "partly",
            f"wrong at r = {' and '.join(wrong)}: {result['meant']:.3f} is p({MEANT})",
        ),
    ]


EXPERIMENT = Experiment("mz-fig12-3", "MZ figure 12.3: the sketch threshold", run, section, claims, draw)
