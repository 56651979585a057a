"""The account of a run: the files that the driver listed, and the rows that the workers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from neardup.errors import UnreadableInput
from neardup.readers.account import REASONS, Account, Reason
from neardup.readers.rejects import Rejects
from neardup.spark.documents import RunDocuments
from neardup.spark.inputs import Files

_FEW = 100_000  # rejected rows that the driver sorts itself
__all__ = ["account_of", "check_account", "write_rejects"]


def account_of(documents: RunDocuments) -> Account:
    """What became of everything that was found; reads the documents if that was not done yet."""
    facts, source = documents.facts, documents.source
    account = source.account.of_files() if isinstance(source, Files) else Account()
    account.documents = facts["documents"] - facts["reference"]["documents"]
    account.rejected = Counter(facts["rejected"])
    account.passed_over = Counter(facts.get("passed_over", {}))
    account.notes = Counter(facts.get("notes", {}))
    account.rows = account.documents + account.rejected.total() + account.passed_over.total()
    if account.rejected:
        for row in _rejects(documents, REASONS):
            account.reasons.append(Reason(row["file"], row["row"], row["reason"], row["detail"] or ""))
    account.settle()
    return account


def check_account(documents: RunDocuments, beside: Path, allow: float, strict: bool) -> None:
    """UnreadableInput if too little could be read; the rejected rows are then listed in the file `beside`."""
    account = account_of(documents)
    if not account.rows:
        return  # empty files were read whole
    try:
        account.check(allow, strict=strict, rejects=beside)
    except UnreadableInput:
        if account.rejected:
            write_rejects(documents, beside)
        raise


def write_rejects(documents: RunDocuments, path: str | PathLike[str]) -> dict[str, int]:
    """Write the list of rejected rows, and count them by reason."""
    with Rejects(path) as rejects:
        for row in _rejects(documents) if documents.facts["rejected"] else ():
            rejects.add(row["file"], row["row"], row["reason"], row["detail"] or "", row["sample"] or "")
    return dict(rejects.counts)


def _rejects(documents: RunDocuments, most: int | None = None) -> Iterator[Any]:
    """The rejected rows in the order of the inputs."""
    if sum(documents.facts["rejected"].values()) <= _FEW:
        found = documents.rejects().toArrow().to_pylist()
        found.sort(key=lambda row: (row["file"], row["row"] is None, row["row"]))
        return iter(found[:most])
    rows = documents.rejects().orderBy("file", F.col("row").asc_nulls_last())
    return iter(rows.toLocalIterator() if most is None else rows.limit(most).collect())
