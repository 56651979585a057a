"""dedup() of a DataFrame and scan() of files: the whole run as one call."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, UnreadableInput
from neardup.findings.apply import NOTES, Write
from neardup.findings.folder import MANIFEST, Findings
from neardup.findings.lock import alone, make_folder
from neardup.findings.scan_steps import WORK
from neardup.progress import Progress
from neardup.readers.account import TOLERATED
from neardup.readers.layout import Layout, find_layout, is_html
from neardup.spark.account import check_account
from neardup.spark.drawn_seed import sampled
from neardup.spark.inputs import Files, FrameInput
from neardup.spark.refused import check_config
from neardup.spark.session import check_session, errors_of_workers, start
from neardup.spark.stages import Stages
from neardup.values.checks import checked

__all__ = ["dedup", "file_stages", "frame_stages", "scan"]

_BROADCAST = 5_000_000  # ids sent to every worker, so that texts need not be shuffled


@checked
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
    """The rows of a DataFrame that are kept; with write="dropped" those that are dropped; with write="annotated" all
    rows with notes: whether it is kept, the ids of its cluster and keeper, and the similarity to the keeper.

    `id` names a column of texts or whole numbers, all different; documents are ordered by it. `run` is a folder that
    driver and workers can read and write. Stages and texts are stored there, so that the same call continues where an
    earlier one stopped. Without `run`, Spark must be in local mode: a temporary folder is used and removed at the end,
    and Spark itself holds the decisions. `options` are those of Stages.
    """
    check_session(df.sparkSession)
    place = run or _temporary(df.sparkSession)
    try:
        stages = frame_stages(df, config, id=id, text=text, run=place, **options)
        stages.decisions()
        dropped = stages.folder.read_json("decisions.json")["dropped"]
        decided = df.sparkSession.read.parquet(f"{stages.folder.path}/decisions")
        decided = decided.toDF("neardup_id", *NOTES)
        if write != "annotated":
            decided = decided.where(f"not {NOTES[0]}").select("neardup_id")
        if run is None:
            decided = decided.localCheckpoint()  # rows are read after the folder is removed
    finally:
        if run is None:
            shutil.rmtree(place, ignore_errors=True)
    same = F.col(f"`{id}`").cast("string") == F.col("neardup_id")
    if write == "annotated":
        return df.drop(*NOTES).join(decided, same, "left").drop("neardup_id")
    decided = F.broadcast(decided) if dropped <= _BROADCAST else decided
    return df.join(decided, same, "left_anti" if write == "kept" else "left_semi")


def _temporary(spark: SparkSession) -> str:
    _check_local(spark, "run='hdfs://...'")
    return tempfile.mkdtemp(prefix="neardup-spark-")


def _check_local(spark: SparkSession, name: str) -> None:
    if not str(spark.sparkContext.master).startswith("local"):
        raise ConfigError(f"on a cluster, name a folder that all machines can reach: {name}")


@checked
def frame_stages(
    df: DataFrame, config: Config | None = None, *, id: str, text: str = "text", run: str, **options: Any
) -> Stages:
    """The stages of a DataFrame one by one, stored in the folder `run`."""
    config = config or Config()
    check_config(config)  # before anything is read
    check_session(df.sparkSession)
    layout: Layout = find_layout(df.columns, text, id, "the DataFrame")
    html = is_html(layout) and config.html != "none"
    source = FrameInput(df, text, id, config.keep.fields, html)
    source, config = sampled(df.sparkSession, source, config)
    return Stages(df.sparkSession, source, config, run, **options)


@checked
def file_stages(
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
    """The stages of files one by one, stored in the folder `run`, which driver and workers can read and write."""
    config = config or Config()
    check_config(config)  # before anything is read
    spark = spark or start()
    check_session(spark)
    named = [inputs] if isinstance(inputs, str) else list(inputs)
    progress = progress or Progress()
    progress.stage("list")
    with errors_of_workers():
        others = [against] if isinstance(against, str) else list(against)
        source = Files.find(spark, named, config, text=text, id=id, format=format, against=others)
        source, config = sampled(spark, source, config)
        return Stages(spark, source, config, run, progress=progress, **options)


@checked
def scan(
    inputs: str | Sequence[str],
    out: str | PathLike[str],
    config: Config | None = None,
    *,
    work: str | None = None,
    spark: SparkSession | None = None,
    text: str | None = None,
    id: str | None = None,
    format: str | None = None,
    against: str | Sequence[str] = (),
    strict: bool = False,
    allow_rejects: float = TOLERATED,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Findings:
    """Find the duplicates in files (JSONL, Parquet, WARC or any other format of the local readers) on any Hadoop
    filesystem: among themselves, and of the corpora in `against`, which are never dropped. The findings are written to
    the folder `out` on the driver's machine, which needs about 250 bytes of memory for each document.

    Stages are stored in the folder `work`, which all machines can reach; in local mode it is by default inside `out`.
    It is removed at the end. The same call with the same inputs and config continues a run that was stopped. If nothing
    could be read, or a larger share of the rows than `allow_rejects` was rejected (with `strict`, any), UnreadableInput
    is raised and the rejected rows are listed in a file beside `out`.
    `options` are those of Stages.
    """
    check_config(config or Config())  # before findings that are there already are replaced
    spark = spark or start()
    check_session(spark)
    folder = Path(out)
    if not folder.parent.is_dir():
        raise DataError(f"{out}: the folder {folder.parent} does not exist; make it first")
    if work is None:
        _check_local(spark, "work='hdfs://...', or --work")
        work = os.path.abspath(folder / WORK)
    made = make_folder(folder)
    try:
        with alone(folder):
            if (folder / MANIFEST).exists():
                if not overwrite:
                    raise ConfigError(
                        f"{out}: holds findings already; name another --out, or add --overwrite"
                    ).with_options("--overwrite")
                (folder / MANIFEST).unlink()
            stages = file_stages(
                inputs, work, config, spark=spark, text=text, id=id, format=format, against=against,
                overwrite=overwrite, progress=progress, **options,
            )  # fmt: skip
            others = [against] if isinstance(against, str) else list(against)
            beside = folder.with_name(f"{folder.name}.rejects.jsonl")
            try:
                with errors_of_workers():
                    check_account(stages.documents, beside, allow_rejects, strict)
            except UnreadableInput:
                stages.folder.lease.release()  # what was read is kept for the same call with more allow_rejects
                raise
            found = stages.findings(folder, {"text": text, "id": id, "format": format}, others)
            stages.folder.remove()
            return found
    except BaseException:
        # A run that failed before its first stage has nothing to resume.
        if made and not (folder / WORK).exists():
            shutil.rmtree(folder, ignore_errors=True)
        raise
