"""What could not be read: told one by one in a file, and counted by reason."""

from __future__ import annotations

import json
from collections import Counter
from os import PathLike
from types import TracebackType

from neardup.storage.atomic_file import AtomicFile

__all__ = ["Rejects"]

SAMPLE = 160


class Rejects:
    """A sink for rejected rows: `counts` by reason, and with a path one JSON line each.

    `skipped` counts what was passed over on purpose, such as images in a WARC; those get no lines.
    The file appears when the sink is closed without an error, empty if nothing was rejected.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self._file = AtomicFile(path) if path is not None else None

    def add(
        self, file: str, row: int | None, reason: str, detail: str = "", sample: bytes | str = ""
    ) -> None:
        """Count one rejection. `reason` is one of few fixed phrases; `detail` says what was special here."""
        self.counts[reason] += 1
        if self._file is not None:
            text = sample[:SAMPLE]
            if isinstance(text, bytes):
                text = text.decode("utf-8", "replace")
            line: dict[str, object] = {"file": file, "row": row, "reason": reason}
            if detail:
                line["detail"] = detail[:SAMPLE]
            line["sample"] = text
            self._file.write(json.dumps(line).encode("ascii") + b"\n")

    def skip(self, reason: str) -> None:
        self.skipped[reason] += 1

    @property
    def total(self) -> int:
        return self.counts.total()

    def close(self) -> None:
        if self._file is not None:
            self._file.commit()

    def __enter__(self) -> Rejects:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.__exit__(kind, error, trace)
