"""Make docs/inside/scale.md: what a billion and ten billion documents need, from measured coefficients and the planner.

    python -m benchmarks.scale [--price 0.05] [--hours 6]

Reads results/spark.json (python -m benchmarks.spark), so the page can be made anew whenever that was. Every assumption
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
        # What did not grow at all is no fixed cost that can be told apart; each document gets its share.
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
    # The largest shuffle lies on local disks twice: as written, and as sorted on the other side.
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

Made by `python -m benchmarks.scale`; do not edit. What a billion and ten billion documents need, **computed, not run**:
the coefficients are those of [Spark beside the local pipeline](benchmarks-spark.md), measured on {sizes}
documents of {size:,.0f} bytes, and the search designs are the planner's. An estimate is what each further document cost
between the two largest runs, in proportion. With other texts, make the page anew from a run of your own.
{TRIAL if ran[-1]["documents"] < ENOUGH else ""}"""


def volumes(found: dict[str, dict[str, Coefficient]]) -> str:
    lines = [
        "## What each stage moves\n",
        "| stage | a document: kept, bytes | shuffled, bytes | grew | task s a million | 1B: rows kept | 1B: kept "
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
        for crowd, told in ((1, "as measured"), (CROWD, f"{CROWD} times as many")):
            one = need(found, n, cluster, crowd)
            lines.append(
                f"| {amount(n)} | {told} | {amount(one.text, 'B')} | {amount(one.cpu_hours)} "
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
        "The local pipeline gives the same answer and needs less in all. In proportion, on one such machine:\n",
        "| documents | CPU hours | hours on all cores | disk | memory, if it goes on growing |",
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


def online() -> str:
    """The live index of so many codes, as the planner has it."""
    lines = [
        "## Eight billion codes online\n",
        "As many as Manku, Jain and Das Sarma had, of 64 bits, radius 3. The planner, for shards of 64 GB:\n",
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
*Grew* is how many times as many bytes a document shuffled in the larger run as in the smaller: about 1 is growth in
proportion, and above that the estimates are too low, for they take it to stop. The text itself is never shuffled: it is
read once for fingerprints, and what is needed of it again by the stages that verify and write.
"""

TRIAL = """
**This page is a trial.** It was made of runs of so few documents, on a busy machine, that hours and costs mean little:
most of what was measured is the start of Spark and of its workers. Bytes a document are nearer to the truth.
"""

ASSUMED = """\
Assumed: machines of {cores} cores, {memory_gb} GB of memory, {disk_gb} GB of local disk and {network_gbit:g} Gbit/s;
cores that do a task's work {busy:.0%} of the time; ${price:g} for a core and hour, which is near the list prices of the
large clouds and is no quotation; a job of at most {hours:g} hours. Moving text, stages and shuffles over the network is
counted after the work, not beside it.
"""

COUNTED = """
The CPU hours are those of the machine it was measured on, the JVM's and Python's together. A stage kept in an object
store costs its requests too, which are not counted."""

ALONE = """
It has been run on two threads only, so the hours on all cores are the least certain figure here. Where the disk is
there, a billion documents are one machine's work; Spark is for text that lies in a cluster already, for more than one
machine can hold, and for a job that must outlive a machine."""

SHARDS = """\
A shard holds an equal part of the rows. Every query asks every shard, in batches, and the answers are put together: no
shard knows of another, each is rebuilt from its own part of the log, and one more is added without moving a code.
Speeds are of all shards together with one core each; a machine of 16 cores answers up to 16 times as many, as far as
its memory keeps up. For every machine that may fail there is a second with the same rows: twice the machines, and twice
the queries while both live.
"""

OTHERWISE = """
No shard holds more than 2^32 codes, so there are two at the least, however large the machines. Memory is that of tables
and of the map from codes to rows, without the documents' own data; a live index needs a tail besides for what came
since its tables were built, a sixteenth at most. Asked in batches the same codes need no index at all: they are read
once for each batch of queries (the planner's `batch` lines; on Spark
[queries against stored codes](../how-to/spark.md#queries-against-stored-codes), where eight billion codes are 64 GB to
scan where they lie). Redis Cluster shards by table and key instead of by row: a query goes to the machines of its keys
alone, and pays with round trips and with several times the bytes of native tables."""

LEFT_OUT = """\
## What this leaves out

- No corpus of a billion was run. From a million to ten billion is four orders of magnitude, and what is rare in a
  million documents may rule there: one hot bucket, one giant cluster, one host with a hundred million pages.
- Near-duplicates are taken to have the same share at every size. A real crawl has more of them the larger it is, since
  each page meets more others; candidates, pairs and clusters grow with them. Candidates by chance grow with the square
  of the documents until the cap on a bucket holds them; the figures of a million say little of that.
- What is small is sent around instead of shuffling what it is joined with: which documents have the words of others
  while it is below 10 MB, and which features are compared where for up to two million documents. Beyond, band keys
  are shuffled once or twice more, and the features of `verified` twice.
- Some things are held whole. A pass that reads texts again gives every Python worker one bit for each document: 125 MB
  for a billion, 1.25 GB for ten, in each process. Pieces of files are listed on the driver.
- Documents are short here. The cost of fingerprints and of reading goes by bytes of text, not by documents.
- Failures, retries, speculative tasks, waiting for machines, the driver's own work, requests to object stores and
  traffic between zones are not in the cost. Nor is what becomes of the text afterwards.
- The planner's figures are for uniform codes on a typical machine; real codes have fuller buckets. `nd.plan` without
  `measure=False` measures the machine at hand.
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
