"""Titles have few words: compare runs of characters, or shorter runs of words."""

from __future__ import annotations

import neardup as nd

TITLES = [
    "Blue cotton shirt with long sleeves, size M",
    "Blue cotton shirt with long sleeves, size L",
    "blue cotton shirt, long sleeves",
    "Red wool scarf, handmade",
]


def main() -> None:
    for name, features, threshold in (
        ("5 words", nd.Shingles(5), 0.8),
        ("2 words", nd.Shingles(2), 0.6),
        ("4 characters", nd.Characters(4), 0.6),
    ):
        result = nd.dedup(TITLES, features=features, threshold=threshold)
        print(f"{name:12} {len(result.dropped)} of {len(TITLES)} dropped")


if __name__ == "__main__":
    main()
