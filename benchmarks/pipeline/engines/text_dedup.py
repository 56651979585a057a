"""text-dedup: its minhash command, run in this process so that its clusters can be read at the end."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.pipeline.rows import Rows, main
from text_dedup import minhash


def find(corpus: Path, threads: int) -> Rows:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--path", "json", "--data_files", str(corpus), "--split", "train"]
        options += ["--cache_dir", f"{folder}/cache", "--output", f"{folder}/out", "--num_proc", str(threads)]
        options += ["--column", "text", "--ngram", "5", "--min_length", "1", "--hash_func", "xxh3"]
        options += ["--num_perm", "128", "--b", "16", "--r", "8"]
        minhash.main(options, standalone_mode=False)
    with corpus.open("rb") as lines:
        labels = np.arange(sum(1 for _ in lines))
    for row in list(minhash.uf.parent):
        labels[row] = minhash.uf.find(row)
    return labels


if __name__ == "__main__":
    main(find)
