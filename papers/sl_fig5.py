"""Sood and Loguinov, figure 5(a): flips of the header that find 95% of what an exact search finds."""

from __future__ import annotations

import numpy as np

from papers.experiment import Claim, Experiment, Options, Result, agrees, table
from papers.flips import NearPairs, header_steps, populations, quantile_flips, recall_at
from papers.plots import COLOURS, PRINTED, legend, panels, save

RADIUS, RECALL = 3, 0.95
HEADERS = tuple(range(16, 27, 2))
FIXED = (1, 3, 5, 10, 20)
MODES = ("all", "first")
ENDS = {"all": {"16": 6, "26": 23}, "first": {"16": 3, "26": 15}}


def counted(pairs: NearPairs, mode: str) -> np.ndarray:
    """Which pairs count: with `all` a few of each query, with `first` all, for any of them will do."""
    return pairs.capped if mode == "all" else np.ones(len(pairs), bool)


def run(options: Options) -> Result:
    """Both this figure and figure 8 are read off the same steps."""
    found: Result = {}
    for pairs in populations(RADIUS, options.documents):
        curves: Result = {mode: {} for mode in MODES}
        for header in HEADERS:
            step = header_steps(pairs, header, RADIUS)
            for mode in MODES:
                kept = counted(pairs, mode)
                mine, query = step[kept], pairs.query[kept]
                curves[mode][str(header)] = {
                    "flips": quantile_flips(mine, query, RECALL, mode),
                    "recall": {str(k): recall_at(mine, query, k, mode) for k in FIXED},
                }
        found[pairs.name] = {
            "pairs": int(pairs.capped.sum()),
            "queries": len(np.unique(pairs.query)),
            "neighbours": len(pairs) / len(np.unique(pairs.query)),
            "modes": curves,
        }
    return {"recall": RECALL, "populations": found}


def draw(result: Result) -> None:
    figure, axes = panels(2, width=5.2, height=3.7)
    for axis, mode in zip(axes, MODES, strict=True):
        for colour, (name, values) in zip(COLOURS, result["populations"].items(), strict=False):
            flips = [values["modes"][mode][str(t)]["flips"] for t in HEADERS]
            axis.plot(HEADERS, flips, color=colour, marker="o", label=name)
        axis.plot(
            [int(t) for t in ENDS[mode]],
            list(ENDS[mode].values()),
            **PRINTED,
            label="printed ends of the curve",
        )
        axis.set(
            title=f"mode {mode}",
            xlabel="header, t bits",
            ylabel=f"flips for {result['recall']:.0%} recall",
            ylim=(0, None),
        )
    legend(figure, axes, 3)
    axes[1].set_ylim(axes[0].get_ylim())
    save(figure, "sl-fig5")


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for mode in MODES:
        rows.append((mode, "printed", "", *(ENDS[mode].get(str(t), "") for t in HEADERS)))
        for name, values in result["populations"].items():
            size = f"{values['pairs']:,} pairs" if mode == "all" else f"{values['queries']:,} queries"
            rows.append((mode, name, size, *(values["modes"][mode][str(t)]["flips"] for t in HEADERS)))
    neighbours = ", ".join(f"{v['neighbours']:.1f}" for v in result["populations"].values())
    return [
        f"How many flips of the top t bits PSM must try, likeliest first, to find {result['recall']:.0%} of "
        "what an exact search at radius 3 finds. Mode `all` counts pairs, mode `first` counts queries that have a "
        "neighbour. Pairs with equal codes are left out, because they are found without a flip. With them the "
        "numbers would be smaller.",
        "",
        "![Flips for 95% recall by header width](papers/sl-fig5.svg)",
        "",
        *table(("mode", "pairs from", "of", *(f"t = {t}" for t in HEADERS)), rows, left=2),
        "Mode `first` needs fewer flips if queries have more neighbours. In the four kinds of pairs a query has "
        f"{neighbours} neighbours on average. Figure 5(b), time by t, is under table 2. Errata E7: the terms that "
        "the paper leaves out are those of equation 19. E13: with a header of t bits the left branch ends at t, "
        "not at b.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    found = []
    for mode in MODES:
        ends = [ENDS[mode]["16"], ENDS[mode]["26"]]
        names = list(result["populations"])
        mine = {n: [result["populations"][n]["modes"][mode][t]["flips"] for t in ("16", "26")] for n in names}
        found.append(
            Claim(
                "SL fig. 5a",
                f"flips for 95% at t = 16 and 26, mode {mode}",
                " to ".join(map(str, ends)),
                "; ".join(f"{a} to {b}" for a, b in mine.values()),
                agrees(mine[names[1]], ends, "low"),
                "judged by the second of the four kinds of pairs below: real pairs without small pages, as in "
                "the paper",
            )
        )
    return found


EXPERIMENT = Experiment("sl-fig5", "SL figure 5: flips for 95% recall", run, section, claims, draw)
