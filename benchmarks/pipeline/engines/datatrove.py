"""datatrove: its stages of signatures, buckets and clusters, a process for each thread; the filter is left out."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.pipeline.rows import Rows, main
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader

BANDS, BAND_ROWS = 16, 8


def find(corpus: Path, threads: int) -> Rows:
    config = MinhashConfig(n_grams=5, num_buckets=BANDS, hashes_per_bucket=BAND_ROWS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starts = split(corpus, folder / "in", threads)

        def stage(number: int, tasks: int, *steps: object) -> None:
            LocalPipelineExecutor(
                pipeline=list(steps),
                tasks=tasks,
                workers=min(tasks, threads),
                logging_dir=f"{folder}/logs{number}",
            ).run()

        reader = JsonlReader(f"{folder}/in", glob_pattern="*.jsonl")
        stage(
            1,
            threads,
            reader,
            MinhashDedupSignature(output_folder=f"{folder}/1", config=config, language="eng_Latn"),
        )
        stage(
            2,
            BANDS,
            MinhashDedupBuckets(
                input_folder=f"{folder}/1",
                output_folder=f"{folder}/2",
                config=config,
                only_dedup_in_index=False,
            ),
        )
        stage(
            3,
            1,
            MinhashDedupCluster(
                input_folder=f"{folder}/2", output_folder=f"{folder}/3", config=config, save_cluster_id=True
            ),
        )
        labels = np.arange(starts[-1])
        for part, start in enumerate(starts[:-1]):
            file = folder / "3" / f"{part:06d}.clusters"
            if file.exists():
                found = np.fromfile(file, "<u4").reshape(-1, 2)
                labels[start + found[:, 0]] = starts[-1] + found[:, 1]
        return labels


def split(corpus: Path, folder: Path, parts: int) -> list[int]:
    """One file for each process, since whole files are what its readers share out; their first rows, and the end."""
    folder.mkdir()
    lines = corpus.read_bytes().splitlines(keepends=True)
    starts = [len(lines) * part // parts for part in range(parts + 1)]
    for part in range(parts):
        (folder / f"{part:03d}.jsonl").write_bytes(b"".join(lines[starts[part] : starts[part + 1]]))
    return starts


if __name__ == "__main__":
    main(find)
