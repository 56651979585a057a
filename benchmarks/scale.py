"""Make docs/inside/scale.md: what a billion and ten billion documents need, from measured coefficients and the planner.

    python -m benchmarks.scale [--price 0.05] [--hours 6]

Reads results/spark.json (python -m benchmarks.spark), so the page can be made again whenever that was. Every assumption
is an option here and a line of the page.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

import neardup as nd

HERE = Path(__file__).parent
RESULT = HERE / "results" / "spark.json"
PAGE = HERE.parent / "docs" / "inside" / "scale.md"
TARGETS = (10**9, 10**10)
BY_PAIRS = {"key-pairs", "candidates", "verified", "implied", "clusters"}
CROWD = 10
ENOUGH = 100_000  # documents below which a run is mostly the start of Spark
CODES = 8 * 10**9
MEMORIES = ("64GB", "256GB")
Json = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    """What is assumed of a cluster's machines; prices are for a core and hour."""

    cores: int = 32
    memory_gb: int = 128
    disk_gb: int = 3800
    network_gbit: float = 12.5
    busy: float = 0.6
    price: float = 0.05
    hours: float = 6.0


@dataclass(frozen=True)
class Coefficient:
    """Of one quantity: how much each further document added between the two largest runs, and how much a document had
    in the smaller and in the larger one."""

    each: float
    before: float
    after: float

    @classmethod
    def of(cls, low: tuple[int, float] | None, high: tuple[int, float]) -> Coefficient:
        """From (documents, amount) of a smaller run, if there is one, and of the largest."""
        count, amount = high
        after = amount / count
        if low is None:
            return cls(after, after, after)
        before = low[1] / low[0]
        # What did not grow at all is no fixed cost that can be separated; each document gets its share.
        each = (amount - low[1]) / (count - low[0]) if amount > low[1] else after
        return cls(each, before, after)

    @property
    def grew(self) -> str:
        """How many times as many bytes a document had in the larger run; of next to nothing that says nothing."""
        return f"{self.after / self.before:.2f}" if self.before >= 1 else "-"


def coefficients(rows: list[Json]) -> dict[str, dict[str, Coefficient]]:
    """Of each stage its rows, bytes kept, bytes shuffled and seconds of work; `all` has the CPU seconds of the run."""
    ran = sorted(
        (row for row in rows if row["engine"] == "spark" and "volumes" in row), key=lambda r: r["documents"]
    )
    if not ran:
        raise SystemExit("no run of Spark yet: python -m benchmarks.spark first")
    high, low = ran[-1], ran[-2] if len(ran) > 1 else None
    before = {one["name"]: one for one in low["volumes"]} if low else {}
    found: dict[str, dict[str, Coefficient]] = {}
    for one in high["volumes"]:
        if one["name"] != "after":
            earlier = before.get(one["name"])
            found[one["name"]] = {
                name: Coefficient.of(
                    (low["documents"], earlier[name]) if low and earlier else None,
                    (high["documents"], one[name]),
                )
                for name in ("rows_written", "kept_bytes", "shuffle_rows", "shuffle_bytes", "task_seconds")
            }
    cpu = (low["documents"], low["cpu_seconds"]) if low else None
    text = (low["documents"], low["bytes"]) if low else None
    found["all"] = {
        "cpu_seconds": Coefficient.of(cpu, (high["documents"], high["cpu_seconds"])),
        "text_bytes": Coefficient.of(text, (high["documents"], high["bytes"])),
    }
    return found


@dataclass(frozen=True)
class Need:
    """What a job needs: CPU hours, bytes, machines, hours on the clock, and money."""

    cpu_hours: float
    text: float
    shuffled: float
    largest_shuffle: float
    kept: float
    machines: int
    hours: float
    cost: float


def need(
    found: dict[str, dict[str, Coefficient]], documents: int, cluster: Cluster, crowd: float = 1.0
) -> Need:
    """For so many documents, in proportion; `crowd` is how many times as many pairs a document has as was measured,
    which the stages that go by pairs take as often as long and as large."""
    stages = {name: one for name, one in found.items() if name != "all"}
    times = {name: crowd if name in BY_PAIRS else 1.0 for name in stages}

    def total(key: str) -> list[float]:
        return [one[key].each * documents * times[name] for name, one in stages.items()]

    tasks = sum(one["task_seconds"].each for one in stages.values()) * documents
    cpu = (
        found["all"]["cpu_seconds"].each
        * documents
        / 3600
        * (sum(total("task_seconds")) / tasks if tasks else 1)
    )
    text = found["all"]["text_bytes"].each * documents
    shuffled, largest, kept = (
        sum(total("shuffle_bytes")),
        max(total("shuffle_bytes")),
        sum(total("kept_bytes")),
    )
    working = cpu / (cluster.cores * cluster.busy)  # machine-hours
    moving = (text + 2 * kept + shuffled) / (cluster.network_gbit / 8 * 1e9) / 3600
    # The largest shuffle is on local disks twice: as written, and as sorted on the other side.
    holding = 2 * largest / (0.7 * cluster.disk_gb * 1e9)
    machines = max(1, ceil((working + moving) / cluster.hours), ceil(holding))
    hours = (working + moving) / machines
    cost = machines * hours * cluster.cores * cluster.price
    return Need(cpu, text, shuffled, largest, kept, machines, hours, cost)


