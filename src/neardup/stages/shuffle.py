"""Stage 3: candidates. A task joins some of the tables of keys. The first task joins a method without tables, and the
last one short documents."""

from __future__ import annotations

import shutil
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.search.candidates import Joined
from neardup.search.collapse import Groups
from neardup.search.pair_runs import PairRuns
from neardup.search.report import SearchReport
from neardup.stages.columns import TaskColumns, write_columns
from neardup.stages.exact import first_and_text
from neardup.stages.plan import Resources, TaskPlan
from neardup.values.checks import checked

__all__ = ["candidates_of", "short_candidates", "shuffle"]

STAGE = "shuffle"
_NONE = np.empty(0, np.uint64)


@checked
def shuffle(run: str | PathLike[str], task: int, *, resources: Resources | None = None) -> TaskPlan:
    """Find the candidates of a task: pairs of rows that share a key in one of its tables."""
    resources, plan = resources or Resources(), TaskPlan.open(run)
    part, method = plan.part(task), plan.config.method
    if plan.done(STAGE, task) is not None:
        return plan
    folder = plan.work_folder(STAGE, task)
    search = plan.search(resources, folder)
    search.begin(first_and_text(plan)[0])
    columns: dict[str, NDArray[Any]] = {}
    facts: dict[str, Any] = {"capped": 0, "skipped": 0}
    if method is not None and len(plan.corpus) and (method.splits or part.number == 0):
        search.progress.stage("candidates", 1.0)
        joined = search.join(method, part) if method.splits else search.join(method)
        columns["pairs"] = _all(joined.runs)
        facts |= {"capped": joined.capped, "skipped": joined.skipped, "spread": joined.spread}
        if part.number == 0:
            columns |= {"members": joined.groups.members, "offsets": joined.groups.offsets}
            facts["report"] = None if joined.report is None else joined.report.to_plain()
    if method is not None and part.number == plan.tasks - 1 and (short := search.join_short()) is not None:
        columns["short"] = _all(short)
    facts["capped"] += search.capped
    facts["skipped"] += search.skipped
    search.progress.finish()
    write_columns(plan.path(STAGE, task, ".columns"), columns)
    plan.finish(STAGE, task, facts | {"columns": list(columns)})
    shutil.rmtree(folder, ignore_errors=True)
    return plan


def _all(runs: PairRuns) -> NDArray[np.uint64]:
    found = np.concatenate([_NONE, *runs.chunks()])
    runs.close()
    return found


def candidates_of(plan: TaskPlan, apart: NDArray[np.bool_], runs: PairRuns, low: int, high: int) -> Joined:
    """The candidates of all tasks whose first row is from `low` to before `high`."""
    facts = plan.facts(STAGE)
    _gather(plan, "pairs", runs, low, high)
    members, offsets = np.empty(0, np.int64), np.zeros(1, np.int64)
    if "members" in facts[0]["columns"]:
        columns = TaskColumns(plan.path(STAGE, 0, ".columns"))
        members, offsets = columns.read("members"), columns.read("offsets")
    repeats = np.zeros(len(apart), np.bool_)
    repeats[members] = True
    repeats[members[offsets[:-1]]] = False
    report = facts[0].get("report")
    if report is not None:
        report = SearchReport(**{name: value for name, value in report.items() if name != "total"})
    return Joined(Groups(repeats, apart, members, offsets), runs, facts[0].get("spread", 1), report=report)


def short_candidates(plan: TaskPlan, runs: PairRuns, low: int, high: int) -> PairRuns:
    """The same of the exact join of short documents."""
    _gather(plan, "short", runs, low, high)
    return runs


def _gather(plan: TaskPlan, name: str, runs: PairRuns, low: int, high: int) -> None:
    for task, facts in enumerate(plan.facts(STAGE)):
        if name in facts["columns"]:
            runs.add(TaskColumns(plan.path(STAGE, task, ".columns")).between(name, low << 32, high << 32))
