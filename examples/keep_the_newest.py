"""Keep the newest version of each document: a score is any number, such as a date."""

from __future__ import annotations

import neardup as nd

TEXT = "The ferry leaves the north pier at eight and returns at noon, except on public holidays and in bad weather."
VERSIONS = [
    nd.Document("v1", TEXT, {"date": 20230105}),
    nd.Document("v3", TEXT.replace("eight", "Eight"), {"date": 20240212}),
    nd.Document("v2", TEXT.replace(",", ""), {"date": 20231130}),
]


def main() -> None:
    for keep in (nd.Keep("longest"), nd.Keep("first"), nd.Keep("last"), nd.Keep("score", score="date")):
        result = nd.dedup(VERSIONS, keep=keep)
        print(f"{keep.by:8} keeps {', '.join(result.ids[row] for row in result.kept)}")


if __name__ == "__main__":
    main()
