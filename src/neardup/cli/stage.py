"""`neardup stage`: a scan as tasks that any scheduler can run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.inputs import reading_of
from neardup.cli.options import (
    allow_mass_removal_option,
    config_options,
    json_option,
    quiet_option,
    reading_options,
    reject_options,
    threads_option,
)
from neardup.cli.progress import progress_shown
from neardup.cli.scan import show_summary
from neardup.cli.settings import config_of
from neardup.values.wording import counted

if TYPE_CHECKING:
    from neardup.stages.plan import Resources, TaskPlan

__all__ = ["stage"]

_RUN = click.argument("run", type=click.Path(exists=True, file_okay=False))
_TASK = click.option("--task", type=click.IntRange(0), required=True, help="The number of this task, from 0.")
_TASKS = click.option("--tasks", type=click.IntRange(1), required=True, help="How many tasks there are.")
_WORKING = (
    click.option("--memory", default="2GB", show_default=True, help="About how much a task may use."),
    threads_option(1),
    quiet_option,
)


def _working(command: Any) -> Any:
    for option in reversed(_WORKING):
        command = option(command)
    return command


@click.group()
def stage() -> None:
    """Run a scan as tasks that any scheduler can run side by side: Slurm, Kubernetes jobs, Ray or a shell script.

    The stages are fingerprint, exact, shuffle and verify, each by all tasks; then cluster, once; then filter, by all
    tasks. A stage begins when all tasks of the one before it have ended. A task that was killed is run again. The
    findings are those of `neardup scan`.
    """


@stage.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--run", required=True, type=click.Path(), help="The folder of the run, which all tasks can reach."
)
@_TASK
@_TASKS
@config_options
@reading_options
@_working
def fingerprint(inputs: tuple[str, ...], run: str, task: int, tasks: int, **given: Any) -> None:
    """Read and fingerprint the documents of one task of INPUTS (files, folders, globs). Each task reads whole files, so
    there should be at least as many files as tasks."""
    from neardup.findings.scan_steps import reading_columns
    from neardup.stages.fingerprint import fingerprint as work

    columns = reading_columns(**reading_of(given))
    plan = work(inputs, run, task, tasks, config_of(given), columns=columns, resources=_resources(given))
    done = plan.done("fingerprint", task) or {}
    documents = done["account"]["rows"]["documents"]
    click.echo(f"task {task} of {plan.tasks}: {counted(documents, 'document')} fingerprinted")


@stage.command()
@_RUN
@_TASK
@_working
def exact(run: str, task: int, **given: Any) -> None:
    """Find the documents with the same words, and compare them word by word."""
    from neardup.stages.exact import exact as work

    _run(work, run, task, given)


@stage.command()
@_RUN
@_TASK
@_working
def shuffle(run: str, task: int, **given: Any) -> None:
    """Find candidates: pairs of documents that share a key."""
    from neardup.stages.shuffle import shuffle as work

    _run(work, run, task, given)


@stage.command()
@_RUN
@_TASK
@_working
def verify(run: str, task: int, **given: Any) -> None:
    """Compare the candidates on their texts."""
    from neardup.stages.verify import verify as work

    _run(work, run, task, given)


@stage.command()
@_RUN
@click.option("--out", "-o", required=True, type=click.Path(), help="The findings folder.")
@click.option("--overwrite", is_flag=True, help="Replace the findings that are there.")
@reject_options
@_working
@json_option()
def cluster(run: str, out: str, **given: Any) -> None:
    """Make clusters, choose what is kept, and write the findings, as `neardup scan` does."""
    from neardup.findings import summarize
    from neardup.stages.cluster import cluster as work

    found = work(
        run,
        out,
        overwrite=given["overwrite"],
        allow_rejects=given["allow_rejects"],
        strict=given["strict"],
        resources=_resources(given),
    )
    summary = summarize(found)
    if given["as_json"]:
        click.echo(json.dumps(summary.to_json() | {"findings": out}, ensure_ascii=False))
        return
    show_summary(summary.lines())
    click.echo(
        f"\nThe findings are in {out}. Next:\n  neardup stage filter {out} --out kept/ --task 0 --tasks 1"
    )


@stage.command("filter")
@click.argument("findings", type=click.Path(exists=True, file_okay=False))
@click.option("--out", "-o", required=True, type=click.Path(), help="A folder for one file of each input.")
@click.option(
    "--write",
    type=click.Choice(["kept", "dropped"]),
    default="kept",
    show_default=True,
    help="Which documents.",
)
@_TASK
@_TASKS
@allow_mass_removal_option
@quiet_option
def filter_(findings: str, out: str, task: int, tasks: int, **given: Any) -> None:
    """Write the kept documents of one task's inputs, each input to a file of its own."""
    from neardup.stages.filter import filter_inputs as work

    done = work(
        findings,
        out,
        task,
        tasks,
        write=given["write"],
        allow_mass_removal=given["allow_mass_removal"],
        progress=progress_shown(given["quiet"]),
    )
    said = f"{done.written:,} of {counted(done.documents, 'document')} written to {out}"
    click.echo(f"task {task} of {tasks}: {said}")


def _resources(given: dict[str, Any]) -> Resources:
    from neardup.stages.plan import Resources
    from neardup.values.sizes import parse_size

    return Resources(parse_size(given["memory"]), given["threads"], progress_shown(given["quiet"]))


def _run(stage: Callable[..., TaskPlan], run: str, task: int, given: dict[str, Any]) -> None:
    plan = stage(run, task, resources=_resources(given))
    click.echo(f"task {task} of {plan.tasks}: {stage.__name__} done")
