"""Sood and Loguinov, figure 6: precision and recall of simhash against cosine >= 0.9, and the cosine by distance."""

from __future__ import annotations

import numpy as np

from neardup.compare.similarity import cosine, cosine_from_distance, expected_distance, within_radius
from papers import corpus
from papers.experiment import Claim, Experiment, Options, Result, agrees, table
from papers.plots import COLOURS, PRINTED, legend, panels, save
from papers.strata import crossing, mean_by_distance, precision_recall, sample_pairs

THRESHOLD, NEAREST, EACH, FAR = 0.9, 20, 10_000, 200_000
RADII = np.arange(0, 21)
PRINTED_COSINE = {1: 0.95, 3: 0.89}


def run(options: Options) -> Result:
    real, made = corpus.real(), corpus.generated(options.documents)
    sets = {
        "all real sets": (real, np.flatnonzero(~real.codes.empty)),
        "real sets without licences": (real, real.of(*(name for name in corpus.SETS if name != "licenses"))),
        "generated": (made, np.flatnonzero(~made.codes.empty)[:30_000]),
    }
    found = {}
    for name, (collection, rows) in sets.items():
        pairs = sample_pairs(collection.codes, rows, nearest=NEAREST, each=EACH, far=FAR, seed=6)
        cosines = cosine(collection.features, pairs.left, pairs.right, threads=2)
        positive = cosines >= THRESHOLD
        precision, recall = precision_recall(pairs.distance, pairs.weight, positive, RADII)
        found[name] = {
            "documents": len(rows),
            "pairs": int(pairs.counts.sum()),
            "sampled": len(pairs.left),
            "similar_pairs": float(pairs.weight[positive].sum()),
            "precision": precision,
            "recall": recall,
            "crossing": crossing(RADII, precision, recall),
            "mean_cosine": mean_by_distance(pairs.distance, pairs.weight, cosines, RADII),
        }
    return {
        "threshold": THRESHOLD,
        "radii": RADII,
        "collections": found,
        "model_distance_at_threshold": expected_distance(THRESHOLD).item(),
        "model_recall_at_threshold": within_radius(THRESHOLD, 3).item(),
        "model_cosine": cosine_from_distance(RADII),
    }


def draw(result: Result) -> None:
    figure, axes = panels(2, width=5.2, height=3.8)
    radii = result["radii"]
    for colour, (name, values) in zip(COLOURS, result["collections"].items(), strict=False):
        axes[0].plot(radii, values["precision"], color=colour, label=name)
        axes[0].plot(radii, values["recall"], color=colour, linestyle="--")
        axes[1].plot(radii, values["mean_cosine"], color=colour, label=name)
    axes[0].plot([], [], "k-", label="precision")
    axes[0].plot([], [], "k--", label="recall")
    axes[0].axvline(3, color="black", linewidth=1)
    axes[0].annotate("printed crossing", (3, 0.03), xytext=(4, 0), textcoords="offset points", fontsize=8)
    axes[0].set(
        title=f"against cosine ≥ {result['threshold']}",
        xlabel="radius, bits",
        ylabel="share",
        ylim=(0, 1.02),
        xticks=range(0, 21, 4),
    )
    axes[1].plot(
        radii, result["model_cosine"], color="grey", linestyle="--", linewidth=1.2, label="cos(π H / 64)"
    )
    axes[1].plot(list(PRINTED_COSINE), list(PRINTED_COSINE.values()), **PRINTED, label="printed")
    axes[1].set(
        title="expected cosine",
        xlabel="distance H, bits",
        ylabel="mean cosine of pairs",
        ylim=(0, 1.02),
        xticks=range(0, 21, 4),
    )
    legend(figure, axes, 4)
    save(figure, "sl-fig6")


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for name, values in result["collections"].items():
        for h in (0, 1, 2, 3, 5, 8, 10, 12, 16):
            near = (
                f"{values['precision'][h]:.3f}",
                f"{values['recall'][h]:.3f}",
                f"{values['mean_cosine'][h]:.3f}",
            )
            rows.append((name, h, *near, f"{result['model_cosine'][h]:.3f}"))
    sizes = "; ".join(
        f"{name}: {v['documents']:,} documents, {v['pairs']:,} pairs, {v['sampled']:,} sampled"
        for name, v in result["collections"].items()
    )
    return [
        "P(h) and R(h) of equations 24 and 25 over all pairs of a collection. Two documents are similar if the "
        f"cosine of their TF-IDF is {result['threshold']} or more. At each small distance up to {EACH:,} pairs are "
        "drawn and weighted by how many there are; farther pairs are drawn at random. The collections: "
        f"{sizes}.",
        "",
        "![Precision, recall and mean cosine by distance](papers/sl-fig6.svg)",
        "",
        *table(("collection", "h", "P(h)", "R(h)", "mean cosine at h", "cos(π h / 64)"), rows),
        f"At a cosine of exactly {result['threshold']}, {result['model_distance_at_threshold']:.1f} of 64 bits "
        f"differ on average, and radius 3 finds {result['model_recall_at_threshold']:.1%} of the pairs. So a "
        "recall of one half at radius 3 is possible only where most similar pairs are far above the "
        "threshold. Errata E10: q = 1 - θ/π is about (cos θ + 1)/2 only near a right angle; E12: 4.9 "
        "quadrillion counts ordered pairs; E41: the binomial model needs bits that are mutually "
        "independent.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    values = result["collections"]
    crossings = [v["crossing"] for v in values.values()]
    cosines = [[v["mean_cosine"][d] for d in (1, 3)] for v in values.values()]
    angles = [[1 - c for c in pair] for pair in cosines]
    published = [1 - PRINTED_COSINE[d] for d in (1, 3)]
    model = result["model_cosine"]
    fits = {agrees(pair, published) for pair in angles}
    return [
        Claim(
            "SL fig. 6a",
            "precision and recall against cosine 0.9 cross at radius 3",
            "3",
            ", ".join(map(str, crossings)),
            agrees(crossings, [3] * len(crossings)),
            "where they cross depends on the collection: on how many of its similar pairs are nearly equal",
        ),
        Claim(
            "SL fig. 6b",
            "mean cosine at distance 1 and 3",
            "0.95 and 0.89",
            "; ".join(f"{a:.2f} and {b:.2f}" for a, b in cosines),
            "yes" if fits == {"yes"} else "no" if fits == {"no"} else "partly",
            f"judged by 1 - cosine; the model cos(π H / 64) has {model[1]:.3f} and {model[3]:.3f}; the paper does "
            "not say why the printed means are lower",
        ),
    ]


EXPERIMENT = Experiment("sl-fig6", "SL figure 6: simhash against cosine", run, section, claims, draw)
