"""Who quotes whom? A winnowed sample of shingles finds every passage of 14 words that two texts share."""

from __future__ import annotations

import gzip
import json

import numpy as np

import neardup as nd
import neardup.compare.similarity as similarity
from neardup import sample


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    texts = [page["text"] for page in pages]
    # A long page that quotes 30 words of one page and all of another.
    quoted, whole = 3, 40
    passage = " ".join(texts[quoted].split()[20:50])
    collage = (
        "My notes of the week begin here. " + passage + " So much for that. " + texts[whole] + " The end."
    )

    every = nd.Shingles(5)
    sampled = nd.Shingles(5, select=nd.features.Winnow(10))  # 10 + 5 - 1 words are enough to be found
    kept = sampled.extract([*texts, collage])
    full = every.extract([*texts, collage])
    print(f"{len(full.hashes)} shingles, {len(kept.hashes)} kept: {len(kept.hashes) / len(full.hashes):.0%}")

    rows = np.arange(len(texts))
    last = np.full(len(texts), len(texts))
    estimate = similarity.containment(kept, rows, last)  # how much of each page is in the collage
    exact = similarity.containment(full, rows, last)
    for row in np.argsort(-estimate, kind="stable")[:3]:
        print(f"  {pages[row]['id']}: {estimate[row]:.2f} of it by the sample, {exact[row]:.2f} exactly")
    found = estimate[quoted] > 0
    print(f"the quoted page {pages[quoted]['id']} was {'found' if found else 'missed'}")


if __name__ == "__main__":
    main()
