"""Manku, Jain and Das Sarma, figure 1: precision and recall for radius 1 to 10, from equal samples at each distance."""

from __future__ import annotations

import numpy as np

from neardup import _core
from neardup.compare.similarity import hamming
from papers import corpus
from papers.experiment import Claim, Experiment, Options, Result, table
from papers.labels import HUMAN, NO, UNKNOWN, YES, read_labels
from papers.plots import COLOURS, PRINTED, panels, save
from papers.strata import precision_recall

MOST, EACH = 10, 200
RADII = np.arange(1, MOST + 1)
AT_3 = 0.75


def run(options: Options) -> Result:
    collection = corpus.real()
    labels = read_labels(collection)
    rows = collection.of(*corpus.VERSIONS, HUMAN)
    words = np.ascontiguousarray(collection.codes.codes[rows])
    query, row, distance = _core.scan(words, words, 64, MOST, False, 2)
    kept = (query < row) & (distance > 0)
    left, right, distance = rows[query[kept]], rows[row[kept]], distance[kept].astype(np.int64)
    label = labels.of(left, right)
    counts = np.bincount(distance, minlength=MOST + 1)
    generator = np.random.default_rng(2007)
    sample = np.concatenate([generator.permutation(np.flatnonzero(distance == d))[:EACH] for d in RADII])
    drawn = np.bincount(distance[sample], minlength=MOST + 1)
    weight = (counts / np.maximum(drawn, 1))[distance[sample]]

    def curve(pairs: np.ndarray, weights: np.ndarray) -> Result:
        known = label[pairs] != UNKNOWN
        chosen = pairs[known]
        precision, recall = precision_recall(distance[chosen], weights[known], label[chosen] == YES, RADII)
        return {"precision": precision, "recall": recall}

    everything = np.arange(len(label))
    yes_left, yes_right = labels.positives()
    apart = hamming(collection.codes, yes_left, yes_right)
    return {
        "documents": len(rows),
        "pairs_at": counts[1:],
        "sampled_at": drawn[1:],
        "labels_at": {
            name: [int(((distance[sample] == d) & (label[sample] == value)).sum()) for d in RADII]
            for name, value in (("yes", YES), ("no", NO), ("unknown", UNKNOWN))
        },
        "curves": {
            "as printed: the sample counts as it is": curve(sample, np.ones(len(sample))),
            "reweighted to all pairs": curve(sample, weight),
            "all pairs, none sampled": curve(everything, np.ones(len(everything))),
        },
        "labelled_pairs": len(yes_left),
        "recall_of_all_labelled": [float((apart <= h).mean()) for h in range(MOST + 1)],
    }


def draw(result: Result) -> None:
    figure, axes = panels(2, width=5.0, height=3.9)
    for colour, marker, (name, values) in zip(
        COLOURS, ("s", "o", ""), result["curves"].items(), strict=False
    ):
        line = "--" if marker == "" else "-"
        axes[0].plot(values["recall"], values["precision"], line, color=colour, marker=marker, label=name)
        if marker == "o":
            for h, x, y in zip(RADII, values["recall"], values["precision"], strict=True):
                axes[0].annotate(
                    str(h), (x, y), xytext=(-3, -13), textcoords="offset points", fontsize=8, color=colour
                )
    axes[0].plot([AT_3], [AT_3], **PRINTED, label="printed, radius 3")
    axes[0].set(
        title="precision and recall, radius 1 to 10",
        xlabel="recall among pairs at distance 1 to 10",
        ylabel="precision",
    )
    axes[0].set(xlim=(0, 1.03), ylim=(0, 1.03))
    axes[0].legend(fontsize=8, loc="lower left")
    bottom = np.zeros(MOST)
    for colour, name in ((COLOURS[2], "yes"), (COLOURS[1], "no"), ("#bbbbbb", "unknown")):
        share = np.array(result["labels_at"][name]) / np.array(result["sampled_at"])
        axes[1].bar(RADII, share, bottom=bottom, color=colour, label=name, width=0.8)
        bottom += share
    axes[1].set(
        title="labels of the sample",
        xlabel="distance",
        ylabel="share of the sampled pairs",
        xticks=RADII,
        ylim=(0, 1.14),
    )
    axes[1].legend(ncols=3, loc="upper center", fontsize=8)
    axes[1].grid(axis="x", visible=False)
    save(figure, "mk-fig1")


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for i, h in enumerate(RADII):
        at = result["labels_at"]
        shown = [f"{v[k][i]:.3f}" for v in result["curves"].values() for k in ("precision", "recall")]
        labels = f"{at['yes'][i]} / {at['no'][i]} / {at['unknown'][i]}"
        rows.append(
            (h, f"{result['pairs_at'][i]:,}", labels, *shown, f"{result['recall_of_all_labelled'][h]:.3f}")
        )
    head = (
        "radius",
        "pairs at it",
        "yes / no / unknown",
        "P sample",
        "R sample",
        "P reweighted",
        "R reweighted",
        "P all",
        "R all",
        "R of all labelled",
    )
    return [
        "Printed: equal numbers of pairs at each distance, tagged by hand; precision and recall both near "
        f"{AT_3} at radius 3. Here: up to {EACH} pairs at each distance of {result['documents']:,} pages of "
        "the version sets and the human-judged set. A pair is labelled yes if it is two versions of one page, or "
        "if people judged it to be the same. It is labelled no if its pages are from different sets, if they are "
        "from different clusters and share less than half of their word 5-shingles, or if people judged so. All "
        "other pairs are unknown and left out, as in the paper. An equal sample counts rare distances as much as "
        "frequent ones, so its recall is not that of the collection. Weighted by the number of pairs at each "
        "distance (reweighted), it is.",
        "",
        "![Precision and recall for radius 1 to 10, and labels by distance](papers/mk-fig1.svg)",
        "",
        *table(head, rows),
        f"The last column counts all {result['labelled_pairs']:,} pairs labelled yes, at any distance. "
        f"{1 - result['recall_of_all_labelled'][-1]:.0%} of them differ in more than {MOST} bits, so the sample "
        f"does not contain them. {result['recall_of_all_labelled'][0]:.0%} have equal codes; the sample begins at "
        "distance 1 and does not contain these either. Erratum E17: 8B is 2^33.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    curves = list(result["curves"].values())
    at = 2  # radius 3
    sample, weighed = ((c["precision"][at], c["recall"][at]) for c in curves[:2])
    close = [abs(value - AT_3) < 0.1 for value in weighed]
    return [
        Claim(
            "MK fig. 1",
            "precision and recall at radius 3",
            "0.75 and 0.75",
            f"{sample[0]:.2f} and {sample[1]:.2f} in the equal sample, {weighed[0]:.2f} and {weighed[1]:.2f} "
            f"reweighted, {result['recall_of_all_labelled'][3]:.2f} of all labelled pairs",
            "yes" if all(close) else "partly" if any(close) else "no",
            "the recall depends on what it is a share of: the sample, the pairs within 10 bits, or all versions",
        )
    ]


EXPERIMENT = Experiment("mk-fig1", "MK figure 1: precision and recall", run, section, claims, draw)
