"""Keep what is new each day: an index on disk remembers all earlier days."""

from __future__ import annotations

import tempfile
from pathlib import Path

import neardup as nd
from neardup import sample

DAYS = 3


def main() -> None:
    pages = list(nd.read(sample.path()).documents())
    with tempfile.TemporaryDirectory() as folder:
        for day in range(DAYS):
            batch = pages[day::DAYS]
            with nd.Index(
                Path(folder) / "pages.nd", seed=1
            ) as index:  # leave the seed out: it is then secret
                answers = index.seen(batch)
            new = sum(answer.new for answer in answers)
            print(f"day {day + 1}: {len(batch)} pages, {new} new")


if __name__ == "__main__":
    main()
