"""Simhash with frozen IDF weights: fit once, save, and fingerprint old and new pages in the same way."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import neardup as nd
import neardup.compare.similarity as similarity
from neardup import sample


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    old, new = [p["text"] for p in pages[:250]], [p["text"] for p in pages[250:]]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.idf")
        nd.Idf.fit(old, threads=2).save(path)
        idf = nd.Idf.load(path)  # the same numbers on any machine, named in the scheme
    recipe = nd.Words(weights=idf)
    stored = nd.fingerprint(old, recipe, nd.Simhash(64))
    asked = nd.fingerprint(new, recipe, nd.Simhash(64))
    print(f"scheme: {stored.scheme}")

    weak = abs(stored.margins[0]).argsort()[:4].tolist()
    print(
        f"the weakest bits of {pages[0]['id']}: {weak}, margins {[round(float(m), 3) for m in stored.margins[0][weak]]}"
    )

    hits = nd.search.Scan(radius=10).index(stored).search(asked)
    cosines = similarity.cosine(recipe.extract(new), hits.query, hits.row, other=recipe.extract(old))
    print(f"{len(hits)} hits within 10 bits, {(cosines >= 0.9).sum()} of them at cosine 0.9 or more")
    for query, row, distance, cosine in list(zip(hits.query, hits.row, hits.distance, cosines, strict=True))[
        :4
    ]:
        print(f"  {pages[250 + query]['id']} ~ {pages[row]['id']}: {distance} bits, cosine {cosine:.3f}")
    expected = similarity.expected_distance([0.9, 0.99])
    print(f"cosine 0.9 means {expected[0]:.1f} bits on average, cosine 0.99 {expected[1]:.1f}")


if __name__ == "__main__":
    main()
