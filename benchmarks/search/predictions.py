"""How close the planner's predictions come: python -m benchmarks.search.predictions [--sizes 1e6 1e7]"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.search import data
from benchmarks.search.ours import ours, predicted

from neardup.search.planner import measure
from neardup.search.planner.machine import best_seconds

RADIUS = 3
BOUND = 1.5
ENGINES = ("fast", "compact", "bphs-4", "bphs-10", "psm")


def compare(size: int, asked: int = 300_000) -> list[dict[str, Any]]:
    """Predicted and measured queries a second, build seconds and bytes, of each engine at one size."""
    machine = measure()
    work = data.make(size, asked, RADIUS, seed=7)
    results = []
    for name in ENGINES:
        seconds = best_seconds(partial(ours(RADIUS)[name], work.codes, 1), repeats=1)
        engine = ours(RADIUS)[name](work.codes, 1)
        seconds = getattr(engine, "build_seconds", seconds)
        guess = predicted(machine, engine, name, size)
        row: dict[str, Any] = {"engine": name, "stored": size}
        for mode, cost in (("all", guess.all), ("first", guess.first)):
            search = partial(engine.search, work.queries, work.margins, first=mode == "first", threads=1)
            search()
            row[mode] = [1 / cost, asked / best_seconds(search)]
        row["build_seconds"] = [guess.build, seconds]
        row["bytes"] = [guess.bytes, engine.bytes]
        pairs = {key: both for key, both in row.items() if isinstance(both, list)}
        row["factor"] = {key: max(a / b, b / a) for key, (a, b) in pairs.items()}
        results.append(row)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search.predictions", description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 1e7])
    default = Path(__file__).parents[1] / "results" / "predictions.json"
    parser.add_argument("--out", type=Path, default=default)
    args = parser.parse_args()
    results = [row for size in args.sizes for row in compare(int(size))]
    for row in results:
        factors = "  ".join(f"{k} {v:.2f}" for k, v in row["factor"].items())
        print(f"{row['engine']:10} {row['stored']:>11,}  {factors}")
    worst = max(row["factor"]["all"] for row in results)
    print(f"worst factor for queries a second: {worst:.2f} (bound {BOUND})")
    args.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
