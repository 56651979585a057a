"""The live index as a list: every document compared with every keeper, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import neardup as nd

# What two documents have in common: (cost, distance, similarity), or None if they do not match.
Match = Callable[[Any, Any], tuple[float, int | None, float | None] | None]


@dataclass
class Line:
    row: int
    id: str
    content: Any  # None: an empty document
    keeper: int = -1
    distance: int | None = None
    similarity: float | None = None


class IndexModel:
    """Documents by row; each follows the best keeper it matched when it came, or when it lost its keeper."""

    def __init__(self, match: Match) -> None:
        self.match, self.lines, self.rows = match, {}, 0

    def seen(
        self, batch: Iterable[tuple[str, Any]]
    ) -> list[tuple[bool, str | None, int | None, float | None]]:
        answers, part, known = [], [], set()
        for id, content in batch:
            if id in known:
                answers += self._together(part)
                part, known = [], set()
            part.append((id, content))
            known.add(id)
        return answers + self._together(part)

    def _together(self, batch):
        ids = {id for id, _ in batch}
        orphans = self._take_out([line.row for line in self.lines.values() if line.id in ids])
        fresh = []
        for id, content in batch:
            line = Line(self.rows, id, content)
            self.rows += 1
            self._settle(line)
            self.lines[line.row] = line
            fresh.append(line)
        answers = [
            (line.keeper == line.row, None, None, None)
            if line.keeper == line.row
            else (False, self.lines[line.keeper].id, line.distance, line.similarity)
            for line in fresh
        ]
        for line in orphans:
            self._settle(line)
        return answers

    def remove(self, ids: Iterable[str]) -> int:
        wanted = set(ids)
        return self.drop([line.row for line in self.lines.values() if line.id in wanted])

    def drop(self, rows: list[int]) -> int:
        for line in self._take_out(rows):
            self._settle(line)
        return len(rows)

    def search(self, content: Any) -> list[tuple[str, int | None, float | None]]:
        found = []
        for line in self.lines.values():
            if (
                content is not None
                and line.content is not None
                and (hit := self.match(line.content, content))
            ):
                found.append((hit[0], line.row, (line.id, hit[1], hit[2])))
        return [entry for _, _, entry in sorted(found, key=lambda entry: entry[:2])]

    def keepers(self) -> dict[str, str]:
        return {line.id: self.lines[line.keeper].id for line in self.lines.values()}

    def _take_out(self, rows: list[int]) -> list[Line]:
        gone = set(rows)
        for row in gone:
            del self.lines[row]
        orphans = [line for line in self.lines.values() if line.keeper in gone]
        for line in orphans:
            line.keeper = -1
        return sorted(orphans, key=lambda line: line.row)

    def _settle(self, line: Line) -> None:
        line.keeper, line.distance, line.similarity = line.row, None, None
        if line.content is None:
            return
        best = None
        for other in self.lines.values():
            leads = other.keeper == other.row and other.row != line.row and other.content is not None
            hit = self.match(other.content, line.content) if leads else None
            if hit is not None and (best is None or (hit[0], other.row) < (best[0][0], best[1])):
                best = hit, other.row
        if best is not None:
            line.keeper, line.distance, line.similarity = best[1], best[0][1], best[0][2]


def near_codes(seed: int, count: int) -> nd.fingerprints.Codes:
    """Codes of which every third is a bit or two away from an earlier one."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, (count, 1), dtype=np.uint64)
    for row in range(3, count, 3):
        words[row] = words[rng.integers(0, row)] ^ np.uint64(1 << int(rng.integers(64)))
    return nd.fingerprints.Codes("bare64", np.zeros(count, bool), 64, words)


def of_codes(path: Path, **others) -> nd.Index:
    """An index of ready codes."""
    return nd.Index(
        path, nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3)), scheme="bare64", **others
    )


def answers(index: nd.Index, codes: nd.fingerprints.Codes) -> tuple:
    """All that can be asked of an index of codes."""
    return index.search_prints(codes), list(index.documents()), len(index)
