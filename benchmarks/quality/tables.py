"""The tables of docs/inside/quality.md: lines of Markdown from the kept result, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from benchmarks.quality.scores import best

__all__ = [
    "bands_table",
    "common_cut",
    "cosine_table",
    "features_table",
    "minhash_table",
    "named",
    "pick",
    "radius_table",
    "rules_table",
    "said_table",
    "short_table",
    "simhash_table",
    "span",
    "table",
    "threshold_table",
]

Json = dict[str, Any]
WEAK = "licenses"
"""Its clusters are licence names, not judgements of texts, so it is left out of means."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> list[str]:
    """A Markdown table; the first `left` columns are text."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    body = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + "|".join(marks) + "|", *body, ""]


def number(value: float | None, places: int = 3) -> str:
    return "-" if value is None else f"{value:.{places}f}"


def named(measure: Sequence[float | None]) -> str:
    """A value with its interval."""
    value, low, high = measure
    return "-" if value is None else f"{value:.3f} ({low:.3f} to {high:.3f})"


def span(values: Sequence[float]) -> str:
    """The least and the largest of some shares."""
    low, high = f"{min(values):.0%}", f"{max(values):.0%}"
    return low if low == high else f"{low} to {high}"


def pick(rows: Sequence[Json], **wanted: object) -> Json:
    """The one row that has these values."""
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def strong(result: Json) -> list[Json]:
    """The sets that count in means."""
    return [given for given in result["sets"] if given["set"] != WEAK]


def mean(result: Json, column: Callable[[Json], Sequence[Sequence[float | None]]]) -> np.ndarray[Any, Any]:
    """The mean of a column of measures over the sets, cut by cut; no pairs found counts as a precision of 1."""
    return np.mean(
        [[1.0 if row[0] is None else row[0] for row in column(given)] for given in strong(result)], axis=0
    )


def common_cut(
    result: Json, rows: Callable[[Json], Sequence[Json]], **wanted: object
) -> tuple[float, float, float, float]:
    """The one cut with the highest mean F1 over the sets: cut, mean F1, precision, recall."""
    f1 = mean(result, lambda given: pick(rows(given), **wanted)["f1"])
    at = int(f1.argmax())
    precision, recall = (
        mean(result, lambda given, name=name: pick(rows(given), **wanted)[name])[at]  # type: ignore[misc]
        for name in ("precision", "recall")
    )
    return pick(rows(result["sets"][0]), **wanted)["cuts"][at], float(f1[at]), float(precision), float(recall)


def features_table(result: Json) -> list[str]:
    """The best F1 of each set by features, and the mean at the one threshold best for all."""
    names = [given["set"] for given in result["sets"]]
    rows = []
    for row in result["sets"][0]["jaccard"]:
        key = {part: row[part] for part in ("features", "digits", "template")}
        title = row["features"] + (", digits folded" if row["digits"] == "folded" else "")
        title += ", template cut" if row["template"] == "cut" else ""
        cells = []
        for given in result["sets"]:
            columns = pick(given["jaccard"], **key)
            at = best(columns)
            cells.append(f"{columns['f1'][at][0]:.3f} at {columns['cuts'][at]:g}")
        cut, f1, precision, recall = common_cut(result, lambda given: given["jaccard"], **key)
        cost = sum(pick(given["jaccard"], **key)["seconds"] for given in result["sets"])
        tokens = sum(given["tokens"] for given in result["sets"])
        rows.append(
            [
                title,
                *cells,
                f"{f1:.3f} at {cut:g}",
                f"{precision:.3f}",
                f"{recall:.3f}",
                f"{cost / tokens * 1e9:.0f}",
            ]
        )
    return table(["features", *names, "mean F1, one threshold", "precision", "recall", "ns a token"], rows)


def threshold_table(result: Json) -> list[str]:
    """5 words at the thresholds in use."""
    rows = []
    for given in result["sets"]:
        columns = pick(given["jaccard"], features="5 words", digits="kept", template="none")
        for cut in (0.8, 0.7, 0.5, 0.35):
            at = columns["cuts"].index(cut)
            rows.append(
                [
                    given["set"],
                    f"{cut:g}",
                    *(named(columns[name][at]) for name in ("precision", "recall", "f1")),
                ]
            )
    return table(["set", "threshold", "precision", "recall", "F1"], rows)


def simhash_table(result: Json) -> list[str]:
    """Every feature and weight: mean F1 at radius 3 and at the best radius for all sets."""
    rows = []
    for row in result["sets"][0]["simhash"]:
        if row["bits"] != 64 or row["checked"]:
            continue
        cells: list[str] = []
        for bits, checked in ((64, 0.0), (64, 0.5), (128, 0.0), (128, 0.5)):
            key = {"features": row["features"], "weights": row["weights"], "bits": bits, "checked": checked}
            f1 = mean(result, lambda given, key=key: pick(given["simhash"], **key)["f1"])  # type: ignore[misc]
            at = int(f1.argmax())
            cells += [f"{f1[3]:.3f}"] if not checked else []
            cells.append(f"{f1[at]:.3f} at {at}")
        key = {"features": row["features"], "weights": row["weights"], "bits": 64, "checked": 0.0}
        cost = sum(pick(given["simhash"], **key)["seconds"] for given in result["sets"])
        tokens = sum(given["tokens"] for given in result["sets"])
        rows.append([row["features"], row["weights"], *cells, f"{cost / tokens * 1e9:.0f}"])
    head = ["features", "weights", "64 bits, radius 3", "best radius", "verified", "128 bits, radius 3"]
    return table([*head, "best radius", "verified", "ns a token"], rows, left=2)


def radius_table(result: Json) -> list[str]:
    """Radius by radius for TF-IDF words, of 64 and 128 bits, and for 1-bit MinHash."""
    rows = []
    kinds = (
        ("simhash", {"features": "words", "weights": "tf-idf", "bits": 64}),
        ("simhash", {"features": "words", "weights": "tf-idf", "bits": 128}),
        ("bits", {"bits": 64}),
    )
    columns = [
        [
            mean(result, lambda given, m=method, k=key, c=checked, n=name: pick(given[m], **k, checked=c)[n])  # type: ignore[misc]
            for checked in (0.0, 0.5)
            for name in ("precision", "recall", "f1")
        ]
        for method, key in kinds
    ]
    for radius in range(13):
        cells = []
        for part in columns:
            cells.append(" / ".join(f"{part[at][radius]:.2f}" for at in range(3)))
            cells.append(f"{part[5][radius]:.2f}")
        rows.append([radius, *cells])
    head = ["radius"]
    for title in ("simhash 64", "simhash 128", "1-bit MinHash 64"):
        head += [f"{title}: P / R / F1", "F1 verified"]
    return table(head, rows)


def minhash_table(result: Json) -> list[str]:
    """Sums over the sets: how much of what is similar the bands find, and how many candidates that takes."""
    rows = []
    for row in result["sets"][0]["minhash"]:
        if row["checked"] != 0.8:
            continue
        cells = []
        for checked in (0.8, 0.7, 0.5):
            found = [
                pick(given["minhash"], values=row["values"], bands=row["bands"], checked=checked)
                for given in result["sets"]
            ]
            cells.append(f"{sum(r['similar_met'] for r in found) / sum(r['similar'] for r in found):.4f}")
        f1 = np.mean(
            [
                pick(given["minhash"], values=row["values"], bands=row["bands"], checked=0.5)["f1"][0]
                for given in strong(result)
            ]
        )
        candidates = sum(r["candidates"] for r in found)
        documents = sum(given["documents"] for given in result["sets"])
        seconds = sum(r["seconds"] for r in found)
        bands = int(row["bands"].split("x")[0])
        rows.append(
            [
                f"{row['values']}, {row['bands']}",
                8 * bands,
                *cells,
                f"{candidates / documents:.1f}",
                f"{seconds / documents * 1e6:.0f}",
                f"{f1:.3f}",
            ]
        )
    head = ["values, bands x rows", "bytes kept", "recall >= .8", ">= .7", ">= .5", "candidates a document"]
    return table([*head, "µs a document", "mean F1 at .5"], rows)


def short_table(sets: Sequence[Json]) -> list[str]:
    """The pipeline with and without the exact join of short documents, where a set has short ones."""
    rows = []
    for given in sets:
        for threshold in (0.8, 0.5):
            off, on = (r for r in given["short"] if r["threshold"] == threshold)
            if off["similar"]:
                cells = [f"{r['found'] / r['similar']:.4f}" for r in (off, on)]
                times = [f"{r['seconds']:.2f} s" for r in (off, on)]
                rows.append([given["set"], f"{threshold:g}", f"{off['similar']:,}", *cells, *times])
    return table(["set", "threshold", "similar pairs", "recall off", "recall on", "off", "on"], rows)


def rules_table(result: Json) -> list[str]:
    """Rules against human judgement, the best out of sample first."""
    rows = [
        [
            row["rule"],
            f"{row['threshold']:.3f}",
            number(row["in_sample"]),
            named(row["f1"]),
            number(row["precision"][0]),
            number(row["recall"][0]),
        ]
        for row in sorted(result["human"]["rules"], key=lambda row: -row["f1"][0])
    ]
    chosen = result["human"]["chosen"]
    rows.append(
        [
            "*whichever of these the training pairs prefer*",
            "-",
            "-",
            named(chosen["f1"]),
            *(number(chosen[name][0]) for name in ("precision", "recall")),
        ]
    )
    head = ["rule", "threshold, all pairs", "F1 in sample", "F1 out of sample", "precision", "recall"]
    return table(head, rows)


def bands_table(given: Json) -> list[str]:
    """Recall by band of exact Jaccard on one set."""
    bands = next(iter(given["methods"].values()))
    head = ["method", *(f"{band['from']:g} to {band['to']:g}" for band in bands)]
    rows: list[list[object]] = [["*pairs*", *(f"{band['pairs']:,}" for band in bands)]]
    for name, found in given["methods"].items():
        rows.append([name, *(number(band["recall"][0]) for band in found)])
    return table(head, rows)


def cosine_table(result: Json) -> list[str]:
    """What radius 3 and 8 find of pairs of cosine .9 and more."""
    rows = [
        [
            row["set"],
            row["weights"],
            row["radius"],
            f"{row['above']:,}",
            f"{row['above_found'] / row['above']:.3f}",
            f"{row['found']:,}",
            f"{row['above_found'] / row['found']:.3f}" if row["found"] else "-",
        ]
        for row in result["cosine_bands"]
        if row["above"]
    ]
    head = ["set", "weights", "radius", "pairs of cosine >= .9", "of them within", "pairs within"]
    return table([*head, "of them >= .9"], rows, left=2)


def said_table(
    titles: Sequence[str], cases: Sequence[tuple[Sequence[object], Json]], places: int = 3
) -> list[str]:
    """What each method says of several cases."""
    methods = list(cases[0][1])
    rows = []
    for title, said in cases:
        cells = [f"{v:,}" if isinstance(v, int) else f"{v:.{places}f}" for v in (said[m] for m in methods)]
        rows.append([*title, *cells])
    return table([*titles, *methods], rows, left=len(titles) - 1)
