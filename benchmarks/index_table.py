"""Make docs/inside/benchmarks-index.md of benchmarks/results/index.json and service.json.

python -m benchmarks.index_table
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE.parent / "docs" / "inside" / "benchmarks-index.md"
Json = dict[str, Any]

INTRODUCTION = """\
# Benchmarks: the live index and its service

Made by `benchmarks/index_table.py`; do not edit. `make bench-index` measures again and says which target is missed.

The input is 64-bit codes. A fifth of them are within radius 3 of a stored code; the others are random. They are added
in batches of 1,000, with two threads and `normal` durability. Rivals keep everything in memory, or in a Redis without
persistence, so they lose everything if they are stopped.
"""
ROWS = (
    ("`add_prints` from empty, documents a second", "add_per_second"),
    ("`seen_prints`, documents a second", "seen_per_second"),
    ("slowest batch of `seen_prints`, ms", "seen_slowest_batch_ms"),
    ("`seen_prints` one at a time, a second", "seen_one_by_one_per_second"),
    ("`search_rows` as grown, queries a second", "search_rows_per_second_as_grown"),
    ("`search_rows` just opened, queries a second", "search_rows_per_second"),
    ("`search_prints` with ids, queries a second", "search_ids_per_second"),
    ("opening, seconds", "open_seconds"),
    ("opening with the cache lost, seconds", "open_seconds_without_cache"),
    ("memory after opening, bytes a document", "resident_bytes_per_document_opened"),
    ("tables as grown, bytes a document", "table_bytes_per_document"),
    ("cache files, bytes a document", "cache_bytes_per_document"),
    ("database and its log, bytes a document", "database_bytes_per_document"),
)


def where(result: Json) -> str:
    machine = result["machine"]
    return (
        f"Measured {result['made'][:10]} at commit `{result['commit']}` on {machine['cpu']} "
        f"({machine['cores']} cores, load {machine['load']} at the start), Python {machine['python']}.\n"
    )


def shown(value: Any) -> str:
    return "" if value is None else f"{value:,}"


def library(result: Json) -> str:
    """A column for each size."""
    cases = result["cases"]
    ours = [case for case in cases if case["engine"] == "neardup.Index"]
    bare = {case["stored"]: case for case in cases if case["engine"].endswith("Compact")}
    lines = [
        "## Library\n",
        where(result),
        "| | " + " | ".join(f"{case['stored'] / 1e6:g}M documents" for case in ours) + " |",
        "|---|" + "---:|" * len(ours),
    ]
    for title, name in ROWS:
        lines.append(f"| {title} | " + " | ".join(shown(case.get(name)) for case in ours) + " |")
    yardstick = [bare[case["stored"]]["search_rows_per_second"] for case in ours]
    lines.append("| the bare Hamming search, queries a second | " + " | ".join(map(shown, yardstick)) + " |")
    for title, name in (
        ("as grown", "search_rows_per_second_as_grown"),
        ("opened", "search_rows_per_second"),
    ):
        ratios = [f"{best / case[name]:.2f}x" for best, case in zip(yardstick, ours, strict=True)]
        lines.append(f"| the bare search over `search_rows` {title} | " + " | ".join(ratios) + " |")
    lines += [
        "",
        "| rivals | documents | add, a second | look up and add, a second |",
        "|---|---:|---:|---:|",
    ]
    for case in cases:
        if not case["engine"].startswith("neardup") and "not_run" not in case:
            rates = f"{shown(case['add_per_second'])} | {shown(case['seen_per_second'])}"
            lines.append(f"| {case['engine']} | {shown(case['stored'])} | {rates} |")
    return "\n".join(lines) + "\n"


def service(result: Json) -> str:
    """Requests over loopback, the client on the same cores."""
    codes, texts = result["codes"], [result[name] for name in ("texts", "texts_stored") if name in result]
    lines = [
        "## Service\n",
        where(result),
        f"{codes['stored']:,} documents; the client runs on the same two cores; bulk requests come over "
        f"{codes['bulk'].get('connections', 2)} connections.\n",
        "| requests | a second | p50, ms | p99, ms | server's processor time, µs each |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in ("seen", "search"):
        case = codes[name]
        figures = (case["per_second"], case["p50_ms"], case["p99_ms"], case["server_cpu_us"])
        lines.append(
            f"| `{name}` of one code, {case['connections']} connections | "
            + " | ".join(map(shown, figures))
            + " |"
        )
    case = codes["bulk"]
    lines.append(
        f"| bulk, {case['batch']:,} codes in a request, documents | {shown(case['per_second'])} | | | "
        f"{shown(case['server_cpu_us'])} |"
    )
    for case in texts:
        kept = "texts kept" if case.get("store") == "text" else "fingerprints kept"
        lines.append(
            f"| bulk, pages of 800 words, {kept} | {shown(case['per_second'])} | | | {shown(case['server_cpu_us'])} |"
        )
    lines.append("")
    for case in texts:
        kept = "kept" if case.get("store") == "text" else "not kept"
        two = case.get("share_of_two_threads")
        more = "" if two is None else f", {two:.0%} of {case['native_per_second_two_threads']:,} on two"
        lines.append(
            f"- Pages whose texts are {kept} are added at {case['share']:.0%} of the rate at which one core alone can "
            f"fingerprint them ({case['native_per_second']:,} a second){more}."
        )
    lines.append(f"- {codes['memory_mb']:,} MB of memory; ready {codes['start_seconds']} s after its start.")
    return "\n".join(lines) + "\n"


def page() -> str:
    read = [
        json.loads((HERE / "results" / name).read_text("utf-8")) for name in ("index.json", "service.json")
    ]
    return "\n".join([INTRODUCTION, library(read[0]), service(read[1])])


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
