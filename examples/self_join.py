"""All pairs of a set within a radius, as a stream; equal codes are given as groups."""

from __future__ import annotations

import gzip
import json

import numpy as np

import neardup as nd
from neardup import sample
from neardup.search.codes import to_codes


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    codes = nd.fingerprint(texts, nd.Words(weights=nd.Idf.fit(texts)), nd.Simhash(64))
    join = nd.search.Join(radius=6)
    pairs = join.within(codes, threads=2)
    found = sum(len(left) for left, _, _ in pairs)  # batches of columns; nothing else is held
    print(f"{found} pairs of different codes, {len(pairs.groups)} groups of equal ones")
    labels = join.labels(codes)
    sizes = np.unique(labels, return_counts=True)[1]
    print(f"single-link: {(sizes > 1).sum()} components, the largest of {sizes.max()} pages")

    # A hundred thousand equal codes, as empty pages or error pages give, among a million others.
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, 1_000_000, dtype=np.uint64)
    words[:100_000] = 12345
    words[500_000:500_100] = words[900_000:900_100] ^ np.uint64(0b101)
    many = nd.search.Join(radius=3).within(to_codes(words), threads=2)
    found = sum(len(left) for left, _, _ in many)
    print(
        f"1,000,000 codes: {found} pairs, and a group of {np.diff(many.groups.offsets).max():,} equal codes"
    )


if __name__ == "__main__":
    main()
