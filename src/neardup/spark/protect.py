"""Guards on Spark: the pairs that no guard holds. One shuffle brings the texts of similar pairs together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.clusters.protect import Guard, held_reasons
from neardup.compare.changes import changes_of

__all__ = ["unheld"]

PAIRS = "left bigint, right bigint, similarity double"


def unheld(near: DataFrame, texts: DataFrame, ranks: DataFrame, guards: tuple[Guard, ...]) -> DataFrame:
    """The pairs (left, right, similarity) that no guard holds; `texts` (row, text) are those of all documents in pairs,
    `ranks` (row, rank) say which document of a pair would be removed."""
    compared = near
    for side in ("left", "right"):
        compared = compared.join(texts.toDF(side, f"{side}_text"), side).join(
            ranks.toDF(side, f"{side}_rank"), side
        )
    compared = compared.select(
        "left", "right", "similarity", "left_text", "right_text",
        (F.col("left_rank") <= F.col("right_rank")).alias("right_goes"),
    )  # fmt: skip

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            count = batch.num_rows
            columns = (batch.column(name).to_pylist() for name in ("left_text", "right_text"))
            both = [text for column in columns for text in column]
            places = np.arange(count, dtype=np.int64)
            dropped = np.array(batch.column("right_goes").to_pylist(), np.bool_)
            held = held_reasons(changes_of(both, places, places + count), guards, dropped)
            yield batch.select(["left", "right", "similarity"]).filter(pa.array(held == 0))

    return compared.mapInArrow(work, PAIRS)
