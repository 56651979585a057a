"""`python -m benchmarks.task_tables`: the measured tables of how-to pages, made from the kept results alone.

Each table is between two marks on its page. The scripts that measure are templates.py, containment.py, repeats.py and
vectors.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.page_part import write_part

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = ROOT / "docs" / "how-to"
SWAPPED = "full_content_swap"
KINDS = {
    "timestamp_swap": "other date",
    "boilerplate_only_diff": "other template",
    "minor_content_edit": "small edit",
}
TEXTS = {"whole": "whole page", "main": "main content"}
DIGITS = {"keep": "kept", "fold": "folded"}


def templates(result: dict[str, Any]) -> list[str]:
    """Shares of labelled pairs that are found, for each config."""
    lines = [
        f"| text | digits | templates | Jaccard | copies found | {' | '.join(KINDS.values())} "
        "| swapped bodies found | same words |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        copies = [row["found"][note] for note in row["found"] if note != SWAPPED]
        found, known = (sum(column) for column in zip(*copies, strict=True))
        shares = [f"{row['found'][note][0] / row['found'][note][1]:.2f}" for note in KINDS]
        share = "-" if row["share"] is None else f"{row['share']:g}"
        cells = [
            TEXTS[row["html"]],
            DIGITS[row["digits"]],
            share if row["lines"] or row["share"] is None else f"{share}, shingles only",
            f"{row['threshold']:g}",
            f"{found / known:.3f}",
            *shares,
            f"{row['found'][SWAPPED][0]} of {row['found'][SWAPPED][1]}",
            str(row["same_words"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def containment(result: dict[str, Any]) -> list[str]:
    """Recall of two searches against all pairs."""
    lines = [
        "| corpus | threshold | search | pairs | recall | excerpts found | candidates | CPU seconds |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| {row['set']}, {row['documents']:,} documents | {row['threshold']:g} | {row['search']} "
            f"| {row['pairs']:,} | {row['recall']:.4f} | {row['excerpts_found']} of {row['excerpts']} "
            f"| {row['candidates']:,} | {row['cpu_seconds']:.1f} |"
        )
    return lines


def repeats(result: dict[str, Any]) -> list[str]:
    """Time and memory for each unit."""
    lines = [
        "| unit | text | `--memory` | CPU seconds | MB a CPU second | share removed | peak memory | scratch files |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for run in result["runs"]:
        spilled = f"{run['spilled_mb']:.0f} MB" if run["spilled_mb"] else "none"
        lines.append(
            f"| {run['unit']} | {run['megabytes']:.0f} MB | {run['memory'].replace('MB', ' MB')} | {run['cpu']:.1f} "
            f"| {run['mb_per_cpu_second']:.0f} | {run['cut_share']:.0%} | {run['peak_mb']:.0f} MB | {spilled} |"
        )
    return lines


def vectors(result: dict[str, Any]) -> list[str]:
    """Recall and time of each engine."""
    machine = result["machine"]
    lines = [
        f"{result['size']:,} vectors of {result['width']} dimensions; {result['share']:.0%} have a planted neighbour;",
        f"all pairs of cosine {result['threshold']:g} or more, on {machine['cpu']}. CPU seconds in all are",
        f"those of building and of one query for each vector; faiss was asked {result['asked']:,} queries. Memory is",
        "what an engine takes beyond the vectors.\n",
        "| engine | recall | wrong pairs | CPU seconds to build | CPU µs a query | CPU seconds in all | memory |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in result["results"]:
        lines.append(
            f"| {row['engine']} | {row['recall']:.3f} | {row['wrong']:,} | {row['build_cpu_seconds']:,.0f} "
            f"| {row['query_cpu_microseconds']:,.0f} | {row['cpu_seconds']:,.0f} | {row['memory_mb'] / 1e3:.1f} GB |"
        )
    lines += [f"\nNot run: {name} ({why})." for name, why in result.get("not_run", {}).items()]
    return lines


TABLES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "templates": templates,
    "containment": containment,
    "repeats": repeats,
    "vectors": vectors,
}
PAGE_OF = {"vectors": "embeddings"}  # where it has another name than the results


def main() -> None:
    """Write every table between its marks."""
    for name, table in TABLES.items():
        page = PAGES / f"{PAGE_OF.get(name, name)}.md"
        result = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
        write_part(page, f"measured {name}", "\n".join(table(result)))


if __name__ == "__main__":
    main()
