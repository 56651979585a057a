"""`neardup spark`: the pipeline on Apache Spark."""

from __future__ import annotations

import json
from typing import Any

import click

from neardup.cli.options import (
    allow_mass_removal_option,
    column_options,
    config_options,
    json_option,
    quiet_option,
    reject_options,
)
from neardup.cli.progress import progress_shown
from neardup.cli.scan import show_summary
from neardup.cli.settings import config_of
from neardup.values.wording import counted

__all__ = ["spark"]

_SESSION = (
    click.option(
        "--master",
        help="Spark master, such as local[8] or spark://host:7077; by default that of spark-submit.",
    ),
    click.option(
        "--conf", "conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark's; repeatable."
    ),
    quiet_option,
    json_option(),
)


def _session_options(command: Any) -> Any:
    for option in reversed(_SESSION):
        command = option(command)
    return command


@click.group()
def spark() -> None:
    """Find and remove duplicates over a cluster, with the answers of `neardup scan` and `apply`."""


@spark.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option("--out", "-o", required=True, help="The findings folder, on this machine.")
@click.option(
    "--work",
    help="A folder for the stages that all machines see, removed at the end.  [default: in OUT, in local mode]",
)
@click.option(
    "--partitions",
    type=click.IntRange(1),
    help="Number of parts of a shuffle.  [default: by the data's size]",
)
@click.option("--against", multiple=True, help="A corpus to compare with; it is never changed. Repeatable.")
@click.option("--overwrite", is_flag=True, help="Replace the findings, or the stopped run, that are there.")
@column_options
@config_options
@reject_options
@_session_options
def scan(inputs: tuple[str, ...], out: str, **given: Any) -> None:
    """Find the duplicates in INPUTS: files, folders or globs on any Hadoop filesystem. Stopped and run again, it
    continues after the last complete stage. The findings are those of `neardup scan`: about 100 bytes a document, and
    the texts of duplicates."""
    config = config_of(given)
    from neardup.findings.summary import summarize
    from neardup.spark import scan as run
    from neardup.spark import start

    found = run(
        list(inputs),
        out,
        config,
        work=given["work"],
        spark=start(given["master"], settings=_settings(given)),
        text=given["text"],
        id=given["id_"],
        format=given["format_"],
        against=given["against"],
        strict=given["strict"],
        allow_rejects=given["allow_rejects"],
        partitions=given["partitions"],
        overwrite=given["overwrite"],
        progress=progress_shown(given["quiet"]),
    )
    summary = summarize(found)
    if given["as_json"]:
        click.echo(json.dumps(summary.to_json() | {"findings": out}, ensure_ascii=False))
        return
    show_summary(summary.lines())
    click.echo(f"\nThe findings are in {out}. Next: neardup clusters {out}, or, where the data is,")
    click.echo(f"  neardup spark apply {out} --out FOLDER")


@spark.command()
@click.argument("findings")
@click.option("--out", "-o", required=True, help="A new folder, which gets a file for each input.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Threshold to use instead of the scan's.")
@click.option(
    "--write",
    type=click.Choice(["kept", "dropped"]),
    default="kept",
    show_default=True,
    help="What to write.",
)
@allow_mass_removal_option
@_session_options
def apply(findings: str, out: str, **given: Any) -> None:
    """Write the documents that are kept, for each input of a scan on Spark, to any Hadoop filesystem. The inputs are
    read again and never changed; the folder appears when it is whole."""
    from neardup.spark import apply as do
    from neardup.spark import start

    done = do(
        findings,
        out,
        spark=start(given["master"], settings=_settings(given)),
        threshold=given["threshold"],
        write=given["write"],
        allow_mass_removal=given["allow_mass_removal"],
    )
    if given["as_json"]:
        answer = {"findings": findings, "out": out, "written": done.written, "documents": done.documents}
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    click.echo(f"{done.written:,} of {counted(done.documents, 'document')} written to {out}")


def _settings(given: dict[str, Any]) -> dict[str, str]:
    made = {"spark.ui.showConsoleProgress": "false"}
    for item in given["conf"]:
        key, sign, value = item.partition("=")
        if not sign:
            raise click.BadParameter(f"{item!r} is not KEY=VALUE", param_hint="--conf")
        made[key] = value
    return made
