"""Remove near-duplicate rows from a pandas table, and note for each dropped row which row is kept instead."""

from __future__ import annotations

import gzip
import json

import pandas as pd

import neardup as nd
from neardup import sample


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        table = pd.DataFrame([json.loads(line) for line in file])
    result = nd.dedup(table, threshold=0.8)
    kept = table.iloc[result.kept]
    print(f"{len(table)} rows, {len(kept)} kept")

    names = table["id"].to_numpy()
    notes = pd.DataFrame(
        [(names[drop.row], names[drop.keeper], round(drop.similarity, 2)) for drop in result.dropped],
        columns=["dropped", "kept instead", "similarity"],
    )
    print(notes.head(3).to_string(index=False))


if __name__ == "__main__":
    main()
