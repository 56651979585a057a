"""What could not be read: listed in a file, and counted by reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from os import PathLike
from tempfile import SpooledTemporaryFile
from types import TracebackType

from neardup.storage.atomic_file import AtomicFile
from neardup.values.checks import checked_methods

__all__ = ["Rejects"]

SAMPLE = 160
_HELD = 1 << 20  # bytes of held rejections that are kept in memory; more of them wait in a file
_TOGETHER = 256  # held rejections that are written at once
_Rejection = tuple[str, int | None, str, str, str]


@checked_methods
class Rejects:
    """A sink for rejected rows: `counts` by reason, and with a path one JSON line each.

    `skipped` counts what was passed over on purpose, such as images in a WARC; those get no lines.
    The file appears when the sink is closed without an error, empty if nothing was rejected.

    >>> import neardup as nd
    >>> rejects = nd.readers.Rejects()
    >>> documents = list(nd.read([{"text": "some words"}, {"text": True}], rejects=rejects).documents())
    >>> len(documents), dict(rejects.counts)
    (1, {'wrong type': 1})
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self._file = AtomicFile(path) if path is not None else None
        self._held: SpooledTemporaryFile[bytes] | None = None
        self._latest: list[_Rejection] = []  # held ones that are not in the file yet

    def add(
        self, file: str, row: int | None, reason: str, detail: str = "", sample: bytes | str = ""
    ) -> None:
        """Count one rejection. `reason` is one of few fixed phrases; `detail` describes this case."""
        self._take(file, row, reason, detail, sample)

    def _take(self, file: str, row: int | None, reason: str, detail: str, sample: bytes | str) -> None:
        text = sample[:SAMPLE]
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        if self._held is None:
            self._count(file, row, reason, detail, text)
            return
        self._latest.append((file, row, reason, detail, text))
        if len(self._latest) == _TOGETHER:
            self._write_held(self._held)

    def _write_held(self, held: SpooledTemporaryFile[bytes]) -> None:
        held.write(json.dumps(self._latest).encode("ascii") + b"\n")
        self._latest = []

    def _count(self, file: str, row: int | None, reason: str, detail: str, sample: str) -> None:
        self.counts[reason] += 1
        if self._file is not None:
            line: dict[str, object] = {"file": file, "row": row, "reason": reason}
            if detail:
                line["detail"] = detail[:SAMPLE]
            line["sample"] = sample
            self._file.write(json.dumps(line).encode("ascii") + b"\n")

    def hold(self) -> None:
        """Keep what is added from now on: rows that came before it are still to be judged, and rejections are listed in
        the order of rows."""
        self._held = SpooledTemporaryFile(_HELD)  # noqa: SIM115  (closed by `held`)

    def held(self) -> Iterator[int | None]:
        """End the holding. Each step adds one rejection that was held, in their order, after it gave the row."""
        held, self._held = self._held, None
        if held is None:
            return
        with held:
            self._write_held(held)
            held.seek(0)
            for line in held:
                for file, row, reason, detail, text in json.loads(line):
                    yield row
                    self._count(file, row, reason, detail, text)

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
