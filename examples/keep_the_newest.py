"""Keep the newest version of each document, by a date in one of its fields."""

from __future__ import annotations

import neardup as nd

TEXT = "The ferry leaves the north pier at eight and returns at noon, except on public holidays and in bad weather."
VERSIONS = [
    nd.Document("v1", TEXT, {"date": "2023-01-05"}),
    nd.Document("v3", TEXT.replace("eight", "Eight"), {"date": "2024-02-12T08:30:00Z"}),
    nd.Document("v2", TEXT.replace(",", ""), {"date": "2023-11-30"}),
]


def main() -> None:
    for keep in (nd.Keep("longest"), nd.Keep("first"), nd.Keep("last"), nd.Keep("newest", score="date")):
        result = nd.dedup(VERSIONS, keep=keep)
        print(f"{keep.by:8} keeps {', '.join(result.ids[row] for row in result.kept)}")


if __name__ == "__main__":
    main()
