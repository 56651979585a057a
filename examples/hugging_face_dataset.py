"""Remove near-duplicate rows from a Hugging Face dataset; all its columns are kept."""

from __future__ import annotations

import gzip
import json

import datasets

import neardup as nd
from neardup import sample


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        data = datasets.Dataset.from_list([json.loads(line) for line in file])
    result = nd.dedup(nd.read(data, text="text"), threshold=0.8)
    clean = data.select(result.kept)
    print(f"{data.num_rows} rows, {clean.num_rows} kept, columns {', '.join(clean.column_names)}")


if __name__ == "__main__":
    main()
