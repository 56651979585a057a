"""Sood and Loguinov, figure 8: relative recall when the number of flips is fixed, by the width of the header."""

from __future__ import annotations

from papers import sl_fig5
from papers.experiment import Claim, Experiment, Options, Result, load, table
from papers.plots import COLOURS, legend, panels, save
from papers.sl_fig5 import FIXED, HEADERS, MODES

SAID = (("first", "5", 0.90), ("all", "10", 0.93))


def run(options: Options) -> Result:
    """The recalls measured for figure 5, measured for it again only if that was with other options."""
    try:
        kept = load("sl-fig5")
    except FileNotFoundError:
        kept = {"options": {}}
    if kept["options"].get("documents") != options.documents:
        return sl_fig5.run(options)
    return {"recall": kept["recall"], "populations": kept["populations"]}


def draw(result: Result) -> None:
    names = list(result["populations"])
    figure, axes = panels(2, width=5.2, height=3.7)
    for axis, mode in zip(axes, MODES, strict=True):
        for colour, flips in zip(COLOURS, FIXED, strict=True):
            for name, line in ((names[1], "-"), (names[2], ":")):
                values = result["populations"][name]["modes"][mode]
                recall = [values[str(t)]["recall"][str(flips)] for t in HEADERS]
                label = f"k = {flips}" if line == "-" else None
                axis.plot(HEADERS, recall, line, color=colour, marker="o", markersize=3.5, label=label)
        for said, tried, least in SAID:
            if said == mode:
                colour = COLOURS[FIXED.index(int(tried))]
                axis.axhline(
                    least,
                    color=colour,
                    linewidth=1.2,
                    linestyle="--",
                    label=f"printed, k = {tried}: at least",
                )
        axis.set(
            title=f"mode {mode}",
            xlabel="header, t = log2 of the codes",
            ylabel="relative recall",
            ylim=(0.4, 1.01),
        )
    axes[0].plot([], [], "k-", label="solid: real pairs, 5 KB or more")
    axes[0].plot([], [], "k:", label="dotted: edited copies")
    legend(figure, axes, 5)
    save(figure, "sl-fig8")


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = [
        (mode, name, flips, *(f"{values['modes'][mode][str(t)]['recall'][str(flips)]:.3f}" for t in HEADERS))
        for mode in MODES
        for name, values in result["populations"].items()
        for flips in (5, 10)
    ]
    return [
        "The same measurement as figure 5, seen from the other side: which share is found with k flips when the "
        "header becomes wider with the collection.",
        "",
        "![Relative recall at a fixed number of flips](papers/sl-fig8.svg)",
        "",
        *table(("mode", "pairs from", "k", *(f"t = {t}" for t in HEADERS)), rows, left=2),
    ]


def claims(result: Result) -> list[Claim]:
    found = []
    for mode, flips, least in SAID:
        mine = [
            min(values["modes"][mode][str(t)]["recall"][flips] for t in HEADERS)
            for values in result["populations"].values()
        ]
        judged = mine[1]
        held = "yes" if judged >= least else "partly" if judged >= least - 0.1 else "no"
        found.append(
            Claim(
                "SL fig. 8",
                f"the least recall with k = {flips}, mode {mode}, t up to 26",
                f"{least:.2f}",
                "; ".join(f"{value:.2f}" for value in mine),
                held,
                "the lowest over t in each of the four kinds of pairs, judged by the second; equal codes are left "
                "out, because they need no flip",
            )
        )
    return found


EXPERIMENT = Experiment(
    "sl-fig8", "SL figure 8: recall at a fixed number of flips", run, section, claims, draw
)
