"""Find the test documents that occur in the training data, and drop those from the training data."""

from __future__ import annotations

import neardup as nd
from neardup import sample


def main() -> None:
    pages = list(nd.read(sample.path()).documents())
    train, test = pages[:200], pages[200:]
    # Test documents come first and Keep("first") keeps the first, so only training documents are dropped for them.
    result = nd.dedup([*test, *train], keep=nd.Keep("first"))
    found = [drop for drop in result.dropped if drop.row >= len(test) > drop.keeper]
    print(f"{len(found)} of {len(train)} training documents are near-duplicates of a test document")
    worst = max(found, key=lambda drop: (drop.similarity, -drop.row))
    print(f"{result.ids[worst.row]} is {worst.similarity:.2f} similar to {result.ids[worst.keeper]}")
    clean = [page for row, page in enumerate(train, len(test)) if row not in {drop.row for drop in found}]
    print(f"{len(clean)} training documents are left")


if __name__ == "__main__":
    main()
