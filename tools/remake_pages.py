"""`python -m tools.remake_pages`: make every page of figures again from the kept results, without measuring anything.

Run it after a benchmark has written a new results file, or after the text of a generator has changed. Each generator
writes its page, or its part of a page between two marks; then the numbers that other pages quote are written again.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from tools import quoted_numbers

__all__ = ["GENERATORS", "main"]

ROOT = Path(__file__).parents[1]
RESULTS = "benchmarks/results"

# The module and its arguments that make a page and measure nothing. Several write to one page: they run in this order.
GENERATORS = (
    ("benchmarks.table",),
    ("benchmarks.search.table",),
    ("benchmarks.index_table",),
    ("benchmarks.pipeline.table",),
    ("benchmarks.shared", "--from", f"{RESULTS}/shared.json", "--table", "docs/inside/benchmarks-shared.md"),
    ("benchmarks.spark.table",),
    ("benchmarks.spark.same", "--table"),
    ("benchmarks.scale",),
    ("benchmarks.recall", "--page"),
    ("benchmarks.guards", "--page"),
    ("benchmarks.calibration", "--page"),
    ("benchmarks.quality.removals", "--page"),
    ("benchmarks.lanes", "--page"),
    ("benchmarks.quality", "--page"),
    ("benchmarks.presets", "--page"),
    ("benchmarks.short", "--page"),
    ("benchmarks.schemes", "--page"),
    ("benchmarks.hostile", "--page"),
    ("benchmarks.task_tables",),
    ("papers", "--page"),
)


def main() -> int:
    """All generators, then the quoted numbers."""
    for name, *arguments in GENERATORS:
        sys.argv = [name, *arguments]
        sys.modules.pop(name, None)  # another generator may have imported it
        try:
            runpy.run_module(name, run_name="__main__", alter_sys=False)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise SystemExit(f"{name} failed: {end.code}") from end
    return quoted_numbers.main([])


if __name__ == "__main__":
    sys.exit(main())
