"""Sood and Loguinov, figure 1: the weights behind a bit of simhash over a collection, and their differences."""

from __future__ import annotations

from dataclasses import replace
from math import erfc, exp, sqrt

import numpy as np
from numpy.typing import NDArray

from neardup.features import Idf
from neardup.fingerprints import Simhash
from papers import corpus
from papers.experiment import Claim, Experiment, Options, Result, agrees, table
from papers.plots import COLOURS, legend, panels, save

BINS_A_DEVIATION, WIDEST = 4, 7
LAPLACE, GAUSS = 6.0, 3.0  # kurtosis


def weightings() -> dict[str, NDArray[np.float32]]:
    """W of every document and bit, for four ways to weigh words."""
    collection = corpus.real()
    kept = ~collection.codes.empty
    idf = collection.words.weights
    assert isinstance(idf, Idf) and collection.codes.margins is not None
    counts = replace(corpus.PLAIN, weights="count").extract(collection.texts)
    row = np.repeat(np.arange(len(counts)), counts.sizes)
    raw = counts.weights.astype(np.float64) * idf.of(counts.hashes)
    length = np.sqrt(np.bincount(row, raw**2, len(counts)))
    words = np.bincount(row, counts.weights, len(counts))
    constant = Simhash().compute(corpus.PLAIN.extract(collection.texts)).margins
    assert constant is not None
    unit = collection.codes.margins
    with np.errstate(invalid="ignore"):
        return {
            "TF-IDF, length 1": unit[kept],
            "TF-IDF of shares of words": (unit * (length / words)[:, None])[kept].astype(np.float32),
            "constant": constant[kept],
            "constant, length 1": (constant / np.sqrt(counts.sizes)[:, None])[kept].astype(np.float32),
        }


def shape(values: NDArray[np.float32]) -> Result:
    """Moments, tail and histogram in standard deviations of one column of weights."""
    column = values.ravel().astype(np.float64)
    column = column - column.mean()
    deviation = column.std()
    scaled = column / deviation
    edges = np.arange(-WIDEST * BINS_A_DEVIATION, WIDEST * BINS_A_DEVIATION + 1) / BINS_A_DEVIATION
    density = np.histogram(scaled, edges)[0] * BINS_A_DEVIATION / len(scaled)
    return {
        "mean": float(values.mean(dtype=np.float64)),
        "variance": deviation**2,
        "kurtosis": float((scaled**4).mean()),
        "beyond_4": float((np.abs(scaled) > 4).mean()),
        "density": density,
    }


def run(options: Options) -> Result:
    generator = np.random.default_rng(1)
    found = {}
    for name, weights in weightings().items():
        other = generator.permutation(len(weights))
        alone, differences = shape(weights), shape(weights - weights[other])
        found[name] = {
            "weights": alone,
            "differences": differences,
            "variance_ratio": differences["variance"] / alone["variance"],
        }
    return {"documents": len(corpus.real()), "weightings": found}


def draw(result: Result) -> None:
    figure, axes = panels(2, width=5.4, height=3.9)
    x = (np.arange(-WIDEST * BINS_A_DEVIATION, WIDEST * BINS_A_DEVIATION) + 0.5) / BINS_A_DEVIATION
    for axis, part, title in zip(axes, ("weights", "differences"), ("W(u)", "W(u) - W(v)"), strict=True):
        for colour, (name, values) in zip(COLOURS, result["weightings"].items(), strict=False):
            density = np.array(values[part]["density"])
            axis.plot(x[density > 0], density[density > 0], color=colour, label=name)
        axis.plot(x, np.exp(-sqrt(2) * np.abs(x)) / sqrt(2), "k--", linewidth=1, label="Laplace")
        axis.plot(x, np.exp(-(x**2) / 2) / sqrt(2 * np.pi), "k:", linewidth=1.2, label="Gauss")
        axis.set(title=title, yscale="log", ylim=(1e-6, 3), xlim=(-WIDEST, WIDEST))
        axis.set(xlabel="standard deviations", ylabel="density (log)")
    legend(figure, axes, 6)
    save(figure, "sl-fig1")


def section(result: Result) -> list[str]:
    beyond = {"Laplace": exp(-4 * sqrt(2)), "Gauss": erfc(4 / sqrt(2))}
    rows: list[tuple[object, ...]] = [
        (
            name,
            f"{v['weights']['mean']:.3f}",
            f"{v['weights']['variance']:.4g}",
            f"{v['weights']['kurtosis']:.1f}",
            f"{v['weights']['beyond_4']:.1e}",
            f"{v['variance_ratio']:.2f}",
            f"{v['differences']['kurtosis']:.1f}",
            f"{v['differences']['beyond_4']:.1e}",
        )
        for name, v in result["weightings"].items()
    ]
    rows += [
        (name, "0", "", kurtosis, f"{beyond[name]:.1e}", "2", "", "")
        for name, kurtosis in (("Laplace", LAPLACE), ("Gauss", GAUSS))
    ]
    head = (
        "weights",
        "mean",
        "variance",
        "kurtosis",
        "beyond 4 sd",
        "variance of differences",
        "their kurtosis",
        "beyond 4 sd",
    )
    return [
        "Printed: W_1 of 70M pages looks like a Laplace distribution. W(u) - W(v) of random pages has twice "
        "its variance, is a little closer to a Gauss distribution and keeps exponential tails. Here: all 64 bits "
        f"of {result['documents']:,} documents. The unit is the standard deviation, so that the weightings can be "
        "drawn in one plot.",
        "",
        "![Densities of weights and of their differences](papers/sl-fig1.svg)",
        "",
        *table(head, rows),
        "If each document is scaled to length 1, its W has variance 1 for any words, and the distribution is "
        "close to Gauss. The Laplace shape returns where documents differ in scale, as with TF-IDF of shares of "
        "words or with plain sums. So the shape comes from mixing documents of different scale, not from TF-IDF. "
        "Scaling a document changes none of its bits, so later results do not depend on which scale the paper "
        "used. Erratum E9: a bit of 1 adds, a bit of 0 subtracts.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    unit = result["weightings"]["TF-IDF, length 1"]
    share = result["weightings"]["TF-IDF of shares of words"]
    ratios = [v["variance_ratio"] for v in result["weightings"].values()]
    return [
        Claim(
            "SL fig. 1a",
            "TF-IDF weights W are Laplace-like (kurtosis)",
            f"about {LAPLACE:.0f}",
            f"{unit['weights']['kurtosis']:.1f} at length 1, {share['weights']['kurtosis']:.1f} for shares of words",
            agrees([unit["weights"]["kurtosis"]], [LAPLACE]),
            "heavy tails come from documents of different scale, which length 1 removes",
        ),
        Claim(
            "SL fig. 1b",
            "differences have twice the variance",
            "2",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
            agrees(ratios, [2] * len(ratios)),
            "it is a little less, because documents of one collection share words",
        ),
    ]


EXPERIMENT = Experiment("sl-fig1", "SL figure 1: weights and their differences", run, section, claims, draw)
