"""A scan with little memory gives the same result as one with much."""

from __future__ import annotations

import tempfile
from pathlib import Path

import neardup as nd
from neardup import sample


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = []
        for memory in ("64MB", "2GB"):
            findings = nd.scan(sample.path(), Path(folder, memory), memory=memory, threads=2)
            kept.append(findings.cut().kept.tolist())
            print(f"{memory}: {sum(kept[-1])} of {len(findings)} documents kept")
        print("the same result:", kept[0] == kept[1])


if __name__ == "__main__":
    main()
