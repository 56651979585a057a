"""The plan of a run: its inputs, settings and number of tasks. Each task of the first stage computes it; the first one
to do so stores it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.findings.scan_steps import file_identity
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.drawn_seed import sample_of_files, seed_of
from neardup.pipeline.fit import Prepared, needs_corpus
from neardup.pipeline.pairs import PairSearch, Room
from neardup.pipeline.run import Run
from neardup.pipeline.sharder import SHARD_SCHEME
from neardup.pipeline.shards import FileShard, Shard
from neardup.progress import Progress
from neardup.readers.layout import Layout
from neardup.readers.limits import Limits
from neardup.readers.reader import Reader, read
from neardup.readers.rejects import Rejects
from neardup.storage.checked_json import read_checked, write_checked
from neardup.values.parts import Part, by_size
from neardup.version import __version__

__all__ = ["Resources", "TaskPlan"]

_PLAN, _DONE = "plan.json", "done.json"


@dataclass(frozen=True)
class Resources:
    """What a task may use: memory in bytes and threads, and what it reports progress to."""

    memory: int = 2 << 30
    threads: int = 1
    progress: Progress | None = None

    def room(self, folder: Path) -> Room:
        """Room for a stage, with a folder for what does not fit in memory."""
        folder.mkdir(parents=True, exist_ok=True)
        return Room(self.memory, folder)


@dataclass(frozen=True)
class TaskPlan:
    """A run in `folder` by so many `tasks`. `listed` is the account of the files that were found."""

    folder: Path
    tasks: int
    inputs: list[str]
    files: list[list[Any]]
    columns: dict[str, Any]
    limits: Limits
    config: Config
    listed: dict[str, Any]

    @classmethod
    def make(
        cls,
        inputs: Sequence[str | PathLike[str]],
        folder: str | PathLike[str],
        tasks: int,
        config: Config,
        columns: dict[str, Any],
        limits: Limits,
    ) -> TaskPlan:
        """The plan of these inputs, stored in the folder; ConfigError if the folder has another one."""
        check_config(config)
        if tasks < 1:
            raise ConfigError(f"tasks={tasks}: a run has at least one task")
        named = [os.fspath(place) for place in inputs]
        reader = read(named, limits=limits, columns=list(config.fields), **columns)
        if reader.files is None or "-" in named:
            raise ConfigError("tasks read files, not standard input: save it to a file first")
        if config.draws_seed:
            config = replace(config, seed=seed_of(sample_of_files(reader.files)))
        files = [file_identity(source) for source in reader.files]
        plan = cls(Path(folder), tasks, named, files, columns, limits, config, reader.account.to_json())
        plan._store()
        return plan

    def _store(self) -> None:
        plain, path = self._plain(), self.folder / _PLAN
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                write_checked(path, plain, overwrite=False)
            except DataError:
                if not path.exists():
                    raise
        known, _ = read_checked(path, "the plan of a run")
        if known != json.loads(json.dumps(plain)):
            raise ConfigError(
                f"{self.folder}: holds a run of other inputs, settings or tasks; name another --run folder"
            )

    def _plain(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "tasks": self.tasks,
            "inputs": self.inputs,
            "files": self.files,
            "columns": self.columns,
            "limits": asdict(self.limits),
            "config": self.config.to_plain(),
            "listed": self.listed,
        }

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> TaskPlan:
        """The plan that the first stage stored."""
        path = Path(folder) / _PLAN
        if not path.exists():
            raise DataError(
                f"{folder}: holds no run; begin with `neardup stage fingerprint INPUTS --run {folder}`"
            )
        known, _ = read_checked(path, "the plan of a run")
        if known["version"] != __version__:
            raise DataError(
                f"{folder}: was begun by neardup {known['version']}, and this is {__version__}; begin again"
            )
        return cls(
            Path(folder),
            int(known["tasks"]),
            list(known["inputs"]),
            list(known["files"]),
            dict(known["columns"]),
            Limits(**known["limits"]),
            Config.from_plain(known["config"]),
            dict(known["listed"]),
        )

    def part(self, task: int) -> Part:
        """The part of a stage that a task has."""
        return Part(task, self.tasks)

    def reader(self, task: int, rejects: Rejects | None = None) -> Reader:
        """A reader of a task's files, which are listed again: DataError if they are not those of the plan."""
        reader = read(
            self.inputs,
            limits=self.limits,
            columns=list(self.config.fields),
            **self.columns,
        )
        files = reader.files or []
        if json.loads(json.dumps([file_identity(source) for source in files])) != self.files:
            raise DataError(f"{self.folder}: the inputs have changed since the run began; begin another run")
        mine = by_size(files, [source.size or 0 for source in files], self.part(task))
        before = files[: files.index(mine[0])] if mine else []
        return reader.only(mine, _layout_before(reader, before), rejects)

    def path(self, stage: str, task: int, ending: str = "") -> Path:
        """Where a task of a stage writes."""
        return self.folder / stage / f"{task:05}{ending}"

    def work_folder(self, stage: str, task: int) -> Path:
        """A folder for what a task does not hold in memory."""
        return self.folder / "work" / f"{stage}-{task:05}"

    def finish(self, stage: str, task: int, facts: dict[str, Any]) -> None:
        """Mark a task as done."""
        write_checked(self.path(stage, task, f".{_DONE}"), facts)

    def done(self, stage: str, task: int) -> dict[str, Any] | None:
        """The facts of a finished task; None if it is not finished."""
        path = self.path(stage, task, f".{_DONE}")
        return read_checked(path, "the facts of a task")[0] if path.exists() else None

    def facts(self, stage: str) -> list[dict[str, Any]]:
        """The facts of all tasks of a stage; DataError if one is not finished."""
        found = [self.done(stage, task) for task in range(self.tasks)]
        missing = [task for task, facts in enumerate(found) if facts is None]
        if missing:
            shown = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
            raise DataError(
                f"{self.folder}: stage {stage} is not finished: run its tasks {shown} "
                f"(neardup stage {stage} ... --task {missing[0]})"
            )
        return [facts for facts in found if facts is not None]

    @cached_property
    def corpus(self) -> Corpus:
        """All documents, as the tasks of the first stage wrote them."""
        prepared, method = Prepared.untaught(self.config), self.config.method
        shards: list[Shard] = []
        for task, facts in enumerate(self.facts("fingerprint")):
            folder = self.path("fingerprint", task)
            for number in range(int(facts["shards"])):
                shard = FileShard(folder / f"{number:05}.shard", SHARD_SCHEME)
                if method is not None:
                    shard.attach(folder / f"{number:05}.prints", prepared.kept_scheme(method))
                shards.append(shard)
        return Corpus(shards)

    def run(self, resources: Resources, folder: Path) -> Run:
        """The run of the local pipeline, with all documents read."""
        run = Run(
            self.config, room=resources.room(folder), threads=resources.threads, progress=resources.progress
        )
        for shard in self.corpus.shards:
            assert isinstance(shard, FileShard)
            shard.threads = resources.threads
        run.take(self.corpus.shards)
        return run

    def search(self, resources: Resources, folder: Path) -> PairSearch:
        """The search of the local pipeline in these documents."""
        run = self.run(resources, folder)
        return PairSearch(run.corpus, run.prepared, run.rank, run.room, run.progress)


def check_config(config: Config) -> None:
    """ConfigError if the config needs the whole corpus in one process."""
    if config.highlights is not None:
        raise ConfigError("highlights need the whole corpus in one process: use `neardup scan`")
    if needs_corpus(config):
        raise ConfigError(
            "weights and templates are learned from the whole corpus, which tasks do not have: use `neardup scan`, or "
            "another --method and no --templates"
        )
    if config.vectors is not None:
        raise ConfigError("tasks compare texts; use `neardup scan --vectors` for vectors")
    if config.filters.prune:
        raise ConfigError(
            "prune needs the whole corpus in one process; leave it out, for it changes no answer"
        )


def _layout_before(reader: Reader, files: Sequence[Any]) -> Layout | None:
    """The layout of the last file before a task's own that decides one: a scan uses it for files that do not."""
    for source in reversed(files):
        for batch in reader.only([source]):
            return batch.layout
    return None
