"""Make docs/inside/benchmarks.md of the newest result of each suite in benchmarks/results/.

python benchmarks/table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE.parent / "docs" / "inside" / "benchmarks.md"
Json = dict[str, Any]

INTRODUCTION = """\
# Benchmarks: text in, fingerprint out

Made by `benchmarks/table.py`; do not edit. Every engine ran alone in its process, on one core unless its name
says otherwise, over the same text. Figures are MB of UTF-8 text per second of processor time (best of
{repeat}), MB per second of wall time, and how much the peak memory rises above the memory with the input loaded.
*Versus* is our figure per CPU-second over theirs.
"""


def newest(suite: str) -> Json | None:
    """Results carry their time in their name, so the last name is the newest result."""
    found = sorted((HERE / "results").glob(f"{suite}-*.json"))
    return json.loads(found[-1].read_text("utf-8")) if found else None


def page(result: Json) -> str:
    machine = result["machine"]
    parts = [INTRODUCTION.format(repeat=result["repeat"])]
    parts.append(
        f"Measured {result['date'][:10]} at commit `{result['commit']}` on {machine['cpu']} "
        f"({', '.join(machine['vectors']) or 'no wide vectors'}; {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, load {machine['load']} at the start), {machine['system']}, "
        f"Python {machine['python']}.\n"
    )
    for name, title in result["cases"].items():
        rows = [row for row in result["rows"] if row["case"] == name]
        if rows:
            parts.append(table(title, rows))
            parts.append(verdict(rows))
    parts += [agreement(result), promises(result)]
    return "\n".join(part for part in parts if part)


def table(title: str, rows: list[Json]) -> str:
    ours = next((row for row in rows if row["engine"] == "ours"), None)
    lines = [
        f"## {title}\n",
        "| engine | MB per CPU-second | versus | MB/s | memory, MB | text, MB | the time holds |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in sorted(rows, key=lambda row: -row["mb_per_cpu_second"]):
        rate = row["mb_per_cpu_second"]
        ratio = f"{ours['mb_per_cpu_second'] / rate:.1f}x" if ours and not own(row) else ""
        packages = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
        engine = f"**{row['engine']}**" if own(row) else row["engine"]
        lines.append(
            f"| {engine} ({packages}) | {rate:.0f} | {ratio} | {row['mb_per_second']:.0f} "
            f"| {row['peak_mb']:.0f} | {row['input']['bytes'] / 1e6:.0f} | {row['includes']} |"
        )
    text = max((row["input"] for row in rows), key=lambda one: one["bytes"])
    lines.append(
        f"\n{text['documents']:,} documents, {text['bytes'] / 1e6:.1f} MB, {text['ascii_share']:.0%} of it "
        f"in plain ASCII documents; sha256 `{text['sha256'][:16]}`. Engines with less got the first part.\n"
    )
    return "\n".join(lines)


def own(row: Json) -> bool:
    return str(row["engine"]).startswith("ours")


def verdict(rows: list[Json]) -> str:
    """Where we are not the fastest or the leanest, say so, with what the other's time holds."""
    ours = next((row for row in rows if row["engine"] == "ours"), None)
    if ours is None:
        return "Our own engine was not measured in this run.\n"
    faster = [row for row in rows if not own(row) and row["mb_per_cpu_second"] > ours["mb_per_cpu_second"]]
    leaner = [row for row in rows if not own(row) and row["peak_mb"] < ours["peak_mb"]]
    lines = [
        f"We lose to {row['engine']} on speed ({row['mb_per_cpu_second']:.0f} against "
        f"{ours['mb_per_cpu_second']:.0f}); its time holds: {row['includes']}."
        for row in faster
    ]
    lines += [
        f"We take more memory than {row['engine']} ({ours['peak_mb']:.0f} MB against {row['peak_mb']:.0f})."
        for row in leaner
    ]
    return "\n".join(lines) + "\n" if lines else ""


def agreement(result: Json) -> str:
    lines = [
        "## Agreement\n",
        "Each engine's estimate against exact similarity on pairs of real documents over the whole range:",
        "Jaccard of word 5-shingles for MinHash; for simhash the angle between bags of words, divided by",
        "180 degrees.\n",
        "| engine | what | pairs | mean absolute error | bias |",
        "|---|---|---:|---:|---:|",
    ]
    for report in result["agreement"]:
        for what, errors in report.items():
            if isinstance(errors, dict):
                error, bias = errors["mean_absolute_error"], errors["bias"]
                lines.append(
                    f"| {report['engine']} | {what} | {report['pairs']} | {error:.4f} | {bias:+.4f} |"
                )
    return "\n".join(lines) + "\n"


def promises(result: Json) -> str:
    lines = ["## What must hold\n"]
    marks = {True: "holds", False: "**does not hold**"}
    lines += [f"- {marks[one['holds']]}: {one['says']}" for one in result["checks"]]
    known = {one["says"] for one in result["checks"]}
    lines += [f"- **failed**: {failure}" for failure in result["failures"] if failure not in known]
    return "\n".join(lines) + "\n"


def main() -> None:
    result = newest("text")
    if result is None:
        raise SystemExit("no results yet: run benchmarks/run.py first")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(page(result), "utf-8")
    print(f"{TARGET.relative_to(HERE.parent)} made of the run of {result['date']}")


if __name__ == "__main__":
    main()
