"""How close the planner's predictions come: python -m benchmarks.search.predictions [--sizes 1e6 3e7] [--radii 3 2 5]

The model was fitted on radius 3 and up to ten million codes. Other radii are measured at the last size.
"""

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

FITTED = 3  # the radius that the model was fitted on
BOUND = 1.5
ENGINES = ("fast", "compact", "bphs-4", "bphs-10", "psm")
ANY_RADIUS = ("fast", "compact", "psm")


def compare(size: int, radius: int = FITTED, asked: int = 300_000) -> list[dict[str, Any]]:
    """Predicted and measured queries a second, build seconds and bytes, of each engine at one size and radius."""
    machine = measure()
    work = data.make(size, asked, radius, seed=7)
    results = []
    for name in ENGINES if radius == FITTED else ANY_RADIUS:
        seconds = best_seconds(partial(ours(radius)[name], work.codes, 1), repeats=1)
        engine = ours(radius)[name](work.codes, 1)
        seconds = getattr(engine, "build_seconds", seconds)
        guess = predicted(machine, engine, name, size)
        row: dict[str, Any] = {"engine": name, "stored": size, "radius": radius}
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
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search.predictions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 1e7, 3e7])
    parser.add_argument("--radii", type=int, nargs="+", default=[FITTED, 2, 5])
    default = Path(__file__).parents[1] / "results" / "predictions.json"
    parser.add_argument("--out", type=Path, default=default)
    args = parser.parse_args()
    cases = [(int(size), args.radii[0]) for size in args.sizes]
    cases += [(int(args.sizes[-1]), radius) for radius in args.radii[1:]]
    results = [row for size, radius in cases for row in compare(size, radius)]
    for row in results:
        factors = "  ".join(f"{k} {v:.2f}" for k, v in row["factor"].items())
        print(f"{row['engine']:10} {row['stored']:>11,}  radius {row['radius']}  {factors}")
    worst = max(row["factor"]["all"] for row in results)
    print(f"worst factor for queries a second: {worst:.2f} (bound {BOUND})")
    args.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
