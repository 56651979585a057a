"""The stages as blocks of datatrove pipelines, for its executors on this machine, on Slurm or on Ray.

A run is a list of pipelines that follow each other, all with the same number of tasks: the first one reads documents
and saves them (`SaveDocuments`), `find_duplicates` gives those in the middle, and the last one reads the same documents
again and drops duplicates (`DropDuplicates`). As with datatrove's own blocks, a document is known by its task and its
position, so both pipelines must read the same documents in the same order; the ids are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, MissingExtra
from neardup.findings.decided import decided_cut
from neardup.findings.folder import MANIFEST, Findings
from neardup.findings.removal_alarms import alarms
from neardup.stages.cluster import cluster
from neardup.stages.exact import exact
from neardup.stages.fingerprint import fingerprint
from neardup.stages.plan import Resources, TaskPlan
from neardup.stages.shuffle import shuffle
from neardup.stages.verify import verify
from neardup.storage.atomic_file import AtomicFile
from neardup.values.checks import checked

try:
    from datatrove.pipeline.base import PipelineStep
    from datatrove.pipeline.filters.base_filter import BaseFilter
except ImportError:
    raise MissingExtra("neardup.stages.datatrove", "datatrove") from None

if TYPE_CHECKING:
    from datatrove.data import Document, DocumentsPipeline
    from datatrove.pipeline.writers.disk_base import DiskWriter

__all__ = ["DropDuplicates", "SaveDocuments", "Stage", "find_duplicates"]

STAGES = ("fingerprint", "exact", "shuffle", "verify", "cluster")
_DOCUMENTS = "documents"
_TYPE = "🫂 - DEDUP"


@checked
def find_duplicates(
    run: str | PathLike[str],
    findings: str | PathLike[str],
    config: Config | None = None,
    *,
    resources: Resources | None = None,
) -> list[list[Stage]]:
    """The pipelines between saving documents and dropping duplicates. Each begins when all tasks of the one before it
    have ended.

    run        the folder of `SaveDocuments`, which all machines can reach
    findings   the folder for the findings, as `neardup scan` writes them
    resources  what a task may use
    """
    return [[Stage(name, run, findings, config, resources)] for name in STAGES]


class SaveDocuments(PipelineStep):  # type: ignore[misc]  # datatrove has no types
    """Writes the documents that reach it to the folder of a run, one file for each task, and passes them on."""

    name = "neardup: save documents"
    type = _TYPE

    @checked
    def __init__(self, run: str | PathLike[str]) -> None:
        super().__init__()
        self.folder = Path(run) / _DOCUMENTS

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        self.folder.mkdir(parents=True, exist_ok=True)
        with AtomicFile(_file(self.folder, rank)) as file:
            for document in data:
                with self.track_time():
                    line = {**document.metadata, "id": document.id, "text": document.text}
                    file.write(json.dumps(line, default=str).encode() + b"\n")
                self.stat_update("saved")
                yield document


class Stage(PipelineStep):  # type: ignore[misc]
    """One stage of a scan; `cluster` is done by task 0."""

    type = _TYPE

    @checked
    def __init__(
        self,
        stage: str,
        run: str | PathLike[str],
        findings: str | PathLike[str],
        config: Config | None = None,
        resources: Resources | None = None,
    ) -> None:
        if stage not in STAGES:
            raise ConfigError(f"stage {stage!r}: there are {', '.join(STAGES)}")
        self.stage, self.name = stage, f"neardup: {stage}"
        super().__init__()  # its statistics have the name
        self.folder, self.findings = Path(run), Path(findings)
        self.config, self.resources = config or Config(), resources or Resources()

    def run(self, data: DocumentsPipeline = None, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        with self.track_time("task"):
            if self.stage == "fingerprint":
                self._fingerprint(rank, world_size)
            else:
                self._later(rank, world_size)
        self.stat_update("tasks", unit="task")
        yield from data or ()

    def _fingerprint(self, rank: int, world_size: int) -> None:
        # All files by name: a task that saved nothing has an empty file, and one that is missing is noticed.
        saved = [_file(self.folder / _DOCUMENTS, task) for task in range(world_size)]
        missing = [task for task, path in enumerate(saved) if not path.exists()]
        if missing:
            raise DataError(f"{self.folder}: the documents of task {missing[0]} are not saved; run it first")
        columns = {"text": "text", "id": "id", "format": "jsonl"}
        fingerprint(
            saved, self.folder, rank, world_size, self.config, columns=columns, resources=self.resources
        )

    def _later(self, rank: int, world_size: int) -> None:
        if (tasks := TaskPlan.open(self.folder).tasks) != world_size:
            raise ConfigError(
                f"{self.folder}: was begun with {tasks} tasks, and this pipeline has {world_size}"
            )
        if self.stage != "cluster":
            work = {"exact": exact, "shuffle": shuffle, "verify": verify}[self.stage]
            work(self.folder, rank, resources=self.resources)
        elif rank == 0:
            cluster(self.folder, self.findings, overwrite=True, resources=self.resources)


class DropDuplicates(BaseFilter):  # type: ignore[misc]
    """Drops the documents that findings drop, decisions included.

    run, findings        as for `find_duplicates`
    exclusion_writer     gets the dropped documents
    allow_mass_removal   go on even if very many documents would be dropped
    """

    name = "neardup: drop duplicates"

    @checked
    def __init__(
        self,
        run: str | PathLike[str],
        findings: str | PathLike[str],
        exclusion_writer: DiskWriter | None = None,
        *,
        allow_mass_removal: bool = False,
    ) -> None:
        super().__init__(exclusion_writer)
        self.folder, self.findings = Path(run) / _DOCUMENTS, Path(findings)
        self.allow_mass_removal = allow_mass_removal
        self._expected: Iterator[tuple[str, bool]] = iter(())

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        kept = self._kept(rank)
        ids = _saved_ids(_file(self.folder, rank))
        self._expected = zip(ids, chain(kept.tolist(), _endless(True)), strict=False)
        yield from super().run(data, rank, world_size)
        if next(self._expected, None) is not None:
            raise DataError(
                f"task {rank}: there are fewer documents than were saved; read the same ones again"
            )

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        id, kept = next(self._expected, (None, True))
        if id != doc.id:
            raise DataError(
                f"the document {doc.id!r:.100} is where {id!r:.100} was saved; read the same ones in the same order"
            )
        return True if kept else (False, "near_duplicate")

    def _kept(self, rank: int) -> NDArray[np.bool_]:
        """For each saved document of a task whether it is kept. What could not be read as text is kept."""
        if not (self.findings / MANIFEST).exists():
            raise DataError(
                f"{self.findings}: holds no findings; run the pipelines of `find_duplicates` first"
            )
        found = Findings(self.findings)
        cut = decided_cut(found)
        reasons = alarms(found, cut)
        if reasons and not self.allow_mass_removal:
            raise DataError("very many documents would be dropped:\n  " + "\n  ".join(reasons))
        own = _file(self.folder, rank)
        numbers = [at for at, name in enumerate(found.file_names) if Path(name).name == own.name]
        mine = np.flatnonzero(np.isin(found.files, numbers))
        kept = np.ones(int(found.places[mine].max(initial=0)), np.bool_)
        kept[found.places[mine] - 1] = cut.kept[mine]
        return kept


def _file(folder: Path, task: int) -> Path:
    return folder / f"{task:05}.jsonl"


def _saved_ids(path: Path) -> Iterator[str]:
    with open(path, "rb") as file:
        for line in file:
            yield json.loads(line)["id"]


def _endless(value: Any) -> Iterator[Any]:
    while True:
        yield value
