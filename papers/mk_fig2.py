"""Manku, Jain and Das Sarma, figure 2: where codes lie, the places of leading bits, and the spikes by name."""

from __future__ import annotations

import re

import numpy as np

from neardup.fingerprints import Codes
from neardup.search.distribution import code_distribution
from papers import corpus
from papers.bits import bit_count
from papers.corpus import Collection
from papers.experiment import Claim, Experiment, Options, Result, table
from papers.plots import COLOURS, panels, save

BUCKETS, SPIKES, FAMILY = 128, 6, 8


def beginning(text: str, words: int = 7) -> str:
    """The first words of a text, fit for a table."""
    return " ".join(re.findall(r"[\w'+-]+", text)[:words])


def spikes(collection: Collection) -> list[Result]:
    """The fullest buckets, each named by the largest family of codes in it: the code with the most others of the bucket
    within FAMILY bits, the set most of them come from, and the words it begins with."""
    codes = collection.codes
    rows = np.flatnonzero(~codes.empty)
    words = codes.codes[rows, 0]
    bucket = (words >> np.uint64(64 - 7)).astype(np.int64)
    counts = np.bincount(bucket, minlength=BUCKETS)
    found = []
    for full in np.argsort(-counts, kind="stable")[:SPIKES]:
        inside = np.flatnonzero(bucket == full)
        near = bit_count(words[inside, None] ^ words[inside]) <= FAMILY
        centre = int(near.sum(axis=1).argmax())
        family = inside[near[centre]]
        sources = np.bincount(collection.source[rows[family]], minlength=len(collection.sources))
        found.append(
            {
                "bucket": int(full),
                "codes": int(counts[full]),
                "family": len(family),
                "equal": int((words[family] == words[inside[centre]]).sum()),
                "source": collection.sources[int(sources.argmax())],
                "begins": beginning(collection.texts[rows[inside[centre]]]),
            }
        )
    return found


def look(codes: Codes) -> Result:
    seen = code_distribution(codes, buckets=BUCKETS)
    mean = seen.count / BUCKETS
    return {
        "count": seen.count,
        "leading": seen.leading,
        "uniform_leading": seen.uniform_leading,
        "buckets": seen.buckets,
        "deviations": (seen.buckets - mean) / np.sqrt(mean),
        "equal_pairs": int(seen.leading[-1]),
        "entropy": seen.entropy,
    }


def run(options: Options) -> Result:
    real, made = corpus.real(), corpus.generated(options.documents)
    return {
        "empty": int(real.codes.empty.sum()),
        "collections": {real.name: look(real.codes), made.name: look(made.codes)},
        "spikes": spikes(real),
        "upper_half": float((made.codes.codes[~made.codes.empty, 0] >> np.uint64(63)).mean()),
    }


def draw(result: Result) -> None:
    figure, axes = panels(2, 2, width=5.4, height=3.2)
    for (name, values), left, right in zip(result["collections"].items(), axes[::2], axes[1::2], strict=True):
        leading = np.array(values["leading"][:-1]) / values["count"]
        uniform = np.array(values["uniform_leading"][:-1]) / values["count"]
        places = np.arange(len(leading))
        left.bar(places, leading, color=COLOURS[0], width=0.9, label="measured")
        left.plot(places, uniform, color="black", linewidth=1.2, label="uniform codes")
        left.set(
            title=f"{name}: {values['count']:,} codes",
            xlabel="place of the leading differing bit (0 = lowest)",
            ylabel="share of neighbours",
        )
        left.legend(fontsize=8)
        buckets = np.array(values["buckets"])
        right.bar(np.arange(BUCKETS), buckets, color=COLOURS[0], width=0.9)
        right.axhline(values["count"] / BUCKETS, color="black", linewidth=1.2)
        right.set(
            title=f"{name}: codes in {BUCKETS} equal intervals",
            xlabel="interval",
            ylabel="codes",
            ylim=(0, buckets.max() * 1.25),
        )
    for rank, spike in enumerate(result["spikes"][:4], 1):
        axes[1].annotate(
            f"{rank}",
            (spike["bucket"], spike["codes"]),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes[1].annotate(
        "numbers: see the table of spikes",
        (0.99, 0.97),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize=8,
    )
    save(figure, "mk-fig2")


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = [
        (rank, s["source"], f"“{s['begins']}”", s["bucket"], s["codes"], s["family"], s["equal"])
        for rank, s in enumerate(result["spikes"], 1)
    ]
    real = next(iter(result["collections"].values()))
    return [
        "Left: the position of the highest bit in which successive sorted codes differ. Right: the number of "
        "codes in each of 128 equal intervals of all possible codes. Low positions mean that codes form clusters; "
        "for uniform codes the curve falls by half at each step away from the peak.",
        "",
        "![Leading bits and buckets of real and generated text](papers/mk-fig2.svg)",
        "",
        f"For real text an interval has {real['count'] / BUCKETS:.0f} codes on average. The table has the fullest "
        f"intervals, and the largest family of codes within {FAMILY} bits of one another in each:",
        "",
        *table(
            ("spike", "mostly from", "begins", "interval", "codes", "family", "equal codes"), rows, left=3
        ),
        "Generated pages all use one vocabulary, and its most frequent words influence the leading bits: "
        f"{result['upper_half']:.0%} of the codes are in the upper half. Spikes are templates, as the paper says: "
        "in the paper error pages and login pages, here families of licences and pages of one template. Empty "
        f"pages make no spike, because they get no code (there is {result['empty']} here). Erratum E23: with SL's "
        "rule for ties their code would be all ones, not 0.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    real = next(iter(result["collections"].values()))
    leading, uniform = np.array(real["leading"][:-1]), np.array(real["uniform_leading"][:-1])
    peak = int(uniform.argmax())
    low = slice(0, peak - 6)
    excess = leading[low].sum() / real["count"], uniform[low].sum() / real["count"]
    worst = max(real["deviations"])
    named = result["spikes"][0]
    return [
        Claim(
            "MK fig. 2a",
            "low leading bits are far more frequent than in uniform codes (share more than 6 places below the peak)",
            "significant density",
            f"{excess[0]:.3f} against {excess[1]:.3f}",
            "yes" if excess[0] > 2 * excess[1] else "no",
            "near-duplicates are neighbours in the sorted order",
        ),
        Claim(
            "MK fig. 2b",
            "128 intervals are about equally full, with some spikes",
            "more or less equal",
            f"fullest holds {max(real['buckets']) / (real['count'] / BUCKETS):.1f} times the mean, "
            f"{worst:.0f} deviations: {named['family']} pages of {named['source']}",
            "yes" if worst > 5 else "no",
            "spikes are families of pages of one template",
        ),
    ]


EXPERIMENT = Experiment("mk-fig2", "MK figure 2: distribution of codes", run, section, claims, draw)
