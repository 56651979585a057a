"""Make docs/inside/benchmarks-pipeline.md of the newest result: python -m benchmarks.pipeline.table [RESULT.json]"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
TEN_MILLION = RESULTS / "ten-million.json"
PAGE = HERE.parents[1] / "docs" / "inside" / "benchmarks-pipeline.md"
Json = dict[str, Any]

INTRODUCTION = """\
# Benchmarks: JSONL to clusters

Made by `python -m benchmarks.pipeline.table`; do not edit. Every engine ran in a process of its own, on {threads}
cores, from a JSONL file to the cluster of every document, at a similarity of .8 of word 5-shingles. Time is on the
clock, from the start of the process to its end, the best of a few runs taken in turn; memory is the largest resident
size of all its processes together. Slow engines got the first part of the corpus, as the column says, and their MB/s
are of that part.
"""

MEASURES = """\
*Found* is the share of known near-duplicate pairs (planted ones and those of the labelled sets) of which not both
documents would be kept. *Right* is the share of removed documents that are similar to the one kept for them (for
rivals, the first of the cluster), and *pairs* the share of the pairs in one cluster that are similar to each other;
both of samples of up to 1,000, by exact Jaccard.
Most rivals split at white space and keep case, so similarity is counted by their idea of a word and by ours: what they
remove is right if either says so, and they are asked to find only what is similar by both.
"""

TRIED = """\
Other native rivals on PyPI were tried. fast-dedup 0.1 makes sketches of words that Python passes to it one by one and
has no search. dolma 1.2 finds equal paragraphs and documents by a Bloom filter, not similar ones. fastdedup and
duplodocus are not there. minhashlib 0.2 runs on Numba, and has no native threads.
"""

CORPORA = {
    "real": "every document of the labelled sets, and documents put together from their sentences with planted copies",
    "100k": "grown from a model of the Kubernetes documentation, a fifth of the documents edited copies",
    "300k": "the same model",
    "1m": "the same model",
}


def newest() -> Path:
    """Results carry their time in their name."""
    found = sorted(RESULTS.glob("pipeline-*.json"))
    if not found:
        raise SystemExit("no result yet: run python -m benchmarks.pipeline first")
    return found[-1]


def page(result: Json) -> str:
    machine = result["machine"]
    rows = result["rows"]
    parts = [
        INTRODUCTION.format(threads=result["threads"]),
        f"Measured {result['date'][:10]} at commit `{result['commit']}` on {machine['cpu']} ({machine['cores']} cores, "
        f"{machine['memory_gb']} GB, load {machine['load']} at the start), {machine['system']}, "
        f"Python {machine['python']}.\n",
        corpora(result),
    ]
    for name in result["corpora"]:
        group = [row for row in rows if row["corpus"] == name]
        if len(group) > 1:
            parts.append(engines(name, group))
    parts += [growth(rows), ten_million(), own_parts(result), inputs(result), aims(result)]
    return "\n".join(part for part in parts if part)


def corpora(result: Json) -> str:
    lines = ["| corpus | documents | MB | sha256 | what |", "|---|---:|---:|---|---|"]
    for name, facts in result["corpora"].items():
        size = facts["bytes"] / 1e6
        lines.append(
            f"| {name} | {facts['documents']:,} | {size:,.0f} | `{facts['sha256'][:12]}` | {CORPORA[name]} |"
        )
    return "\n".join(lines) + "\n"


def engines(name: str, rows: list[Json]) -> str:
    ran = [row for row in rows if "seconds" in row]
    ours = next((row for row in ran if row["engine"] == "ours"), None)
    lines = [
        f"## {name}\n",
        "| engine | MB/s | ours is | seconds | MB | CPU s | memory, MB | clusters | found | right | pairs |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(ran, key=lambda row: -row["mb_per_second"]):
        own, score = row is ours, row["score"]
        ratio = "" if own or ours is None else f"{ours['mb_per_second'] / row['mb_per_second']:.1f}x"
        name_ = row["engine"].replace("_", "-")
        size = f"{row['bytes'] / 1e6:.0f}" + (" (part)" if row["part"] else "")
        found, right, pairs = (
            number(score[key]) for key in ("recall", "removal_precision", "pair_precision")
        )
        lines.append(
            f"| {f'**{name_}**' if own else name_} | {row['mb_per_second']:.1f} | {ratio} | {row['seconds']:.1f} "
            f"| {size} "
            f"| {row['cpu_seconds']:.1f} | {row['peak_bytes'] / 1e6:,.0f} | {score['clusters']:,} | {found} | {right} "
            f"| {pairs} |"
        )
    lines.append("")
    for row in rows:
        if "not_run" in row:
            lines.append(f"- {row['engine']} was not run: {row['not_run']}.")
            continue
        versions = ", ".join(f"{package} {version}" for package, version in row["versions"].items())
        command = f" (`{row['command']}`)" if "command" in row else ""
        lines.append(f"- {row['engine'].replace('_', '-')}{command}: {row['holds']}. {versions}.")
    if name == "real":
        lines += ["", MEASURES.rstrip(), "", TRIED.rstrip()]
    lines += reported(ran)
    return "\n".join(lines) + "\n"


def reported(rows: list[Json]) -> list[str]:
    lines = []
    for row in rows:
        score = row["score"]
        if score.get("pairs") is not None and "reported_recall" in score:
            lines.append(
                f"\nOurs also lists its pairs: {score['pairs']:,}, of which a sample is similar to "
                f"{number(score['reported_precision'])}, with {number(score['reported_recall'])} of the known ones."
            )
    return lines


def growth(rows: list[Json]) -> str:
    ours = [row for row in rows if row["engine"] == "ours" and row["corpus"] != "real" and "seconds" in row]
    if not ours:
        return ""
    lines = [
        "## Growth\n",
        "| documents | MB | seconds | MB/s | microseconds a document | CPU microseconds | memory, MB "
        "| bytes a document | disk, MB |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in ours:
        count = row["documents"]
        lines.append(
            f"| {count:,} | {row['bytes'] / 1e6:,.0f} | {row['seconds']:.1f} | {row['mb_per_second']:.1f} "
            f"| {row['seconds'] / count * 1e6:.1f} | {row['cpu_seconds'] / count * 1e6:.1f} "
            f"| {row['peak_bytes'] / 1e6:,.0f} | {row['peak_bytes'] / count:,.0f} "
            f"| {row['disk_bytes'] / 1e6:,.0f} |"
        )
    lines.append("\nDisk is the largest size of the findings and temporary folders together.")
    return "\n".join(lines) + "\n"


def ten_million() -> str:
    """The run of ten million documents, if there is one."""
    if not TEN_MILLION.exists():
        return "## Ten million\n\nNot run yet: `python -m benchmarks.pipeline.ten_million` takes about 40 minutes.\n"
    found = json.loads(TEN_MILLION.read_text("utf-8"))
    lines = [
        "## Ten million\n",
        f"Run at commit `{found['commit']}`, by `python -m benchmarks.pipeline.ten_million`.\n",
        "| documents | MB | seconds | MB/s | microseconds a document | CPU s | memory, MB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in (found["small"], found["large"]):
        lines.append(
            f"| {one['documents']:,} | {one['bytes'] / 1e6:,.0f} | {one['seconds']:.1f} | {one['mb_per_second']:.1f} "
            f"| {one['seconds'] / one['documents'] * 1e6:.1f} | {one['cpu_seconds']:.1f} "
            f"| {one['peak_bytes'] / 1e6:,.0f} |"
        )
    said = "the same bytes" if found["same_bytes"] else "**other bytes**"
    lines.append(
        f"\nA second scan was killed (SIGKILL) after {found['killed_after_shards']} shards; it resumed in "
        f"{found['resumed']['seconds']:.0f} seconds and wrote {said}. Time per document is "
        f"{found['time_per_document']:.2f} of that at a tenth of the documents."
    )
    return "\n".join(lines) + "\n"


def own_parts(result: Json) -> str:
    """Our own costs beside their bounds."""
    parts = result.get("parts")
    if not parts:
        return ""
    bound, stages = parts["bound"], parts["stages"]
    lines = [
        "## Time by stage\n",
        f"The real corpus, {result['threads']} threads, the best of several runs, each in a process of its own.",
        f"To parse the corpus alone takes {bound['parse']:.2f} CPU seconds, to parse and fingerprint it "
        f"{bound['both']:.2f}.\n",
        "| stage | CPU s | seconds |",
        "|---|---:|---:|",
        *(f"| {name} | {cpu:.2f} | {wall:.2f} |" for name, (cpu, wall) in stages.items()),
        "",
        "| command | CPU s | seconds | CPU over scan |",
        "|---|---:|---:|---:|",
    ]
    own = parts["scan"]["cpu_seconds"]
    for name, one in parts.items():
        if isinstance(one, dict) and "cpu_seconds" in one:
            lines.append(
                f"| {name} | {one['cpu_seconds']:.2f} | {one['seconds']:.2f} | {one['cpu_seconds'] / own:.2f} |"
            )
    lines.append(
        f"\n`neardup --help` takes {parts['help'] * 1000:.0f} ms, a scan of ten documents "
        f"{parts['ten_documents'] * 1000:.0f} ms. `protect` rows are scans with other guards, `library` rows are "
        "`nd.dedup` of texts in memory."
    )
    return "\n".join(lines) + "\n"


def inputs(result: Json) -> str:
    """Other inputs beside their bounds."""
    rows = result.get("inputs")
    if not rows:
        return ""
    lines = [
        "## Other inputs\n",
        "The bound is the CPU time of a scan of the same documents as plain JSONL, and of what must be done before:",
        "to inflate, to decode columns, to open files, to take the text out of pages on one thread.\n",
        "| input | MB | seconds | CPU s | before | plain | share of the bound | cores busy |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {one['input']} | {one['bytes'] / 1e6:,.0f} | {one['seconds']:.2f} | {one['cpu_seconds']:.2f} "
            f"| {one['before']:.2f} | {one['plain']:.2f} | {one['share']:.2f} "
            f"| {one['busy'] * result['threads']:.1f} |"
            for one in rows
        ),
    ]
    return "\n".join(lines) + "\n"


def aims(result: Json) -> str:
    marks = {True: "holds", False: "**does not hold**"}
    return (
        "\n".join(["## Aims\n", *(f"- {marks[one['holds']]}: {one['says']}" for one in result["checks"])])
        + "\n"
    )


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else newest()
    PAGE.write_text(page(json.loads(source.read_text("utf-8"))), "utf-8")
    print(f"{PAGE.relative_to(HERE.parents[1])} made of {source.name}")


if __name__ == "__main__":
    main()
