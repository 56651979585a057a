"""neardup: the command as a user types it, and how to read what it writes."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Found", "command", "read"]

Rows = NDArray[np.int64]
NEARDUP = (sys.executable, "-m", "neardup")
# The command under test; {corpus}, {out} and {threads} are filled in.
SCAN = "scan {corpus} --out {out} --threshold 0.8 --floor 0.8 --threads {threads} --memory 2GB --json"
# The same in memory, for as long as there is no scan.
DEDUP = "dedup {corpus} --threshold 0.8 --threads {threads} --json"


@dataclass(frozen=True)
class Found:
    """The keeper of each row, which also names its cluster; the pairs reported, if they are, between first rows; and
    for each row the first one of the same words, whose pairs are its own. And the seconds of each stage."""

    keepers: Rows
    pairs: tuple[Rows, Rows] | None
    first: Rows | None
    stages: dict[str, float]


def command(corpus: Path, out: Path, threads: int) -> list[str]:
    from neardup.cli import COMMANDS

    line = SCAN if "scan" in COMMANDS else DEDUP
    return [*NEARDUP, *(word.format(corpus=corpus, out=out, threads=threads) for word in line.split())]


def read(out: Path, printed: str, rows: int) -> Found:
    """What the command found, from its findings or, without any, from what it printed."""
    keepers = np.arange(rows)
    if not out.exists():
        facts = json.loads(printed)
        dropped = facts["dropped"]
        keepers[[row_of(one["id"]) for one in dropped]] = [row_of(one["keeper"]) for one in dropped]
        return Found(keepers, None, None, facts["seconds"])
    from neardup.findings import Findings

    findings = Findings(out)
    row = findings.places - 1  # of the one file there is; lines that were rejected have no findings
    keepers[row] = row[findings.cut().clusters.keeper]
    first = np.arange(rows)
    first[row] = row[findings.first]
    pairs = row[findings.pairs.left], row[findings.pairs.right]
    return Found(keepers, pairs, first, findings.manifest["seconds"])


def row_of(id_: str) -> int:
    """Corpora name their documents by their row: d000000012."""
    return int(id_.removeprefix("d"))
