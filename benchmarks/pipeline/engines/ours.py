"""neardup: the command as a user types it, and how to read what it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Found", "command", "read"]

Rows = NDArray[np.int64]
Found = tuple[Rows, Rows, tuple[Rows, Rows] | None]
NEARDUP = (sys.executable, "-m", "neardup")
# The command under test; {corpus}, {out} and {threads} are filled in.
SCAN = "scan {corpus} --out {out} --threshold 0.8 --floor 0.8 --threads {threads} --memory 2GB --json"
# The same in memory, for as long as there is no scan.
DEDUP = "dedup {corpus} --threshold 0.8 --threads {threads} --json"


def command(corpus: Path, out: Path, threads: int) -> list[str]:
    from neardup.cli import COMMANDS

    line = SCAN if "scan" in COMMANDS else DEDUP
    return [*NEARDUP, *(word.format(corpus=corpus, out=out, threads=threads) for word in line.split())]


def read(out: Path, printed: str, rows: int) -> Found:
    """(cluster of each row, keeper of each row, the pairs reported or None)."""
    if not out.exists():
        dropped = json.loads(printed)["dropped"]
        keepers = np.arange(rows)
        keepers[[row_of(one["id"]) for one in dropped]] = [row_of(one["keeper"]) for one in dropped]
        return keepers, keepers, None
    clusters, pairs = table(out, "clusters"), table(out, "pairs")
    keepers = np.arange(rows)
    keepers[rows_of(clusters["id"])] = rows_of(clusters["keeper"])
    return keepers, keepers, (rows_of(pairs["left"]), rows_of(pairs["right"]))


def table(folder: Path, name: str) -> dict[str, list[str]]:
    """The columns of a findings file, Parquet or JSONL."""
    parquet = folder / f"{name}.parquet"
    if parquet.exists():
        import pyarrow.parquet as pq

        return dict(pq.read_table(parquet).to_pydict())
    columns: dict[str, list[str]] = {}
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            for field, value in json.loads(line).items():
                columns.setdefault(field, []).append(value)
    return columns


def rows_of(ids: list[str]) -> Rows:
    return np.fromiter(map(row_of, ids), np.int64, len(ids))


def row_of(id_: str | int) -> int:
    """Corpora name their documents by their row: d000000012."""
    return id_ if isinstance(id_, int) else int(id_.removeprefix("d"))
