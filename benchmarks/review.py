"""How quickly the review page answers on findings with a million pairs in a hundred thousand clusters.

python -m benchmarks.review [--pairs 1000000] [--clusters 100000] [--keep benchmarks/results/review.json]

Times are CPU seconds of this process, so that other work on the machine does not change them much.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from benchmarks import machine
from support.findings import make_findings

from neardup.pages.review import Review
from neardup.pages.review.cluster_list import cluster_of, list_clusters
from neardup.pages.review.figures import figures_of
from neardup.pages.review.filters import Wanted
from neardup.pages.review.verdict import audit_next, verdict_of


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--clusters", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="Write the figures to this JSON file.")
    given = parser.parse_args()
    milliseconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        findings = make_findings(Path(folder) / "made", given.clusters, given.pairs)
        made = findings.cut(0.8)
        print(
            f"{len(findings):,} documents, {len(findings.pairs):,} pairs, {len(made.clusters.sizes()[0]):,} clusters"
        )

        def timed(name: str, work):
            start = time.process_time()
            answer = work()
            milliseconds[name] = round(1000 * (time.process_time() - start), 1)
            print(f"{name:<44} {milliseconds[name]:8.0f} ms")
            return answer

        review = timed("open", lambda: Review(findings))
        timed("overview", review.overview)
        view = timed("first-threshold", lambda: review.view(0.8))
        timed("figures", lambda: figures_of(findings, view.cut, 0.8, 0))
        timed("new-threshold", lambda: review.figures(0.85))
        timed("same-again", lambda: review.figures(0.85))
        timed("cluster-table", lambda: view.table)
        timed("verdict", lambda: verdict_of(view))
        timed("audit", lambda: audit_next(view))
        page = timed("first-page", lambda: list_clusters(view, Wanted()))
        timed(
            "another-page",
            lambda: list_clusters(view, Wanted(order="size", offset=90_000)),
        )
        timed("search", lambda: list_clusters(view, Wanted(search="document-77")))
        timed("one-cluster", lambda: cluster_of(review, view, page["clusters"][0]["label"]))
        left, right = view.table.rows(0)[:2].tolist()
        timed("decision", lambda: review.decide("reject", left, right))
        timed("figures-with-decision", lambda: review.figures(0.8))
        review.start()
        start = time.process_time()
        while len(review.ready()) < len(review.steps):
            time.sleep(0.1)
        milliseconds["all-steps"] = round(1000 * (time.process_time() - start), 1)
        print(f"{'all-steps':<44} {milliseconds['all-steps']:8.0f} ms")
        sizes = {"documents": len(findings), "pairs": len(findings.pairs), "steps": len(review.steps)}
        sizes["clusters"] = len(made.clusters.sizes()[0])
        review.close()
    if given.keep:
        facts = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe()}
        kept = facts | {"sizes": sizes, "milliseconds": milliseconds}
        given.keep.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