def amount(value: float, unit: str = "") -> str:
    """Three digits: bytes as KB to PB, everything else as K, M and B."""
    giga = "G" if unit else "B"
    for size, name in ((1e15, "P"), (1e12, "T"), (1e9, giga), (1e6, "M"), (1e3, "K")):
        if float(f"{value:.3g}") >= size:
            return f"{value / size:.3g}{' ' if unit else ''}{name}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def page(result: Json, cluster: Cluster) -> str:
    rows = result["rows"]
    found = coefficients(rows)
    parts = [
        introduction(rows),
        volumes(found),
        machines(found, cluster),
        one_machine(rows, cluster),
        limits(rows, cluster),
        online(),
        LEFT_OUT,
    ]
    return "\n".join(parts)


def introduction(rows: list[Json]) -> str:
    ran = sorted(
        (row for row in rows if row["engine"] == "spark" and "volumes" in row),
        key=lambda row: row["documents"],
    )
    sizes = " and ".join(f"{row['documents']:,}" for row in ran[-2:])
    size = ran[-1]["bytes"] / ran[-1]["documents"]
    return f"""\
# Scale

Made by `python -m benchmarks.scale`; do not edit. This page shows what a billion and ten billion documents need. The
figures are **computed, not run**: the coefficients are those of
[Spark beside the local pipeline](benchmarks-spark.md), measured on {sizes} documents of {size:,.0f} bytes, and the
search designs are those of the planner. An estimate takes the cost of each further document between the two largest
runs, times the number of documents. For other texts, make the page again from your own run.
{TRIAL if ran[-1]["documents"] < ENOUGH else ""}"""


