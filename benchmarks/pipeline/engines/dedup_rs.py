"""dedup-rs: its sketches, tables and clusters, all native, given batches of strings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.pipeline.rows import Rows, batches, main
from dedup_rs import EmbedFunc


def find(corpus: Path, threads: int) -> Rows:
    made = EmbedFunc.from_b_r(16, 8, 5, 128, "text", "id", "uint32", 1)
    rows = 0
    for batch in batches(corpus, 20_000):
        made.batch_embed_shard(batch, np.arange(rows, rows + len(batch), dtype=np.uint32))
        rows += len(batch)
    joined = made.cluster()
    return np.array([joined.find(row) for row in range(rows)], np.int64)


if __name__ == "__main__":
    main(find)
