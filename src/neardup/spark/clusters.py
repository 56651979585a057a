"""Clusters by the local pipeline's rule: in rounds over DataFrames while there are many pairs, and natively once the
rest fits into the driver's memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.clusters.clusters import cluster
from neardup.clusters.selection import select
from neardup.compare.verify import Pairs
from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.spark.storage import as_frame

__all__ = [
    "DECIDED",
    "decided_here",
    "keepers_in_rounds",
    "labels_in_rounds",
    "native_keepers",
    "native_labels",
]

DECIDED = "row bigint, first bigint, keeper bigint, similarity double, kept boolean, cluster bigint"
Save = Callable[[str, DataFrame], DataFrame]


def decided_here(
    documents: DataFrame, pairs: DataFrame, config: Config, threshold: float, reference: int = 0
) -> pa.Table:
    """The decision on every document that has a pair or the same words as another, made on the driver.

    `documents` has the columns row, first, pref, by and source; `pairs` (left, right, similarity) are between first
    rows. Rows below `reference` are kept.
    """
    if config.keep.by_language:
        raise ConfigError(
            "to keep documents of each language, findings are needed: use neardup.spark.scan, then apply"
        )
    columns = documents.toArrow().combine_chunks()
    ties = pairs.toArrow().combine_chunks()
    row = columns.column("row").to_numpy()
    order = np.argsort(row)
    row = row[order]
    first = np.searchsorted(row, columns.column("first").to_numpy()[order])
    by, pref = columns.column("by").to_numpy()[order], columns.column("pref").to_numpy()[order]
    rank = np.empty(len(row), np.int64)
    rank[np.lexsort((row, by, pref))] = np.arange(len(row))
    names = columns.column("source").take(pa.array(order)).to_pylist()
    sources = np.unique(np.array(names, str), return_inverse=True)[1].astype(np.int32)
    local = Pairs.of(
        np.searchsorted(row, ties.column("left").to_numpy()),
        np.searchsorted(row, ties.column("right").to_numpy()),
        ties.column("similarity").to_numpy(),
    )
    made = select(
        local,
        first,
        rank,
        config.keep,
        threshold=threshold,
        sources=sources,
        method=config.clusters,
        reference=int(np.searchsorted(row, reference)),
    )
    clusters = made.clusters
    return pa.table(
        {
            "row": row,
            "first": row[first],
            "keeper": row[clusters.keeper],
            "similarity": clusters.similarity,
            "kept": made.kept,
            "cluster": row[clusters.labels],
        }
    )


def keepers_in_rounds(
    ties: DataFrame, finish: int, save: Save, rounds: int, native: Callable[[DataFrame], DataFrame]
) -> tuple[DataFrame, int]:
    """Each member with its keeper (columns row, keeper, similarity), and the number of rounds.

    `ties` has the columns better, worse, rank (of the better one) and similarity. In each round a row that is the worse
    one of no open tie becomes a keeper, and the rows tied to a keeper become its members. Ties between undecided rows
    remain open. When few are open, `native` decides them at once: it gives the rows of these ties that are keepers.
    """
    keepers = ties.select(F.col("better").alias("row")).distinct().join(
        ties.select(F.col("worse").alias("row")).distinct(), "row", "left_anti"
    )  # fmt: skip
    keepers = save("keepers-0", keepers)
    found, open_, number = [keepers], save("open-0", _still_open(ties, keepers)), 0
    left = open_.count()
    while left > finish:
        number += 1
        if number > rounds:
            raise DataError(
                f"after {rounds} rounds {left:,} pairs are still undecided: they form very long chains. Raise finish= "
                f"to {left:,} so that the driver ends it (about 100 bytes a pair), or rounds="
            )
        fresh = open_.select(F.col("better").alias("row")).distinct().join(
            open_.select(F.col("worse").alias("row")).distinct(), "row", "left_anti"
        )  # fmt: skip
        fresh = save(f"keepers-{number}", fresh)
        found.append(fresh)
        open_ = save(f"open-{number}", _still_open(open_, fresh))
        left = open_.count()
    if left:
        found.append(native(open_))
    every = found[0]
    for part in found[1:]:
        every = every.unionByName(part)
    taking = ties.join(every.withColumnRenamed("row", "better"), "better")
    best = taking.groupBy(F.col("worse").alias("row")).agg(
        F.min(F.struct("rank", F.col("better").alias("keeper"), "similarity")).alias("best")
    )
    return best.select("row", "best.keeper", "best.similarity"), number


def _still_open(ties: DataFrame, keepers: DataFrame) -> DataFrame:
    """The ties between rows that are still undecided when these rows are keepers."""
    taken = ties.join(keepers.withColumnRenamed("row", "better"), "better").select("worse").distinct()
    rest = ties.join(keepers.withColumnRenamed("row", "better"), "better", "left_anti")
    rest = rest.join(taken, "worse", "left_anti")
    return rest.join(taken.withColumnRenamed("worse", "better"), "better", "left_anti").select(*ties.columns)


def labels_in_rounds(
    ties: DataFrame, finish: int, save: Save, rounds: int, native: Callable[[DataFrame], DataFrame]
) -> tuple[DataFrame, int]:
    """The connected components of ties (left, right): columns row and label, the smallest row of its component. Large
    star and small star by turns, until nothing changes; when ties are few, `native` computes the labels."""
    edges, number, before = ties.select("left", "right").distinct(), 0, None
    while True:
        count, mark = _mark(edges)
        if (count, mark) == before:
            members = edges.select(F.col("right").alias("row"), F.col("left").alias("label"))
            heads = edges.select(F.col("left").alias("row"), F.col("left").alias("label"))
            return members.unionByName(heads).distinct(), number
        if count <= finish:
            return native(edges), number
        number += 1
        if number > rounds:
            raise DataError(
                f"after {rounds} rounds {count:,} ties still change: raise finish= to {count:,}, or rounds="
            )
        before = (count, mark)
        edges = save(f"stars-{number}", _small_star(_large_star(edges)))


def _mark(edges: DataFrame) -> tuple[int, int]:
    found = edges.agg(F.count("*"), F.bit_xor(F.xxhash64("left", "right"))).collect()[0]
    return int(found[0]), int(found[1] or 0)


def _large_star(edges: DataFrame) -> DataFrame:
    """Ties the larger neighbours of every row to the smallest of its neighbours and itself."""
    both = edges.select(F.col("left").alias("u"), F.col("right").alias("v")).unionByName(
        edges.select(F.col("right").alias("u"), F.col("left").alias("v"))
    )
    least = both.groupBy("u").agg(F.least(F.min("v"), F.col("u")).alias("m"))
    tied = both.join(least, "u").where(F.col("v") > F.col("u"))
    return tied.select(F.col("m").alias("left"), F.col("v").alias("right")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Ties the smaller neighbours of every row, and the row itself, to the smallest of them."""
    least = edges.groupBy(F.col("right").alias("u")).agg(F.min("left").alias("m"))
    tied = edges.join(least, edges["right"] == least["u"])
    both = tied.select(F.col("m").alias("left"), F.col("left").alias("right")).unionByName(
        tied.select(F.col("m").alias("left"), F.col("u").alias("right"))
    )
    return both.where(F.col("left") < F.col("right")).distinct()


