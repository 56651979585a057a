"""The system of record: the tables of an index in one SQLite database (docs/reference/format.md, "Index")."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.index.local.row_checks import (
    BODY,
    HEAD,
    Head,
    Whole,
    body_digests,
    change_digests,
    checked_changes,
    checked_heads,
    checked_wholes,
    damaged,
    head_digests,
    settings_digest,
)
from neardup.index.local.sqlite_file import COUNTERS, TOTAL, VERSION, SqliteFile, size_of

__all__ = ["VERSION", "Database", "integers", "size_of"]

T = TypeVar("T", Head, Whole)
INSERTED_AT_ONCE = (64, 8, 1)  # documents in one statement; a statement is prepared once for each size


def integers(rows: Iterable[int] | NDArray[np.int64]) -> str:
    """Row numbers as one parameter of a statement."""
    return json.dumps(rows.tolist() if isinstance(rows, np.ndarray) else list(rows))


@functools.cache
def _marks(shared: int, own: int, lines: int) -> str:
    """The placeholders of parameters: the first `shared` are the same on every line, the others differ."""
    first = [f"?{n}" for n in range(1, shared + 1)]
    return ", ".join(
        f"({', '.join([*first, *(f'?{shared + line * own + n}' for n in range(1, own + 1))])})"
        for line in range(lines)
    )


class Database(SqliteFile):
    """The settings, counters, documents and changes of an index. Every value is checked before it is given out."""

    def settings(self) -> dict[str, Any]:
        """The settings. FormatError if they do not fit their digest."""
        found = dict(self.all("SELECT name, value FROM settings"))
        if self.digested and found.pop("digest", None) != settings_digest(found):
            raise damaged(self.path, "the settings do not fit their digest")
        return found

    def set(self, settings: dict[str, Any]) -> None:
        """Store all settings of a new index."""
        every = settings | {"digest": settings_digest(settings)}
        self.run_all("INSERT OR REPLACE INTO settings VALUES (?, ?)", every.items())

    def counters(self) -> dict[str, int]:
        """The counters. FormatError if they contradict each other."""
        found = dict(self.all("SELECT name, value FROM counters"))
        names = {*COUNTERS, TOTAL} if self.digested else {*COUNTERS}
        if found.keys() != names or any(type(value) is not int or value < 0 for value in found.values()):
            raise damaged(self.path, "the counters are not those of an index")
        total = sum(found[name] for name in COUNTERS)
        if found.pop(TOTAL, total) != total or not found["followers"] <= found["documents"] <= found["rows"]:
            raise damaged(self.path, "the counters contradict each other")
        return found

    def count(self, **by: int) -> None:
        """Add to counters."""
        given = {name: int(by[name]) for name in sorted(by) if by[name]}
        if not given:
            return
        if self.digested:
            given[TOTAL] = sum(given.values())
        cases = " ".join(f"WHEN '{name}' THEN ?" for name in given)
        names = ", ".join(f"'{name}'" for name in given)
        self.run(
            f"UPDATE counters SET value = value + CASE name {cases} END WHERE name IN ({names})",
            tuple(given.values()),
        )

    def insert(self, columns: Mapping[str, Sequence[Any]], same: Mapping[str, int | None]) -> None:
        """Insert documents, column by column, and values that are the same for all. Every bound value costs time, so
        columns without a value are left out: this doubles the speed for fingerprints without contents. Each statement
        inserts many documents, because other threads may delay the end of each."""
        if self.digested:
            columns = {**columns, **_digests(columns, same)}
        given = {
            name: column for name, column in columns.items() if any(value is not None for value in column)
        }
        shared = {name: int(value) for name, value in same.items() if value is not None}
        lines = list(zip(*given.values(), strict=True))
        names, at = ", ".join([*shared, *given]), 0
        with self._lock, self.errors():
            for size in INSERTED_AT_ONCE:
                if len(lines) - at < size:
                    continue
                values = _marks(len(shared), len(given), size)
                statement = f"INSERT INTO documents ({names}) VALUES {values}"
                while len(lines) - at >= size:
                    flat = itertools.chain(shared.values(), *lines[at : at + size])
                    self._connection.execute(statement, tuple(flat))
                    at += size

    def change_heads(self, heads: Sequence[Head]) -> None:
        """Give rows another keeper and other times; the other columns are not changed."""
        digests = f", head = ?{7}" if self.digested else ""
        made: Sequence[int] = head_digests(heads) if self.digested else ()
        self.run_all(
            "UPDATE documents SET keeper = ?2, distance = ?3, similarity = ?4, added = ?5, expires = ?6"
            f"{digests} WHERE row = ?1",
            [
                (
                    head.row,
                    head.keeper,
                    head.distance,
                    head.similarity,
                    head.added,
                    head.expires,
                    *made[at : at + 1],
                )
                for at, head in enumerate(heads)
            ],
        )

    def heads_between(self, first: int, last: int, size: int = 50_000) -> Iterator[list[Head]]:
        """The small columns of rows first to last - 1, in order, `size` row numbers at a time."""
        for start, stop, lines in self._between(self._head_columns, first, last, size):
            yield self._in_order(checked_heads(self.path, lines, self.digested), start, stop)

    def wholes_between(self, first: int, last: int, size: int) -> Iterator[list[Whole]]:
        """All columns of rows first to last - 1, in order, `size` row numbers at a time."""
        for start, stop, lines in self._between(self._whole_columns, first, last, size):
            yield self._in_order(checked_wholes(self.path, lines, self.digested), start, stop)

    def wholes_from(self, first: int, most: int) -> list[Whole]:
        """All columns of the next rows, from `first` on, in order."""
        lines = self.all(
            f"SELECT {self._whole_columns} FROM documents WHERE row >= ? ORDER BY row LIMIT ?", (first, most)
        )
        return self._in_order(checked_wholes(self.path, lines, self.digested), first, 1 << 63)

    def heads(self, rows: Iterable[int] | NDArray[np.int64]) -> list[Head]:
        """The small columns of those rows that exist, in the order of rows."""
        return self._sorted(checked_heads(self.path, self._of_rows(self._head_columns, rows), self.digested))

    def wholes(self, rows: Iterable[int] | NDArray[np.int64]) -> list[Whole]:
        """All columns of those rows that exist, in the order of rows."""
        return self._sorted(
            checked_wholes(self.path, self._of_rows(self._whole_columns, rows), self.digested)
        )

    def followers(self, keepers: Iterable[int] | NDArray[np.int64]) -> list[Head]:
        """The small columns of all rows that follow one of these keepers, in the order of rows."""
        lines = self.all(
            f"SELECT {self._head_columns} FROM documents WHERE keeper IN (SELECT value FROM json_each(?)) "
            "AND keeper <> row",
            (integers(keepers),),
        )
        return self._sorted(checked_heads(self.path, lines, self.digested))

    def stored_bytes(self, rows: Iterable[int]) -> int:
        """Bytes of meta and content of rows, as they are stored; SQLite knows them without reading the values."""
        lines = self._of_rows("ifnull(length(meta), 0) + ifnull(length(content), 0)", rows)
        return sum(line[0] for line in lines)

    def sizes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same of each row; 0 for one that does not exist."""
        lines = dict(self._of_rows("row, ifnull(length(meta), 0) + ifnull(length(content), 0)", rows))
        return np.array([lines.get(row, 0) for row in rows.tolist()], np.int64)

    def count_followers(self, keeper: int) -> int:
        """How many rows follow a keeper."""
        found = self.all("SELECT count(*) FROM documents WHERE keeper = ? AND keeper <> row", (keeper,))
        return int(found[0][0])

    def contents(self, rows: NDArray[np.int64]) -> dict[int, tuple[bytes | None, bytes | None]]:
        """Fingerprint and content of those rows that exist."""
        return {line.row: (line.fingerprint, line.content) for line in self.wholes(rows)}

    def ids(self, rows: NDArray[np.int64]) -> dict[int, str]:
        """The ids of those rows that exist."""
        return {head.row: head.id for head in self.heads(np.unique(rows))}

    def changes(self, after: int, rows: int) -> list[tuple[int, int | None]]:
        """(row, keeper) of the changes of the first `rows` rows in the log, in their order."""
        digest = ", digest" if self.digested else ""
        lines = self.all(
            f"SELECT sequence, row, keeper{digest} FROM changes WHERE sequence > ? ORDER BY sequence",
            (after,),
        )
        found = checked_changes(self.path, lines, self.digested)
        counts = self.counters()
        if len(found) != counts["sequence"] - max(after, counts["pruned"]):
            raise damaged(self.path, "changes are missing from the log")
        return [line for line in found if line[0] < rows]

    def log_changes(self, lines: Sequence[tuple[int, int, int | None]]) -> None:
        """Add (sequence, row, keeper) to the log."""
        if self.digested:
            made = change_digests(lines)
            self.run_all(
                "INSERT INTO changes VALUES (?,?,?,?)",
                [(*line, digest) for line, digest in zip(lines, made, strict=True)],
            )
        else:
            self.run_all("INSERT INTO changes VALUES (?,?,?)", lines)

    @property
    def _head_columns(self) -> str:
        return f"{HEAD}, head" if self.digested else HEAD

    @property
    def _whole_columns(self) -> str:
        return f"{HEAD}, {BODY}, head, body" if self.digested else f"{HEAD}, {BODY}"

    def _between(
        self, columns: str, first: int, last: int, size: int
    ) -> Iterator[tuple[int, int, list[Any]]]:
        for start in range(first, last, size):
            stop = min(start + size, last)
            yield (
                start,
                stop,
                self.all(
                    f"SELECT {columns} FROM documents WHERE row >= ? AND row < ? ORDER BY row", (start, stop)
                ),
            )

    def _of_rows(self, columns: str, rows: Iterable[int] | NDArray[np.int64]) -> list[Any]:
        return self.all(
            f"SELECT {columns} FROM documents WHERE row IN (SELECT value FROM json_each(?))",
            (integers(rows),),
        )

    def _sorted(self, found: list[T]) -> list[T]:
        """Documents in the order of their rows; FormatError if a row is there twice."""
        return self._in_order(sorted(found, key=lambda line: line.row), 0, 1 << 63)

    def _in_order(self, found: list[T], first: int, last: int) -> list[T]:
        """FormatError unless rows ascend: a damaged page may give the same rows again and again."""
        before = first - 1
        for line in found:
            if not before < line[0] < last:
                raise damaged(self.path, f"row {line[0]} is not where it should be")
            before = line[0]
        return found


def _digests(
    columns: Mapping[str, Sequence[Any]], same: Mapping[str, int | None]
) -> dict[str, Sequence[Any]]:
    """The two columns of digests for documents to be inserted."""
    count = len(columns["row"])
    added, expires = (columns.get(name) or [same[name]] * count for name in ("added", "expires"))
    heads = zip(
        columns["row"], columns["id"], columns["keeper"], columns["distance"], columns["similarity"],
        added, expires, columns["print"], strict=True,
    )  # fmt: skip
    bodies = zip(columns["row"], columns["meta"], columns["content"], strict=True)
    return {"head": head_digests(heads), "body": body_digests(bodies)}
