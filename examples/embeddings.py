"""Near-duplicates among vectors: random planes make codes, near codes are candidates, the cosine verifies."""

from __future__ import annotations

import numpy as np

import neardup as nd

VECTORS, WIDTH, PLANTED = 2000, 384, 100


def main() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(VECTORS, WIDTH)).astype(np.float32)  # the vectors of a model come here
    vectors[1000 : 1000 + PLANTED] = vectors[:PLANTED] + 0.2 * rng.normal(size=(PLANTED, WIDTH))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    planes = rng.normal(size=(WIDTH, 128)).astype(np.float32)
    bits = np.packbits(vectors @ planes >= 0, axis=1, bitorder="little")
    codes = nd.fingerprints.Codes(
        scheme="planes128/v1 seed=1", empty=np.zeros(VECTORS, bool), bits=128, codes=bits.view(np.uint64)
    )
    near = nd.search.Scan(radius=24, bits=128).candidates(codes)
    cosine = np.einsum("ij,ij->i", vectors[near.left], vectors[near.right])
    found = cosine >= 0.95
    clusters = nd.cluster(
        nd.compare.Pairs.of(near.left[found], near.right[found], cosine[found].astype(float)), rows=VECTORS
    )
    kept = int((clusters.keeper == np.arange(VECTORS)).sum())
    print(f"{len(near)} candidates, {int(found.sum())} verified, {kept} of {VECTORS} vectors kept")


if __name__ == "__main__":
    main()
