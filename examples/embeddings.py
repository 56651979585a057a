"""Near-duplicates among vectors: random planes make codes, near codes are candidates, the cosine verifies."""

from __future__ import annotations

import numpy as np

import neardup as nd

VECTORS, WIDTH, PLANTED = 2000, 384, 100


def main() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(VECTORS, WIDTH)).astype(np.float32)  # the vectors of a model come here
    vectors[1000 : 1000 + PLANTED] = vectors[:PLANTED] + 0.2 * rng.normal(size=(PLANTED, WIDTH))

    config = nd.Config(vectors=nd.Vectors(), verify=nd.Cosine(0.95))
    result = nd.dedup(vectors, config)
    print(
        f"{result.candidates} candidates, {len(result.pairs)} verified, {len(result.kept)} of {VECTORS} vectors kept"
    )


if __name__ == "__main__":
    main()
