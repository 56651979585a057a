"""From keepers of distinct texts to a decision on every document."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

__all__ = ["decided_rows"]


def decided_rows(taken: DataFrame, involved: DataFrame, ranks: DataFrame, many: int) -> DataFrame:
    """DECIDED. A unit is the first row of a distinct text. `taken` has the keeper of each unit that is a duplicate,
    with their similarity; `involved` are all documents (row, first, pref, by); `ranks` are those of the units. The best
    document of a keeper unit is kept."""
    units = involved.select("first").distinct()
    units = units.join(taken.withColumnRenamed("row", "first"), "first", "left")
    units = units.withColumn("taker", F.coalesce("keeper", "first")).withColumn(
        "similarity", F.when(F.col("keeper").isNull(), 1.0).otherwise(F.col("similarity"))
    )
    best = ranks.select(F.col("row").alias("taker"), F.col("rank.row").alias("best"))
    units = units.join(best, "taker").select("first", F.col("best").alias("keeper"), "similarity")
    rows = involved.join(units, "first")
    own = F.col("row") == F.col("keeper")
    rows = rows.withColumn("similarity", F.when(own, 1.0).otherwise(F.col("similarity")))
    labels = rows.groupBy("keeper").agg(F.min("row").alias("cluster"))
    rows = rows.join(labels, "keeper")
    kept = own
    if many > 1:
        order = Window.partitionBy("keeper").orderBy((~own).cast("int"), "pref", "by", "row")
        rows = rows.withColumn("turn", F.row_number().over(order))
        kept = F.col("turn") <= many
    return rows.select("row", "first", "keeper", "similarity", kept.alias("kept"), "cluster")
