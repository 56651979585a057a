"""The stages on Daft: its runner starts the tasks, in this process or on a Ray cluster, and the kept documents are a
DataFrame."""

from __future__ import annotations

import filecmp
import re
import shutil
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeAlias

from neardup.config.config import Config
from neardup.errors import ConfigError, MissingExtra
from neardup.findings.folder import MANIFEST, Findings
from neardup.stages.cluster import cluster
from neardup.stages.exact import exact
from neardup.stages.filter import filter_inputs
from neardup.stages.fingerprint import fingerprint
from neardup.stages.plan import Resources
from neardup.stages.shuffle import shuffle
from neardup.stages.verify import verify
from neardup.values.checks import checked

try:
    import daft
    import pyarrow
    import pyarrow.parquet
except ImportError:
    raise MissingExtra("neardup.stages.daft", "daft") from None

__all__ = ["dedup", "find_duplicates"]

ROWS = 100_000  # of a DataFrame in one file
Inputs: TypeAlias = Any  # a DataFrame, or a path, or several


@checked
def dedup(
    inputs: Inputs,
    run: str | PathLike[str],
    config: Config | None = None,
    *,
    text: str | None = None,
    id: str | None = None,
    tasks: int = 8,
    write: Literal["kept", "dropped"] = "kept",
    allow_mass_removal: bool = False,
    resources: Resources | None = None,
) -> daft.DataFrame:
    """The kept documents of a DataFrame or of files, with all their columns. What `find_duplicates` wrote is used
    again; so a run that was interrupted is repeated with the same call.

    write                "dropped": the others
    allow_mass_removal   go on even if very many documents would be dropped

    The other arguments are those of `find_duplicates`.
    """
    run = Path(run)
    found = find_duplicates(inputs, run, config, text=text, id=id, tasks=tasks, resources=resources)
    entries = found.manifest["inputs"]
    read = _reader_of(sorted({entry["format"] for entry in entries}))  # before anything is written
    folder, out = found.path, run / write  # what tasks use is sent to them, so not the findings themselves
    _each(
        tasks,
        lambda task: filter_inputs(
            folder, out, task, tasks, write=write, allow_mass_removal=allow_mass_removal
        ),
    )
    return read(sorted(str(path) for path in out.iterdir() if not path.name.startswith(".")))


@checked
def find_duplicates(
    inputs: Inputs,
    run: str | PathLike[str],
    config: Config | None = None,
    *,
    text: str | None = None,
    id: str | None = None,
    tasks: int = 8,
    resources: Resources | None = None,
) -> Findings:
    """The findings of a DataFrame or of files, as `neardup scan` writes them, in the folder `run`/findings.

    inputs     a DataFrame, whose rows are first written to Parquet files by this process; or files and folders, which
               the tasks read themselves
    run        a folder that all machines can reach, as the inputs
    text, id   the names of columns, if they are not found by themselves
    resources  what a task may use
    """
    run, resources = Path(run), resources or Resources()
    config = config or Config()
    paths = _paths(inputs, run)
    columns = {"text": text, "id": id, "format": None}
    _each(
        tasks,
        lambda task: fingerprint(paths, run, task, tasks, config, columns=columns, resources=resources),
    )
    for stage in (exact, shuffle, verify):
        _each(tasks, _stage(stage, run, resources))
    found = run / "findings"
    if (found / MANIFEST).exists():  # of this run: another one would have been refused above
        return Findings(found)
    return cluster(run, found, resources=resources)


def _stage(stage: Callable[..., Any], run: Path, resources: Resources) -> Callable[[int], Any]:
    return lambda task: stage(run, task, resources=resources)


def _each(tasks: int, work: Callable[[int], Any]) -> None:
    """Run all tasks of a stage. An error of one is raised."""

    @daft.func(return_dtype=daft.DataType.int64())  # type: ignore[untyped-decorator]
    def done(task: int) -> int:
        work(task)
        return task

    numbers = daft.from_pydict({"task": list(range(tasks))})
    if daft.get_or_create_runner().name == "ray":
        numbers = numbers.into_partitions(tasks)
    numbers.select(done(daft.col("task"))).collect()


def _paths(inputs: Inputs, run: Path) -> list[str]:
    if isinstance(inputs, daft.DataFrame):
        return [str(_saved(inputs, run / "input"))]
    if isinstance(inputs, str | PathLike):
        return [fspath(inputs)]
    if isinstance(inputs, Sequence) and all(isinstance(one, str | PathLike) for one in inputs):
        return [fspath(one) for one in inputs]
    raise ConfigError(f"inputs are a daft.DataFrame or paths of files, not {type(inputs).__name__}")


def _saved(frame: daft.DataFrame, folder: Path) -> Path:
    """The rows of a DataFrame in Parquet files, in their order. A run that has saved rows before must get the same
    ones: they are written again beside the others, and compared."""
    fresh = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    schema = frame.schema().to_pyarrow_schema()
    rows = pyarrow.Table.from_batches([], schema)
    count = 0
    for batch in frame.to_arrow_iter():
        rows = pyarrow.concat_tables([rows, pyarrow.Table.from_batches([batch]).cast(schema)])
        while rows.num_rows >= ROWS:
            count = _write(rows.slice(0, ROWS), fresh, count)
            rows = rows.slice(ROWS)
    if rows.num_rows or not count:
        _write(rows, fresh, count)
    if not folder.exists():
        fresh.rename(folder)
        return folder
    names = sorted(path.name for path in fresh.iterdir())
    same = names == sorted(path.name for path in folder.iterdir())
    if not same or filecmp.cmpfiles(folder, fresh, names, shallow=False)[0] != names:
        raise ConfigError(f"{folder.parent}: holds a run of other rows; name another folder")
    shutil.rmtree(fresh)
    return folder


def _write(rows: pyarrow.Table, folder: Path, number: int) -> int:
    """Write the next file; the same rows give the same bytes, however they arrived."""
    pyarrow.parquet.write_table(rows.combine_chunks(), folder / f"{number:08}.parquet")
    return number + 1


def _reader_of(formats: Sequence[str]) -> Callable[[list[str]], daft.DataFrame]:
    """What reads the files that `filter` writes, which have the formats of the inputs."""
    readers: dict[str, Callable[[list[str]], daft.DataFrame]]
    readers = {"parquet": daft.read_parquet, "jsonl": daft.read_json, "csv": daft.read_csv}
    kinds = [next((kind for kind in readers if re.match(kind, name)), None) for name in formats]
    if len(set(kinds)) != 1 or kinds[0] is None:
        shown = ", ".join(formats)
        raise ConfigError(
            f"a DataFrame is made of Parquet, JSONL or CSV files, all of one format, not of {shown}; "
            "find_duplicates and neardup apply take any"
        )
    return readers[kinds[0]]
