"""The lines of a bulk request: where they end, and the documents they hold, decoded many at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from neardup import _core
from neardup.http.limits import Refused
from neardup.http.schemas import DocumentRequest, decode_document, decode_documents

__all__ = ["FEW", "LinePart", "line_parts"]

TURN = 1 << 21  # bytes decoded in one go, before others have their turn on the event loop
TURN_LINES = 1000
FEW = 200  # documents looked at one by one before others have their turn on the event loop


class LinePart:
    """Lines of a body that follow each other: `ends` says where each ends, the first begins at `start`."""

    def __init__(self, body: bytes, start: int, ends: list[int]) -> None:
        self._body, self._start, self._ends = body, start, ends

    def __len__(self) -> int:
        return len(self._ends)

    def holds_texts(self) -> bool:
        """Whether the first line looks as if it is worth trying `texts`."""
        return self._body.find(b'"text"', self._start, self._ends[0]) >= 0

    def texts(self) -> tuple[list[str], _core.Texts] | None:
        """Ids and texts, if every line holds these two and nothing else; for a thread, as it leaves the interpreter
        to others while it reads. No Python string is made of a text."""
        found = _core.read_text_lines(np.frombuffer(self._part, np.uint8))
        if found is None or len(found[0]) != len(self):
            return None
        ids, data, begins, ends = found
        texts = _core.Texts()
        texts.add_spans(data, begins, ends)
        return ids, texts

    @property
    def _part(self) -> memoryview:
        return memoryview(self._body)[self._start : self._ends[-1]]

    async def documents(self) -> list[DocumentRequest | BaseException]:
        """What the lines hold, whatever it is. If every line end is between two objects, and there are as many
        objects as lines, there is one on each line: they are decoded in one go. Otherwise each line is looked at by
        itself."""
        part, body = self._part, self._body
        if all(body[end - 1 : end + 2] == b"}\n{" for end in self._ends[:-1]):
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                found: list[Any] = decode_documents(part)
                if len(found) == len(self):
                    return found
        one_by_one: list[DocumentRequest | BaseException] = []
        for line in bytes(part).split(b"\n"):
            one_by_one.append(_document(line))
            if len(one_by_one) % FEW == 0:
                await asyncio.sleep(0)
        return one_by_one


def line_parts(body: bytes, most: int) -> Iterator[LinePart]:
    """A body in parts so long that what is decoded in one go keeps nobody waiting; refused if it has more lines than
    `most`."""
    ends = _line_ends(body, most)
    first, start = 0, 0
    for line, end in enumerate(ends):
        if (end - start > TURN and line > first) or line - first >= TURN_LINES:
            yield LinePart(body, start, ends[first:line])
            first, start = line, ends[line - 1] + 1
    if first < len(ends):
        yield LinePart(body, start, ends[first:])


def _line_ends(body: bytes, most: int) -> list[int]:
    """Where each line ends; refused as soon as there are more of them than may be taken."""
    ends, at = [], -1
    while (at := body.find(b"\n", at + 1)) >= 0:
        ends.append(at)
        if len(ends) > most:
            break
    if body and not body.endswith(b"\n"):
        ends.append(len(body))
    if len(ends) > most:
        raise Refused(413, f"more than {most:,} lines; that many are taken at once")
    return ends


def _document(line: bytes) -> DocumentRequest | BaseException:
    try:
        return decode_document(line)
    except RecursionError:
        return Refused(422, "this JSON is nested too deep")
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return Refused(422, str(error))
