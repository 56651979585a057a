"""Stage 5, one task: clusters and keepers, written as an ordinary findings folder."""

from __future__ import annotations

import shutil
from collections import Counter
from os import PathLike
from pathlib import Path
from typing import Any

from neardup.errors import ConfigError, DataError, UnreadableInput
from neardup.findings.folder import MANIFEST, Findings
from neardup.findings.lock import alone, make_folder
from neardup.findings.scan_steps import REJECTS, write_run
from neardup.findings.writer import Origin
from neardup.pipeline.pairs import FoundPairs, PairSearch
from neardup.pipeline.run import Run
from neardup.readers.account import TOLERATED, Account
from neardup.search.pair_runs import PairRuns
from neardup.stages.exact import first_and_text
from neardup.stages.fingerprint import rejects_path
from neardup.stages.plan import Resources, TaskPlan
from neardup.stages.shuffle import candidates_of
from neardup.stages.verify import verified_pairs
from neardup.storage.atomic_file import AtomicFile
from neardup.values.checks import checked

__all__ = ["cluster"]


@checked
def cluster(
    run: str | PathLike[str],
    out: str | PathLike[str],
    *,
    overwrite: bool = False,
    allow_rejects: float = TOLERATED,
    strict: bool = False,
    resources: Resources | None = None,
) -> Findings:
    """Write the findings of a run to the folder `out`, as `scan` does. Raises UnreadableInput if nothing could be read,
    or if more than the share `allow_rejects` of the rows was rejected (with `strict`, any row)."""
    resources, plan, folder = resources or Resources(), TaskPlan.open(run), Path(out)
    if not folder.parent.is_dir():
        raise DataError(f"{out}: the folder {folder.parent} does not exist; make it first")
    facts = plan.facts("fingerprint")
    account = _account(plan, facts)
    _check(account, plan, folder, allow_rejects, strict)
    make_folder(folder)
    with alone(folder):
        if (folder / MANIFEST).exists():
            if not overwrite:
                raise ConfigError(f"{out}: already contains findings; name another --out, or add --overwrite")
            (folder / MANIFEST).unlink()
        place = plan.work_folder("cluster", 0)
        local = plan.run(resources, place)
        found = _found(plan, local)
        _rejects(plan, folder / REJECTS)
        made = write_run(folder, local, found, _origin(plan, facts, account, resources))
    shutil.rmtree(place, ignore_errors=True)
    return made


def _found(plan: TaskPlan, local: Run) -> FoundPairs:
    first, text = first_and_text(plan)
    search = PairSearch(local.corpus, local.prepared, local.rank, local.room, local.progress)
    search.begin(first)
    for name in ("capped", "skipped"):
        setattr(search, name, sum(facts[name] for facts in plan.facts("shuffle")))
    for name in ("candidates", "implied"):
        setattr(search, name, sum(facts[name] for facts in plan.facts("verify")))
    pairs = verified_pairs(plan)
    if plan.config.method is not None and len(local.corpus):
        joined = candidates_of(plan, search.apart, PairRuns(), 0, 0)
        pairs = search.completed(joined, pairs)
    return search.found(pairs, text)


def _account(plan: TaskPlan, facts: list[dict[str, Any]]) -> Account:
    account = Account.of_json(plan.listed)
    for task in facts:
        account.add(Account.of_json(task["account"]))
    account.settle()
    return account


def _check(account: Account, plan: TaskPlan, folder: Path, allow: float, strict: bool) -> None:
    if not account.rows:
        return
    beside = folder.with_name(f"{folder.name}.rejects.jsonl")
    try:
        account.check(allow, strict=strict, rejects=beside)
    except UnreadableInput:
        if account.rejected:
            _rejects(plan, beside)
        raise


def _rejects(plan: TaskPlan, path: Path) -> None:
    """All rows that could not be read, in the order of the inputs."""
    with AtomicFile(path) as file:
        for task in range(plan.tasks):
            file.write(rejects_path(plan, task).read_bytes())


def _origin(plan: TaskPlan, facts: list[dict[str, Any]], account: Account, resources: Resources) -> Origin:
    rejected: Counter[str] = Counter()
    passed: Counter[str] = Counter(plan.listed["files"]["skipped"])  # as the account of a scan counts them
    for task in facts:
        rejected.update(task["rejected"])
        passed.update(task["passed_over"])
    return Origin(
        config=plan.config,
        scheme="",
        seed="",
        inputs=[entry for task in facts for entry in task["inputs"]],
        columns=plan.columns,
        limits=plan.limits,
        rejected=rejected,
        passed_over=passed,
        account=account.to_json(),
        threads=resources.threads,
        memory=resources.memory,
        shards=sum(task["shards"] for task in facts),
    )
