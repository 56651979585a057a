"""One run over the cluster, whatever its size, that leaves its stages: python -m benchmarks.spark.over_cluster CORPUS
OUT STAGES THREADS. Threshold and floor are those of the other engines."""

from __future__ import annotations

import sys
from pathlib import Path

import neardup as nd
import neardup.spark


def main() -> None:
    corpus, out, folder, threads = sys.argv[1:]
    config = nd.Config.of(threshold=0.8, floor=0.8)
    spark = neardup.spark.start(f"local[{threads}]")
    stages = neardup.spark.file_stages(corpus, folder, config, spark=spark, small=0)
    Path(out).mkdir()
    stages.findings(Path(out), {"text": None, "id": None, "format": None})
    spark.stop()


if __name__ == "__main__":
    main()
