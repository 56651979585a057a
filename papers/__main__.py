"""Measure the papers again: python -m papers [NAME ...] [--documents N] [--largest D] [--repeats R] [--page]

Without names all experiments run. Results go to papers/results/, plots to docs/inside/papers/, the page to
docs/inside/papers.md.
NEARDUP_DATA names the folder of labelled corpora. `--page` measures nothing: plots and page of the kept results.
"""

from __future__ import annotations

import argparse
import sys
import time

from papers import page
from papers.experiment import Options, load, measure


def main() -> None:
    usual = Options()
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(e.name for e in page.EXPERIMENTS))
    parser.add_argument("--documents", type=int, default=usual.documents, help="generated documents")
    parser.add_argument("--largest", type=int, default=usual.largest, help="log2 of the codes in timing runs")
    parser.add_argument(
        "--repeats", type=int, default=usual.repeats, help="timing runs, of which the best counts"
    )
    parser.add_argument("--page", action="store_true", help="only draw and write what was measured before")
    args = parser.parse_args()
    unknown = set(args.names) - {experiment.name for experiment in page.EXPERIMENTS}
    if unknown:
        parser.error(f"no experiment is called {', '.join(sorted(unknown))}")
    options = Options(args.documents, args.largest, args.repeats)
    start = time.perf_counter()
    for experiment in page.EXPERIMENTS:
        if args.names and experiment.name not in args.names:
            continue
        result = load(experiment.name) if args.page else measure(experiment, options)
        if experiment.draw is not None:
            experiment.draw(result)
        print(f"{time.perf_counter() - start:6.0f} s  {experiment.name}", file=sys.stderr, flush=True)
    page.write()


if __name__ == "__main__":
    main()
