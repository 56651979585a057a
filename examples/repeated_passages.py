"""List the lines that occur most often in a corpus, and what cutting their repeats would save."""

from __future__ import annotations

import neardup as nd
from neardup import sample


def main() -> None:
    found = nd.passages.Lines().find(sample.path())
    print(f"{found.documents} documents, {len(found.top)} of the repeated lines listed")
    for line in found.top[:3]:
        print(f"{line.count:4} times: {line.text.strip()}")


if __name__ == "__main__":
    main()
