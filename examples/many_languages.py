"""Deduplicate texts in several languages and scripts; compare only texts of the same language."""

from __future__ import annotations

import neardup as nd

TEXTS = {
    "ja-1": "東京は日本の首都であり、世界で最も人口の多い都市圏の一つです。",
    "ja-2": "東京は日本の首都であり、世界で最も人口の多い都市圏の一つである。",
    "de-1": "Die Straße zum Hafen ist wegen Bauarbeiten bis zum ersten März gesperrt.",
    "de-2": "DIE STRASSE ZUM HAFEN IST WEGEN BAUARBEITEN BIS ZUM ERSTEN MÄRZ GESPERRT!",
    "ar-1": "القاهرة عاصمة مصر وأكبر مدنها",
}


def main() -> None:
    result = nd.dedup(TEXTS, threshold=0.7, features=nd.Shingles(5))
    for drop in result.dropped:
        print(
            f"{result.ids[drop.row]} is dropped: {drop.similarity:.2f} similar to {result.ids[drop.keeper]}"
        )
    print("kept:", ", ".join(result.ids[row] for row in result.kept))


if __name__ == "__main__":
    main()
