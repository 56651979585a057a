"""Decide about pairs as the review page does, and write the documents that are kept after that."""

from __future__ import annotations

import tempfile
from pathlib import Path

import neardup as nd
from neardup import sample


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        findings = nd.scan(sample.path(), Path(folder, "found"))
        cut = findings.cut()
        # The clusters with the least similar member come first: these need a person most.
        doubtful = nd.findings.list_clusters(findings, cut, order="borderline", most=1)[0]
        left, right = doubtful.keeper, doubtful.members[-1].id
        print(f"most doubtful: {right} is {doubtful.members[-1].similarity:.2f} similar to {left}")
        before = nd.apply(findings, Path(folder, "before.jsonl")).written
        log = nd.findings.DecisionLog(findings)
        log.add("reject", findings.row_of(left), findings.row_of(right))
        after = nd.apply(findings, Path(folder, "after.jsonl")).written
        print(f"{before} documents are kept, and {after} after the decision to keep both")


if __name__ == "__main__":
    main()
