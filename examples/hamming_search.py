"""Search codes within a radius: the exact methods agree, `all` and `first`, and an index that grows."""

from __future__ import annotations

import gzip
import json

import neardup as nd
from neardup import sample
from neardup.search.hamming.live import LiveSearcher

RADIUS = 6


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    texts = [page["text"] for page in pages]
    recipe = nd.Words(weights=nd.Idf.fit(texts))
    codes = nd.fingerprint(texts, recipe, nd.Simhash(64))
    stored, queries = codes.take(slice(0, 240)), codes.take(slice(240, None))

    for method in (
        nd.search.Scan(RADIUS),
        nd.BPHS(RADIUS),
        nd.search.Covering(RADIUS),
        nd.search.Compact(RADIUS),
    ):
        hits = method.index(stored).search(queries)
        print(f"{type(method).__name__:9} {len(hits)} hits")

    index = nd.search.Covering(RADIUS).index(stored)
    first = index.search(queries, mode="first")
    print(f"first: {len(first)} of {len(queries)} queries have a neighbour; one each")
    for query, row, distance in list(zip(first.query, first.row, first.distance, strict=True))[:3]:
        print(f"  {pages[240 + query]['id']} ~ {pages[row]['id']}, {distance} bits: {pages[row]['title']}")

    live = LiveSearcher(nd.search.Compact(RADIUS))
    live.add(stored)
    rows = live.add(queries)  # searchable at once
    print(f"live: {len(live)} rows, the new ones are {rows.start} to {rows.stop - 1}")
    before = len(live.search(queries))
    live.remove(range(240))
    print(f"{before} hits with everything stored, {len(live.search(queries))} once the old rows are removed")


if __name__ == "__main__":
    main()
