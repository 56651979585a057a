"""Make docs/inside/benchmarks-spark.md of the kept rows: python -m benchmarks.spark.table [RESULT.json]"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULT = HERE.parent / "results" / "spark.json"
PAGE = HERE.parents[1] / "docs" / "inside" / "benchmarks-spark.md"
ENOUGH = 100_000  # documents below which a run is mostly the start of Spark
SPARK = {"driver": "spark (driver decides)", "spark": "spark"}  # how the page names these engines
Json = dict[str, Any]

INTRODUCTION = """\
# Benchmarks: Spark beside the local pipeline

Made by `python -m benchmarks.spark.table`; do not edit. `neardup spark scan` on `local[2]` and `neardup scan` with two
threads, each a process of its own on the same two cores, on the same JSONL, at a similarity of .8 of word 5-shingles.
Seconds are on the clock from the start of the process to its end, which includes the start of Java and of the Python
workers; CPU seconds and memory are those of all processes together, for Spark the driver's JVM (2 GB of heap allowed)
and the Python workers. The corpora are grown from a model of real documentation, a fifth of the documents edited
copies; they are those of [JSONL to clusters](benchmarks-pipeline.md).

On one machine, use the local pipeline: it needs less time and memory and gives the same answer. [Scale](scale.md)
computes from these figures what a cluster needs.
"""

RIVALS = """\
text-dedup and datatrove got the first part of a corpus, as the column says; nothing is extrapolated. Neither verifies
what it removes.
"""

NOTES = """\
*Shuffled* is what tasks wrote for other tasks to read, compressed, as Spark's event log counts it; *kept* is what is
in the stage's folder when it is complete; *read* does not include what is read back from a shuffle. Task seconds are
those of Spark's task threads, which wait while their Python worker works, so Python's time is in them once. A job of
Spark belongs to the first stage that was completed after the job began.
"""

TRIAL = """\
**These rows are a trial** of the benchmark on few documents and a busy machine: nearly all of Spark's time is its
start.
"""

LEFT_OUT = """\
## What these figures leave out

One machine has no network: a shuffle here is a write and a read of the local disk, mostly of the page cache.
Stragglers, lost executors, object stores and the skew of a real crawl are not in them. Spark's own threads share the
two cores with the tasks. The smallest sizes are mostly Spark's start.
"""


def page(result: Json) -> str:
    rows = result["rows"]
    rivals = any(row["part"] for row in rows if "seconds" in row)
    parts = [
        INTRODUCTION,
        measured(rows),
        side_by_side(rows),
        RIVALS if rivals else "",
        growth(rows),
        stages(rows),
    ]
    parts += [TRIAL if max(row["documents"] for row in rows) < ENOUGH else "", LEFT_OUT]
    return "\n".join(part for part in parts if part)


def measured(rows: list[Json]) -> str:
    """Where the rows were made; they need not all be of one day."""
    lines = []
    for row in rows:
        machine = row["machine"]
        line = (
            f"- {row['date'][:10]}, commit `{row['commit']}`: {machine['cpu']} ({machine['cores']} cores, "
            f"{machine['memory_gb']} GB), {machine['system']}, Python {machine['python']}"
        )
        if line not in lines:
            lines.append(line)
    ran = [row for row in rows if row.get("versions")]
    versions = sorted({f"{name} {version}" for row in ran for name, version in row["versions"].items()})
    loads = [row["machine"]["load"] for row in rows]
    cells = f"The load was {min(loads)} to {max(loads)} when rows began. {', '.join(versions)}."
    return "\n".join([*lines, "", cells, ""])


def side_by_side(rows: list[Json]) -> str:
    lines = [
        "## Side by side\n",
        "| corpus | engine | documents | MB | seconds | CPU s | memory, MB | disk, MB | clusters | same answer |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    missing = []
    answers = {row["corpus"]: row.get("keepers") for row in rows if row["engine"] == "local"}
    for row in rows:
        if "not_run" in row:
            missing.append(f"- {row['engine']} on {row['corpus']} was not run: {row['not_run']}")
            continue
        same = "-"
        if row["engine"] in SPARK and answers.get(row["corpus"]):
            same = "yes" if answers[row["corpus"]] == row["keepers"] else "**no**"
        name = SPARK.get(row["engine"], row["engine"].replace("_", "-"))
        size = f"{row['bytes'] / 1e6:,.0f}" + (" (part)" if row["part"] else "")
        lines.append(
            f"| {row['corpus']} | {name} | {row['documents']:,} | {size} | {row['seconds']:.1f} "
            f"| {row['cpu_seconds']:.1f} | {row['peak_bytes'] / 1e6:,.0f} | {row['disk_bytes'] / 1e6:,.0f} "
            f"| {row['score']['clusters']:,} | {same} |"
        )
    return "\n".join([*lines, "", *missing, *([""] if missing else [])])


def growth(rows: list[Json]) -> str:
    lines = [
        "## Growth\n",
        "| documents | engine | microseconds a document | CPU microseconds | memory, bytes a document "
        "| kept, bytes a document | shuffled, bytes a document |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        if "seconds" not in row or row["engine"] not in ("local", *SPARK):
            continue
        count = row["documents"]
        moved = [sum(one[name] for one in row.get("volumes", [])) for name in ("kept_bytes", "shuffle_bytes")]
        cells = [f"{value / count:,.0f}" if "volumes" in row else "-" for value in moved]
        lines.append(
            f"| {count:,} | {SPARK.get(row['engine'], row['engine'])} | {row['seconds'] / count * 1e6:,.1f} "
            f"| {row['cpu_seconds'] / count * 1e6:,.1f} | {row['peak_bytes'] / count:,.0f} | {' | '.join(cells)} |"
        )
    return "\n".join(lines) + "\n"


def stages(rows: list[Json]) -> str:
    """What every stage moved, of the largest corpus that ran."""
    ran = [row for row in rows if row["engine"] == "spark" and "volumes" in row]
    if not ran:
        return ""
    row = max(ran, key=lambda row: row["documents"])
    lines = [
        f"## Stage by stage, {row['documents']:,} documents\n",
        "| stage | seconds | task s | tasks | read, MB | rows kept | kept, MB | rows shuffled | shuffled, MB "
        "| spilled, MB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in row["volumes"]:
        lines.append(
            f"| {one['name']} | {one['seconds']:.1f} | {one['task_seconds']:.1f} | {one['tasks']:,} "
            f"| {one['bytes_read'] / 1e6:,.1f} | {one['rows_written']:,} | {one['kept_bytes'] / 1e6:,.1f} "
            f"| {one['shuffle_rows']:,} | {one['shuffle_bytes'] / 1e6:,.1f} | {one['spilled_bytes'] / 1e6:,.1f} |"
        )
    return "\n".join(lines) + "\n\n" + NOTES


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULT
    if not source.exists():
        raise SystemExit("no result yet: run python -m benchmarks.spark first")
    PAGE.write_text(page(json.loads(source.read_text("utf-8"))), "utf-8")
    print(f"{PAGE.relative_to(HERE.parents[1])} made of {source.name}")


if __name__ == "__main__":
    main()
