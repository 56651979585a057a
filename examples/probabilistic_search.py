"""Probabilistic search by margins: one small table, with the recall measured on your own codes."""

from __future__ import annotations

import gzip
import json

import neardup as nd
from neardup import sample


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    recipe = nd.Words(weights=nd.Idf.fit(texts))
    codes = nd.fingerprint(texts, recipe, nd.Simhash(64))  # margins are kept: the votes behind each bit

    exact = nd.search.Compact(radius=8).index(codes).search(codes)
    index = nd.PSM(radius=8, recall=0.9).index(codes)
    print(index.calibration)
    some = index.search(codes)
    print(f"exact: {len(exact)} hits; PSM: {len(some)}, {len(some) / len(exact):.1%}, all of them right")
    for flips in (0, 4, 16, 64):
        hits = nd.PSM(radius=8, flips=flips).index(codes).search(codes)
        print(f"  {flips:3} flips: {len(hits) / len(exact):.1%}")


if __name__ == "__main__":
    main()
