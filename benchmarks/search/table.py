"""Write docs/inside/benchmarks-search.md from the results: python -m benchmarks.search.table"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
PAGE = HERE.parents[1] / "docs" / "inside" / "benchmarks-search.md"
Row = dict[str, Any]

HEAD = ("engine", "all/s", "times faiss", "first/s", "recall", "bytes a code", "row map")
HEAD += ("two threads", "of memory bound", "build s")

PROSE = """Codes of 64 bits, radius {radius}, half of the queries with one planted neighbour at distance 1 to
{radius}; margins come from {margins}. Same codes, same run, one thread, called from Python with
numpy columns, row numbers returned; every answer was checked. One thread is timed in CPU seconds,
two on the clock, the best of a few runs. Bytes are the search structure's own, without the row map;
for rivals, the growth of the process. `of memory bound` is the share of the speed that the random
reads alone would allow on this machine. gaoya takes texts alone, so it searches codes of its own
making, at distance 0. Written by `python -m benchmarks.search.table` from
`benchmarks/results/search*.json`, which `python -m benchmarks.search` makes."""

# The size that cases.toml sets its targets for.
TARGET_SIZE = 10_000_000
# Queries a second in Sood and Loguinov, table 2: 60M stored, 10M asked, one machine of 2011.
PAPER = {"bphs-4": (154e3, 185e3), "bphs-10": (189e3, 385e3), "psm": (765e3, 1.6e6)}


def rate(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, size in (("M", 1e6), ("K", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def speed(row: Row, mode: str) -> float | None:
    return row[mode]["queries_per_second"] if mode in row else None


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def faiss_best(rows: list[Row]) -> float | None:
    rates = [speed(row, "all") for row in rows if row["engine"].startswith("faiss")]
    return max((r for r in rates if r is not None), default=None)


def search_tables(results: Row) -> list[str]:
    lines: list[str] = []
    for size in sorted({row["stored"] for row in results["search"]}):
        rows = [row for row in results["search"] if row["stored"] == size]
        ran, rival = [row for row in rows if "not_run" not in row], faiss_best(rows)
        lines += [f"### {size:,} stored", ""]
        lines += table(
            HEAD,
            (
                (
                    row["engine"] + ("" if row["all"]["right"] else " (WRONG)"),
                    rate(speed(row, "all")),
                    f"{speed(row, 'all') / rival:.1f}" if rival else "-",  # type: ignore[operator]
                    rate(speed(row, "first")),
                    f"{row['all']['recall']:.3f}",
                    bytes_a_code(row),
                    f"{row['row_bytes'] / size:.1f}" if row["row_bytes"] else "-",
                    f"{row['all_two_threads']['times_one']:.2f}x" if "all_two_threads" in row else "-",
                    f"{row['memory_bound_share']:.0%}" if row.get("memory_bound_share") else "-",
                    f"{row['build_seconds']:.2g}",
                )
                for row in ran
            ),
        )
        lines.append("")
        for row in rows:
            if "not_run" in row:
                lines.append(f"Not run: {row['engine']} ({row['not_run']}).")
        lines.append("")
    return lines


def bytes_a_code(row: Row) -> str:
    if row["bytes"] is not None:
        return f"{row['bytes'] / row['stored']:.1f}"
    return f"{row['resident_bytes'] / row['stored']:.0f} resident"


def goals(results: Row, cases: Row) -> list[str]:
    """Every target of cases.toml, reached or missed, at the size it is set for (10 million) or the largest below."""
    rows: list[tuple[str, ...]] = []

    def add(what: str, value: float, target: float, least: bool, text: str) -> None:
        compared = value >= target if least else value <= target
        bound = "at least" if least else "at most"
        rows.append((what, text.format(value), f"{bound} {text.format(target)}", "yes" if compared else "NO"))

    for kind in ("search", "join", "add"):
        for case in cases[kind]:
            ran = [
                r
                for r in results[kind]
                if r["engine"] == case["engine"] and "not_run" not in r and r["stored"] <= TARGET_SIZE
            ]
            if not ran:
                continue
            row = max(ran, key=lambda r: r["stored"])
            name = f"{case['engine']} at {row['stored']:,}"
            rival = faiss_best([r for r in results["search"] if r["stored"] == row["stored"]])
            if "times_faiss" in case and rival:
                add(name, speed(row, "all") / rival, case["times_faiss"], True, "{:.1f} times faiss")  # type: ignore[operator]
                add(name, row["all_two_threads"]["times_one"], 1.8, True, "{:.2f} for two threads")
            if "codes_per_second" in case:
                add(
                    name,
                    row["codes_per_second"] / 1e6,
                    case["codes_per_second"] / 1e6,
                    True,
                    "{:.2f}M codes/s",
                )
            if "bytes" in case:
                taken = row["resident_bytes"] if kind == "join" else row["bytes"]
                add(name, taken / row["stored"], case["bytes"], False, "{:.1f} bytes a code")
    return table(("what", "measured", "target", "reached"), rows)


def rates(rows: list[Row], unit: str = "codes_per_second") -> list[str]:
    return table(
        ("engine", "stored", "codes/s", "right", "bytes a code beyond the input"),
        (
            (
                row["engine"],
                f"{row['stored']:,}",
                rate(row[unit]),
                "yes" if row["right"] else "NO",
                f"{row['resident_bytes'] / row['stored']:.1f}" if row.get("resident_bytes") else "-",
            )
            for row in rows
            if "not_run" not in row
        ),
    )


def paper_ratios(results: Row) -> list[str]:
    largest = max(row["stored"] for row in results["search"])
    ours = {row["engine"]: row for row in results["search"] if row["stored"] == largest and "all" in row}
    if not PAPER.keys() <= ours.keys():
        return []
    rows = []
    pairs = [("psm-written", "bphs-4-binary"), ("psm-written", "bphs-10-binary")]
    for psm, rival in [*pairs, ("psm", "bphs-4"), ("psm", "bphs-10")]:
        if psm not in ours or rival not in ours:
            continue
        printed = PAPER[rival.removesuffix("-binary")]
        rows.append(
            (
                f"{psm} over {rival}",
                f"{PAPER['psm'][0] / printed[0]:.1f}",
                f"{speed(ours[psm], 'all') / speed(ours[rival], 'all'):.2f}",  # type: ignore[operator]
                f"{PAPER['psm'][1] / printed[1]:.1f}",
                f"{speed(ours[psm], 'first') / speed(ours[rival], 'first'):.2f}",  # type: ignore[operator]
            )
        )
    head = ("ratio", "all, paper (60M)", f"all, here ({largest:,})", "first, paper", "first, here")
    return table(head, rows)


def main() -> None:
    results = json.loads((RESULTS / "search.json").read_text())
    # Runs of other sizes or of fewer engines are beside the main one: `--out benchmarks/results/search-60m.json`.
    apart: list[str] = []
    for other in sorted(RESULTS.glob("search-*.json")):
        more = json.loads(other.read_text())
        sizes = sorted({row["stored"] for row in more["search"]})
        engines = ", ".join(row["engine"] for row in more["search"])
        apart.append(
            f"Run apart from the rest ({other.name}, load {more['machine']['load'][0]} at its start): "
            f"{', '.join(f'{size:,}' for size in sizes)} stored, {engines}. {more.get('note', '')}".rstrip()
        )
        for part in ("search", "join", "add"):
            results[part] += more.get(part, [])
    cases = tomllib.loads((HERE / "cases.toml").read_text())
    machine = results["machine"]
    margins = "real text" if results["real_margins"] else "a Laplace model (no text was at hand)"
    lines = [
        "# Hamming search, measured",
        "",
        PROSE.format(radius=results["radius"], margins=margins),
        "",
        f"Machine: {machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}; "
        + ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
        + f"; commit {machine['commit'][:12]}.",
        *(
            [
                f"Others kept the machine busy during this run (load {machine['load'][0]}), so figures for two"
                " threads say little."
            ]
            if machine["load"][0] > machine["cores"] / 2
            else []
        ),
        *apart,
        "",
        *search_tables(results),
        *section("### Targets", goals(results, cases)),
        *section("### All pairs within one set", rates(results["join"])),
        *section("### Adding while searchable", rates(results.get("add", []))),
        *section(
            "### PSM against BPHS: the paper's table 2 and here",
            paper_ratios(results),
            "A ratio above 1 says that PSM is faster. `psm-written` and `-binary` are the methods as printed:",
            "sorted copies, a heap of flips or binary search, one query at a time. `psm` and plain BPHS here",
            "have direct-address buckets, batches and prefetching, and PSM a template of flips.",
        ),
    ]
    predictions = RESULTS / "predictions.json"
    if predictions.exists():
        lines += section("### The planner's predictions", predicted(json.loads(predictions.read_text())))
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(lines).rstrip() + "\n")


def section(title: str, body: list[str], *prose: str) -> list[str]:
    return [title, "", *prose, *([""] if prose else []), *body, ""] if body else []


def predicted(rows: list[Row]) -> list[str]:
    return table(
        (
            "engine",
            "stored",
            "radius",
            "predicted all/s",
            "measured",
            "factor",
            "predicted build",
            "measured",
            "bytes",
        ),
        (
            (
                row["engine"],
                f"{row['stored']:,}",
                str(row.get("radius", 3)),
                rate(row["all"][0]),
                rate(row["all"][1]),
                f"{row['factor']['all']:.2f}",
                f"{row['build_seconds'][0]:.2g}",
                f"{row['build_seconds'][1]:.2g}",
                f"{row['factor']['bytes']:.2f}",
            )
            for row in rows
        ),
    )


if __name__ == "__main__":
    main()
