"""Stage 4: verified pairs. A task has the candidates whose first rows are in its range."""

from __future__ import annotations

import shutil
from os import PathLike

import numpy as np

from neardup.compare.verify import Pairs
from neardup.pipeline.pairs import NO_PAIRS
from neardup.search.pair_runs import PairRuns
from neardup.stages.columns import TaskColumns, write_columns
from neardup.stages.exact import first_and_text
from neardup.stages.plan import Resources, TaskPlan
from neardup.stages.shuffle import candidates_of, short_candidates
from neardup.values.checks import checked

__all__ = ["verified_pairs", "verify"]

STAGE = "verify"


@checked
def verify(run: str | PathLike[str], task: int, *, resources: Resources | None = None) -> TaskPlan:
    """Compare the candidates of a task on their texts."""
    resources, plan = resources or Resources(), TaskPlan.open(run)
    part = plan.part(task)
    if plan.done(STAGE, task) is not None:
        return plan
    folder = plan.work_folder(STAGE, task)
    search = plan.search(resources, folder)
    search.begin(first_and_text(plan)[0])
    low, high = part.span(len(plan.corpus))
    joined = candidates_of(plan, search.apart, PairRuns(folder, search.room.pairs), low, high)
    short = short_candidates(plan, PairRuns(folder, search.room.pairs), low, high)
    search.progress.stage("verify", 1.0)
    pairs = search.verified(joined, short, inner=part.number == 0)
    search.progress.finish()
    columns = {"left": pairs.left, "right": pairs.right, "score": pairs.similarity}
    write_columns(plan.path(STAGE, task, ".columns"), columns)
    plan.finish(STAGE, task, {"candidates": search.candidates, "implied": search.implied})
    shutil.rmtree(folder, ignore_errors=True)
    return plan


def verified_pairs(plan: TaskPlan) -> Pairs:
    """The verified pairs of all tasks."""
    plan.facts(STAGE)
    files = [TaskColumns(plan.path(STAGE, task, ".columns")) for task in range(plan.tasks)]
    found = [(file.read("left"), file.read("right"), file.read("score", "<f8")) for file in files]
    if not any(len(left) for left, _, _ in found):
        return NO_PAIRS
    return Pairs.of(*(np.concatenate(column) for column in zip(*found, strict=True)))
