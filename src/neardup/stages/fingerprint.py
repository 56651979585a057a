"""Stage 1: a task reads its files, digests and fingerprints their documents."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from os import PathLike
from typing import Any

from neardup.config.config import Config
from neardup.findings.lock import alone, make_folder
from neardup.findings.scan_steps import read_corpus
from neardup.pipeline.run import Run
from neardup.progress import Progress
from neardup.readers.limits import Limits
from neardup.readers.rejects import Rejects
from neardup.stages.plan import Resources, TaskPlan
from neardup.values.checks import checked

__all__ = ["fingerprint", "rejects_path"]

REJECTS = ".rejects.jsonl"


@checked
def fingerprint(
    inputs: Sequence[str | PathLike[str]],
    run: str | PathLike[str],
    task: int,
    tasks: int,
    config: Config | None = None,
    *,
    columns: dict[str, Any] | None = None,
    limits: Limits | None = None,
    resources: Resources | None = None,
) -> TaskPlan:
    """Fingerprint the documents of task `task` of `tasks`: whole files, in the order of their names, of about the same
    size for each task. `columns` are the arguments of `read` about the inputs."""
    resources = resources or Resources()
    limits = limits or Limits.within(resources.memory)
    plan = TaskPlan.make(inputs, run, tasks, config or Config(), columns or {}, limits)
    part, folder = plan.part(task), plan.path("fingerprint", task)
    if plan.done("fingerprint", part.number) is not None:
        return plan
    folder.parent.mkdir(exist_ok=True)
    make_folder(folder)
    with alone(folder):
        _read(plan, task, resources)
    return plan


def _read(plan: TaskPlan, task: int, resources: Resources) -> None:
    folder, progress = plan.path("fingerprint", task), resources.progress or Progress()
    local = Run(
        plan.config, room=resources.room(folder), threads=resources.threads, progress=progress, places=True
    )
    with Rejects(rejects_path(plan, task)) as rejects:
        reader = plan.reader(task, rejects)
        reader.digesting = True
        progress.stage("read", reader.bytes_total or None, "bytes")
        shards, inputs = read_corpus(local, reader, rejects, plan.config, progress)
    progress.finish()
    plan.finish(
        "fingerprint",
        task,
        {
            "shards": len(shards),
            "inputs": inputs,
            "account": reader.account.to_json(),
            "rejected": dict(rejects.counts),
            "passed_over": dict(rejects.skipped),
        },
    )
    shutil.rmtree(plan.work_folder("fingerprint", task), ignore_errors=True)


def rejects_path(plan: TaskPlan, task: int) -> Any:
    """The list of rows of a task that could not be read."""
    return plan.path("fingerprint", task, REJECTS)