def native_keepers(ties: DataFrame) -> DataFrame:
    """The keepers among the rows of ties, decided on the driver: the last step of `keepers_in_rounds`."""
    table = ties.select(
        "better", "worse", "rank.pref", "rank.by", F.col("worse_rank.pref").alias("worse_pref"),
        F.col("worse_rank.by").alias("worse_by"), F.col("rank.row").alias("best"),
        F.col("worse_rank.row").alias("worse_best"),
    ).toArrow()  # fmt: skip
    column = {name: table.column(name).to_numpy() for name in table.column_names}
    row = np.concatenate([column["better"], column["worse"]])
    row, place = np.unique(row, return_index=True)
    pref, by, best = (
        np.concatenate([column[a], column[b]])[place]
        for a, b in (("pref", "worse_pref"), ("by", "worse_by"), ("best", "worse_best"))
    )
    rank = np.empty(len(row), np.int64)
    rank[np.lexsort((best, by, pref))] = np.arange(len(row))
    left, right = np.searchsorted(row, column["better"]), np.searchsorted(row, column["worse"])
    found = cluster(Pairs.of(left, right, np.ones(len(left))), len(row), rank)
    return as_frame(ties.sparkSession, pa.table({"row": row[found.kept]}), "row bigint")


def native_labels(edges: DataFrame) -> DataFrame:
    """The label of each row, computed on the driver: the last step of `labels_in_rounds`."""
    table = edges.toArrow()
    left, right = table.column("left").to_numpy(), table.column("right").to_numpy()
    row = np.unique(np.concatenate([left, right]))
    pairs = Pairs.of(np.searchsorted(row, left), np.searchsorted(row, right), np.ones(len(left)))
    found = cluster(pairs, len(row), method="components")
    return as_frame(
        edges.sparkSession, pa.table({"row": row, "label": row[found.labels]}), "row bigint, label bigint"
    )
