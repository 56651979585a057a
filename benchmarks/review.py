"""How quickly the review page answers on findings with a million pairs in a hundred thousand clusters.

python benchmarks/review.py [--pairs 1000000] [--clusters 100000]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "review"))

from made import make_findings

from neardup.pages.review import Review
from neardup.pages.review.cluster_list import Wanted, cluster_of, list_clusters
from neardup.pages.review.figures import figures_of


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--clusters", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        findings = make_findings(Path(folder) / "made", given.clusters, given.pairs)
        made = findings.cut(0.8)
        print(
            f"{len(findings):,} documents, {len(findings.pairs):,} pairs, {len(made.clusters.sizes()[0]):,} clusters"
        )

        def timed(name: str, work):
            start = time.perf_counter()
            answer = work()
            print(f"{name:<44} {1000 * (time.perf_counter() - start):8.0f} ms")
            return answer

        review = timed("open", lambda: Review(findings))
        timed("overview", review.overview)
        view = timed("the first threshold: cut", lambda: review.view(0.8))
        timed("  its figures", lambda: figures_of(findings, view.cut, 0.8, 0))
        timed("another threshold: cut and figures", lambda: review.figures(0.85))
        timed("the same again, as the slider moves back", lambda: review.figures(0.85))
        timed("clusters: the table with risks", lambda: view.table)
        page = timed("clusters: a page", lambda: list_clusters(view, Wanted()))
        timed(
            "clusters: another order and page",
            lambda: list_clusters(view, Wanted(order="size", offset=90_000)),
        )
        timed("clusters: search", lambda: list_clusters(view, Wanted(search="document-77")))
        timed("one cluster", lambda: cluster_of(review, view, page["clusters"][0]["label"]))
        left, right = view.table.rows(0)[:2].tolist()
        timed("a decision, on disk", lambda: review.decide("reject", left, right))
        timed("the figures with it", lambda: review.figures(0.8))
        review.start()
        start = time.perf_counter()
        while len(review.ready()) < len(review.steps):
            time.sleep(0.1)
        print(f"{'all steps of the slider, in the background':<44} {time.perf_counter() - start:8.1f} s")
        review.close()


if __name__ == "__main__":
    main()
