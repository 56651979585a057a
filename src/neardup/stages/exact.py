"""Stage 2: documents of the same words. A task has those whose digests fall to it."""

from __future__ import annotations

import shutil
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from neardup.stages.columns import TaskColumns, write_columns
from neardup.stages.plan import Resources, TaskPlan
from neardup.values.checks import checked

__all__ = ["exact", "first_and_text"]

Rows = NDArray[np.int64]
STAGE = "exact"


@checked
def exact(run: str | PathLike[str], task: int, *, resources: Resources | None = None) -> TaskPlan:
    """Find documents with the same words, and compare them word by word."""
    resources, plan = resources or Resources(), TaskPlan.open(run)
    part = plan.part(task)
    if plan.done(STAGE, task) is not None:
        return plan
    folder = plan.work_folder(STAGE, task)
    first, text = plan.search(resources, folder).exact(part)
    own = np.arange(len(first))
    rows = np.flatnonzero((first != own) | (text != own))
    write_columns(
        plan.path(STAGE, task, ".columns"), {"rows": rows, "first": first[rows], "text": text[rows]}
    )
    plan.finish(STAGE, task, {"rows": len(rows)})
    shutil.rmtree(folder, ignore_errors=True)
    return plan


def first_and_text(plan: TaskPlan) -> tuple[Rows, Rows]:
    """For each row the first one with its words, and the first one with its text."""
    plan.facts(STAGE)
    first = np.arange(len(plan.corpus))
    text = first.copy()
    for task in range(plan.tasks):
        columns = TaskColumns(plan.path(STAGE, task, ".columns"))
        rows = columns.read("rows")
        first[rows], text[rows] = columns.read("first"), columns.read("text")
    return first, text