def volumes(found: dict[str, dict[str, Coefficient]]) -> str:
    lines = [
        "## What each stage moves\n",
        "| stage | kept, bytes per document | shuffled, bytes per document | grew | task s per "
        "million | 1B: rows kept | 1B: kept "
        "| 1B: shuffled | 10B: kept | 10B: shuffled |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    stages = {name: one for name, one in found.items() if name != "all"}
    keys = ("kept_bytes", "shuffle_bytes")
    for name, one in stages.items():
        kept, moved = (one[key] for key in keys)
        cells = [amount(one["rows_written"].each * TARGETS[0])]
        cells += [amount(one[key].each * n, "B") for n in TARGETS for key in keys]
        lines.append(
            f"| {name} | {kept.each:,.1f} | {moved.each:,.1f} | {moved.grew} | {one['task_seconds'].each * 1e6:,.0f} | "
            + " | ".join(cells)
            + " |"
        )
    each = [sum(one[key].each for one in stages.values()) for key in keys]
    tasks = sum(one["task_seconds"].each for one in stages.values()) * 1e6
    totals = " | ".join(amount(value * n, "B") for n in TARGETS for value in each)
    lines.append(f"| **all** | {each[0]:,.1f} | {each[1]:,.1f} |  | {tasks:,.0f} |  | {totals} |")
    return "\n".join(lines) + "\n" + GREW


def machines(found: dict[str, dict[str, Coefficient]], cluster: Cluster) -> str:
    lines = [
        "## Machines and cost\n",
        ASSUMED.format(**asdict(cluster)),
        "| documents | pairs of a document | text | CPU hours | kept | shuffled | largest shuffle | machines | hours "
        "| cost |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for n in TARGETS:
        for crowd, named in ((1, "as measured"), (CROWD, f"{CROWD} times as many")):
            one = need(found, n, cluster, crowd)
            lines.append(
                f"| {amount(n)} | {named} | {amount(one.text, 'B')} | {amount(one.cpu_hours)} "
                f"| {amount(one.kept, 'B')} | {amount(one.shuffled, 'B')} | {amount(one.largest_shuffle, 'B')} "
                f"| {one.machines:,} | {one.hours:.1f} | ${one.cost:,.0f} |"
            )
    lines.append(COUNTED)
    return "\n".join(lines) + "\n"


def one_machine(rows: list[Json], cluster: Cluster) -> str:
    """The same corpus on one machine, by the local pipeline."""
    ran = sorted(
        (row for row in rows if row["engine"] == "local" and "seconds" in row), key=lambda r: r["documents"]
    )
    if not ran:
        return ""
    high, low = ran[-1], ran[-2] if len(ran) > 1 else None

    def coefficient(name: str) -> Coefficient:
        return Coefficient.of((low["documents"], low[name]) if low else None, (high["documents"], high[name]))

    enough = high["documents"] >= ENOUGH  # below, memory is that of buffers which fill
    cpu, disk, memory = (coefficient(name) for name in ("cpu_seconds", "disk_bytes", "peak_bytes"))
    lines = [
        "## One machine instead\n",
        "The local pipeline gives the same answer and needs less in total. In proportion, on one such machine:\n",
        "| documents | CPU hours | hours on all cores | disk | memory, if it continues to grow |",
        "|---:|---:|---:|---:|---:|",
    ]
    for n in TARGETS:
        hours = cpu.each * n / 3600
        lines.append(
            f"| {amount(n)} | {amount(hours)} | {amount(hours / (cluster.cores * cluster.busy))} "
            f"| {amount(disk.each * n, 'B')} | {amount(memory.each * n, 'B') if enough else '-'} |"
        )
    lines.append(ALONE)
    return "\n".join(lines) + "\n"


def limits(rows: list[Json], cluster: Cluster) -> str:
    """What one machine must hold in memory of every document, the largest first."""
    ran = sorted((row["documents"], row["peak_bytes"]) for row in rows if row["engine"] == "local")
    held = dict(HELD)
    if len(ran) > 1 and ran[-1][0] >= ENOUGH:
        held["the local pipeline"] = Coefficient.of(*ran[-2:]).each
    lines = ["## What breaks first\n", BREAKS.format(memory=cluster.memory_gb)]
    lines += [
        "| what is held | bytes of a document | a billion documents | full at |",
        "|---|---:|---:|---:|",
    ]
    for what, each in sorted(held.items(), key=lambda item: -item[1]):
        full = cluster.memory_gb * 1e9 / each
        lines.append(f"| {what} | {each:,.3g} | {amount(each * 1e9, 'B')} | {amount(full)} documents |")
    lines.append(FIRST.format(full=amount(cluster.memory_gb * 1e9 / max(HELD.values()))))
    return "\n".join(lines) + "\n"


def online() -> str:
    """The live index of so many codes, as the planner has it."""
    lines = [
        "## Eight billion codes online\n",
        "Manku, Jain and Das Sarma had eight billion codes of 64 bits, with radius 3. The plan for "
        "shards of 64 GB is:\n",
        "```python",
        "import neardup as nd",
        "",
        'plan = nd.plan(8e9, radius=3, memory="64GB", measure=False)',
        "print(plan)",
        "```",
        "```output",
        str(nd.plan(CODES, radius=3, memory="64GB", measure=False)),
        "```\n",
        SHARDS,
        "| memory for a shard | design | machines | with replicas | memory used, GB each | in all, GB "
        "| queries/s, a core each | first/s | recall |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for memory in MEMORIES:
        best: dict[str, Any] = {}
        for option in nd.plan(CODES, radius=3, memory=memory, measure=False).options:
            if not option.batch and option.method != "scan":
                best.setdefault(option.method, option)
        for option in best.values():
            recall = "exact" if option.exact else f"{option.recall:g}"
            lines.append(
                f"| {memory} | {option.design} | {option.shards} | {2 * option.shards} "
                f"| {option.memory_bytes / 1e9:.0f} | {option.shards * option.memory_bytes / 1e9:,.0f} "
                f"| {amount(option.queries_per_second)} "
                f"| {amount(option.first_per_second)} | {recall} |"
            )
    lines.append(OTHERWISE)
    return "\n".join(lines) + "\n"


GREW = """
*Grew* compares the shuffled bytes of each document in the larger run with those in the smaller run. About 1 means
growth in proportion; above 1 the estimates are too low, because they assume that this growth stops. The text itself is
never shuffled: it is read once for fingerprints, and the stages that verify and write read parts of it again.
"""

TRIAL = """
**This page is a trial.** It was made from runs of so few documents, on a busy machine, that hours and costs mean
little: most of the measured time is the start of Spark and of its workers. Bytes for each document are more accurate.
"""

ASSUMED = """\
We assume machines with {cores} cores, {memory_gb} GB of memory, {disk_gb} GB of local disk and {network_gbit:g} Gbit/s.
The cores work on tasks {busy:.0%} of the time. An hour of a core costs ${price:g}, which is near the list prices of the
large clouds. A job takes at most {hours:g} hours. The time to move text, stages and shuffles over the network is added
to the time of the work, as if the two did not overlap.
"""

COUNTED = """
The CPU hours are those of the measured machine, of the JVM and Python together. If stages are kept in an object
store, its requests cost money, too; they are not counted."""

ALONE = """
It was measured with only two threads, so the hours on all cores are the least certain figure here. If its disk is large
enough, one machine can process a billion documents. Use Spark if the text is already in a cluster, if it is more than
one machine can hold, or if a job must continue when a machine fails."""

# Bytes of each document in the memory of one machine: src/neardup/spark/findings.py, and the bits of worker.py.
HELD = {
    "the driver of `neardup spark scan`, which writes the findings": 250.0,
    "one Python worker of Spark that reads texts again": 1 / 8,
}

BREAKS = """\
The work is spread over machines, but some memory on one of them grows with the corpus. With {memory} GB of memory (the
driver's bytes are estimated from its columns, those of the local pipeline are measured):
"""

FIRST = """
So the driver breaks first. Above {full} documents `neardup spark scan` needs a driver with more memory, or several
runs, each against what the runs before have kept (`against=`). `dedup` of a DataFrame writes no findings: its driver
holds no column of all documents, and its shuffles are the limit, whose sizes are in the first table."""

SHARDS = """\
Each shard holds an equal part of the rows. Every query is sent to every shard, in batches, and the answers are
combined. Shards do not depend on each other: each is rebuilt from its own part of the log, and a new shard can be added
without moving codes. Speeds are those of all shards together with one core each; a machine with 16 cores answers up to
16 times as many queries, if its memory is fast enough. With replicas there are two machines for each shard: twice the
machines, and twice the queries while both run.
"""

OTHERWISE = """
No shard holds more than 2^32 codes, so there are at least two, for machines of any size. Memory is that of the tables
and of the map from codes to rows, without the data of the documents. A live index also needs memory for codes that were
added after its tables were built, at most a sixteenth. If queries come in batches, the codes need no index: they are
read once for each batch (the `batch` lines of the planner; on Spark,
[queries against stored codes](../how-to/spark.md#queries-against-stored-codes), which read 64 GB for eight billion
codes). Redis Cluster shards by table and key instead of by row: a query is sent only to the machines of its
keys, but it needs more round trips, and several times the bytes of native tables."""

LEFT_OUT = """\
## What this leaves out

- We did not run a corpus of a billion documents. From a million to ten billion is four orders of magnitude, and what is
  rare in a million documents may dominate there: one very large bucket or cluster, or one host with a hundred million
  pages.
- The share of near-duplicates is assumed to be the same at every size. A larger crawl has a larger share of them,
  because each page is compared with more others; candidates, pairs and clusters grow with it. Candidates by chance grow
  with the square of the number of documents until the cap on buckets limits them; a million documents show little of
  this.
- Small tables are sent to all workers, so that large ones need not be shuffled. These are the list of documents with
  the same words as others, up to 10 MB, and the list of features to compare, for up to two million documents. In larger
  runs, band keys are shuffled once or twice more, and the features of `verified` twice.
- Some data is held in memory as a whole. A pass that reads texts again needs one bit for each document in every Python
  worker: 125 MB for a billion documents, 1.25 GB for ten billion. The driver holds the list of the pieces of files.
- The documents here are short. The cost of reading and of fingerprints depends on the bytes of text, not on the number
  of documents.
- The cost does not include failures, retries, speculative tasks, waiting for machines, the work of the driver, requests
  to object stores, traffic between zones, and any later processing of the text.
- The figures of the planner are for uniform codes on a typical machine; real codes have fuller buckets. `nd.plan`
  without `measure=False` measures your machine.
"""


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.scale", description=__doc__, formatter_class=raw)
    parser.add_argument("--cores", type=int, default=Cluster.cores, help="of a machine")
    parser.add_argument("--price", type=float, default=Cluster.price, help="of a core and hour, in dollars")
    parser.add_argument("--hours", type=float, default=Cluster.hours, help="that a job may take")
    parser.add_argument(
        "--busy", type=float, default=Cluster.busy, help="share of time that cores work on tasks"
    )
    asked = parser.parse_args()
    cluster = Cluster(cores=asked.cores, price=asked.price, hours=asked.hours, busy=asked.busy)
    if not RESULT.exists():
        raise SystemExit("no result yet: run python -m benchmarks.spark first")
    PAGE.write_text(page(json.loads(RESULT.read_text("utf-8")), cluster), "utf-8")
    print(f"{PAGE.relative_to(HERE.parent)} made of {RESULT.name}")


if __name__ == "__main__":
    main()
