"""Sood and Loguinov, figure 7: time of a query by the number of stored codes."""

from __future__ import annotations

import numpy as np

from papers.experiment import Claim, Experiment, Options, Result, table
from papers.plots import COLOURS, panels, save
from papers.timing import builders, earlier, flips_for, rates, workload

QUERIES, SMALLEST = 50_000, 16
DESIGNS = ("BPHS 4", "BPHS 10", "PSM")


def run(options: Options) -> Result:
    rows: list[Result] = []
    for size in range(SMALLEST, options.largest + 1, 2):
        work = workload(size, QUERIES)
        known = builders(size)
        for design in DESIGNS:
            engine = known[f"PSM t={size}" if design == "PSM" else design](work.codes)
            row = {"design": design, "log2_codes": size, **rates(engine, work, QUERIES, options.repeats)}
            rows.append(row | ({"flips": flips_for(size)} if design == "PSM" else {}))
            del engine
    rows += [row | {"log2_codes": float(np.log2(row["codes"]))} for row in earlier()]
    return {"rows": rows}


def column(result: Result, design: str, mode: str) -> tuple[list[float], list[float]]:
    """Sizes and µs a query of one design."""
    rows = [row for row in result["rows"] if row["design"] == design]
    return [row["log2_codes"] for row in rows], [1e6 / row[mode] for row in rows]


def growth(result: Result, design: str, mode: str) -> float:
    """How many times a query costs more at the largest size than at a sixteenth of it or the next smaller measured."""
    sizes, cost = column(result, design, mode)
    before = max(i for i, size in enumerate(sizes) if size <= max(sizes[-1] - 4, sizes[0]))
    return cost[-1] / cost[before]


def draw(result: Result) -> None:
    figure, axes = panels(2, width=5.0, height=3.7)
    for axis, design, name in ((axes[0], "BPHS 4", "(a)"), (axes[1], "BPHS 10", "(b)")):
        for shown, colour in ((design, COLOURS[0]), ("PSM", COLOURS[1])):
            for mode, line in (("all", "-"), ("first", "--")):
                axis.plot(
                    *column(result, shown, mode), line, color=colour, marker="o", label=f"{shown}, {mode}"
                )
        sizes = [round(size) for size in column(result, "PSM", "all")[0]]
        axis.set(
            title=f"{name} {design} tables and PSM",
            xlabel="d = log2 of stored codes",
            ylabel="µs a query",
            xticks=sizes,
            ylim=(0, None),
        )
        axis.legend(fontsize=8, loc="upper left")
    top = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, top)
    save(figure, "sl-fig7")


def section(result: Result) -> list[str]:
    sizes = sorted({row["log2_codes"] for row in result["rows"]})
    rows: list[tuple[object, ...]] = [
        (design, mode, *(f"{cost:.2f}" for cost in column(result, design, mode)[1]))
        for design in DESIGNS
        for mode in ("all", "first")
    ]
    flips = [row.get("flips", "") for row in result["rows"] if row["design"] == "PSM"]
    rows.append(("PSM", "flips k(d)", *flips))
    return [
        "Microseconds a query on one core, with the designs as printed. PSM has t = d and the number of flips "
        "k(d) that finds 95% of the planted neighbours. The paper prints curves without numbers, so only their "
        "shape can be compared. The last column, 60M codes, is from a run of the benchmarks.",
        "",
        "![Time of a query by stored codes](papers/sl-fig7.svg)",
        "",
        *table(("design", "mode", *(f"d = {size:.3g}" for size in sizes)), rows, left=2),
        f"Errata E6: the scan becomes exponential beyond d = gb/(g+h), {64 / 4:g} and {2 * 64 / 5:g}, "
        "but "
        "the printed denominator is b + h.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    sizes = sorted({row["log2_codes"] for row in result["rows"]})
    four, ten, psm = (growth(result, design, "all") for design in DESIGNS)
    faster = [
        a / b
        for a, b in zip(column(result, "BPHS 4", "all")[1], column(result, "PSM", "all")[1], strict=True)
    ]
    crossed = [size for size, ratio in zip(sizes, faster, strict=True) if ratio > 1]
    shape = four > psm and bool(np.all(np.diff(column(result, "BPHS 4", "all")[1]) > 0))
    return [
        Claim(
            "SL fig. 7",
            "the cost of BPHS with 4 tables grows much faster with d than that of PSM (a query at 60M codes "
            "over one at a sixteenth or less)",
            "exponential, PSM almost linear",
            f"BPHS 4 {four:.1f}, BPHS 10 {ten:.1f}, PSM {psm:.1f}",
            "yes" if shape and four > 1.2 * psm else "partly" if shape else "no",
            "BPHS scans buckets of 2^(d-16) codes, while PSM pays for flips and cache misses; "
            + (
                f"PSM is ahead from d = {crossed[0]:.3g} on"
                if crossed
                else f"up to d = {sizes[-1]:.3g} PSM is not yet ahead"
            ),
        )
    ]


EXPERIMENT = Experiment("sl-fig7", "SL figure 7: scaling with the collection", run, section, claims, draw)
