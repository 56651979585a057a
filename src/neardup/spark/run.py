"""dedup() of a DataFrame and scan() of files: the whole run as one call."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any, Literal, get_args

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.progress import Progress
from neardup.readers.layout import Layout, find_layout, is_html
from neardup.spark.inputs import Files, Frame
from neardup.spark.session import errors_of_workers, start
from neardup.spark.stages import Stages

__all__ = ["Write", "dedup", "frame_stages", "scan"]

Write = Literal["kept", "dropped", "annotated"]
NOTES = ("neardup_keep", "neardup_cluster", "neardup_keeper", "neardup_similarity")


def dedup(
    df: DataFrame,
    config: Config | None = None,
    *,
    id: str,
    text: str = "text",
    run: str | None = None,
    write: Write = "kept",
    **options: Any,
) -> DataFrame:
    """The rows of a DataFrame that stay; or those that go ("dropped"), or all of them with notes ("annotated": whether
    it stays, and the ids of its cluster and keeper with the similarity to it).

    `id` names a column of texts or whole numbers, all different; the first of equals is first in their order. `run` is
    a folder that driver and workers see: stages are kept there, so that the same call goes on where it stopped. Without
    it a temporary folder of this machine is used, for Spark in local mode only. `options` are those of Stages.
    """
    if write not in get_args(Write):
        raise ConfigError(f"write one of {', '.join(get_args(Write))}, not {write!r}")
    stages = frame_stages(df, config, id=id, text=text, run=run, **options)
    name = F.col(f"`{id}`").cast("string")
    if write == "annotated":
        notes = stages.decisions().toDF("neardup_id", *NOTES)
        told = df.sparkSession.read.parquet(_kept(stages, "decisions", notes))
        joined = df.drop(*NOTES).join(told, name == F.col("neardup_id"), "left")
        return joined.drop("neardup_id")
    stages.removals()
    gone = df.sparkSession.read.parquet(f"{stages.folder.path}/removals").select(
        F.col("id").alias("neardup_id")
    )
    count = stages.folder.read_json("removals.json")["documents"]
    gone = F.broadcast(gone) if count <= _BROADCAST else gone
    kind = "left_anti" if write == "kept" else "left_semi"
    return df.join(gone, name == F.col("neardup_id"), kind)


_BROADCAST = 5_000_000  # ids sent to every worker, so that texts need not be shuffled


def _kept(stages: Stages, name: str, rows: DataFrame) -> str:
    stages.folder.stage(name, lambda: rows, lambda made: {"documents": made.count()})
    stages.folder.lease.release()
    return f"{stages.folder.path}/{name}"


def frame_stages(
    df: DataFrame,
    config: Config | None = None,
    *,
    id: str,
    text: str = "text",
    run: str | None = None,
    **options: Any,
) -> Stages:
    """The stages of a DataFrame one by one."""
    config = config or Config()
    layout: Layout = find_layout(df.columns, text, id, "the DataFrame")
    keep = config.keep
    fields = tuple(dict.fromkeys(name for name in (keep.field, keep.score) if name))
    html = is_html(layout) and config.html != "none"
    if run is None:
        if not str(df.sparkSession.sparkContext.master).startswith("local"):
            raise ConfigError("on a cluster name a folder that all machines see: run='hdfs://...'")
        run = tempfile.mkdtemp(prefix="neardup-spark-")
    return Stages(df.sparkSession, Frame(df, text, id, fields, html), config, run, **options)


def scan(
    inputs: str | Sequence[str],
    run: str,
    config: Config | None = None,
    *,
    spark: SparkSession | None = None,
    text: str | None = None,
    id: str | None = None,
    format: str | None = None,
    against: str | Sequence[str] = (),
    progress: Progress | None = None,
    **options: Any,
) -> Stages:
    """Find the duplicates in files (JSONL, Parquet, WARC and what else the local readers take) on any Hadoop
    filesystem: among themselves, and of the corpora in `against`, which stay as they are. All stages are written to the
    folder `run`; nothing else is changed. A run that was stopped goes on when it is called again with the same inputs
    and config. `options` are those of Stages."""
    spark = spark or start()
    config = config or Config()
    named = [inputs] if isinstance(inputs, str) else list(inputs)
    told = progress or Progress()
    told.stage("list")
    with errors_of_workers():
        others = [against] if isinstance(against, str) else list(against)
        source = Files.find(spark, named, config, text=text, id=id, format=format, against=others)
        stages = Stages(spark, source, config, run, progress=told, **options)
    stages.removals()
    return stages
