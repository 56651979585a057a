"""Many documents in one request: NDJSON, one document a line."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import msgspec

from neardup.errors import NeardupError
from neardup.index.answers import Answers, Seen
from neardup.service.intake import FEW
from neardup.service.limits import Refused
from neardup.service.opening import Opening
from neardup.service.replies import JSON, NDJSON, Call, Reply
from neardup.service.schemas import (
    Bulk,
    Line,
    Problem,
    RejectedLine,
    SeenAnswer,
    decode_document,
    decode_documents,
)
from neardup.service.seen import SeenRoute

__all__ = ["BulkRoute"]

NAMED_REJECTS = 100
TURN = 1 << 21  # bytes decoded in one go, before others have their turn on the event loop
TURN_LINES = 1000
encoder = msgspec.json.Encoder()


class BulkRoute:
    """`POST /v1/documents`: lines if they are said to be that, else one document as JSON."""

    def __init__(self, opening: Opening) -> None:
        self._opening, self._one = opening, SeenRoute(opening)

    async def __call__(self, call: Call) -> Reply:
        if call.kind.split(b";")[0].strip().lower() not in (NDJSON, b"application/jsonl"):
            return (await self._one(call))._replace(status=201)
        given = parse_qs(call.query.decode("latin-1")).get("answers", ["false"])[-1]
        if given not in ("true", "false"):
            raise Refused(422, "answers is true or false")
        return await _put_lines(call.body, self._opening, call.request_id.decode(), answers=given == "true")


async def _put_lines(body: bytes, opening: Opening, request_id: str, *, answers: bool) -> Reply:
    """Take every line that can be taken; those that cannot are named by their number, from 1."""
    engine = opening.engine()
    writing: list[asyncio.Task[Answers | list[Any]]] = []
    start = 0
    for ends in _parts(_line_ends(body, engine.limits.documents)):
        documents = await _decoded(body, start, ends)
        start = ends[-1] + 1
        writing.append(
            asyncio.create_task(engine.intake.put_lines(documents, writing[-1] if writing else None))
        )
        # One part is decoded here while one before it is read, and another written, elsewhere; not more, as each of
        # them holds its documents twice.
        if len(writing) > 2:
            await asyncio.wait({writing[-3]})
        await asyncio.sleep(0)
    found = await asyncio.gather(*writing, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return await _reply(found, opening, request_id, answers)


async def _reply(parts: list[Any], opening: Opening, request_id: str, answers: bool) -> Reply:
    new, taken, first = 0, 0, 1
    said: list[bytes] = []
    rejected: list[tuple[int, BaseException]] = []
    for part in parts:
        if isinstance(part, Answers):
            new, taken = new + int(part.new.sum()), taken + len(part)
        else:
            good = [one for one in part if isinstance(one, SeenAnswer)]
            new, taken = new + sum(one.new for one in good), taken + len(good)
            rejected += [(n, one) for n, one in enumerate(part, first) if not isinstance(one, SeenAnswer)]
        first += len(part)
        if answers:
            said.append(encoder.encode_lines([_said(one, opening, request_id) for one in part]))
        await asyncio.sleep(0)
    opening.metrics.remembered(new, taken - new)
    if answers:
        return Reply(200, b"".join(said), NDJSON)
    named = [RejectedLine(number, _reason(one, opening)) for number, one in rejected[:NAMED_REJECTS]]
    return Reply(200, encoder.encode(Bulk(taken, new, taken - new, len(rejected), named)), JSON)


def _said(one: Seen | SeenAnswer | BaseException, opening: Opening, request_id: str) -> SeenAnswer | Problem:
    if isinstance(one, BaseException):
        return Problem(_reason(one, opening), request_id)
    return SeenAnswer(*one) if isinstance(one, Seen) else one


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


def _parts(ends: list[int]) -> Iterator[list[int]]:
    """Stretches of lines, by where they end, so long that what is decoded in one go keeps nobody waiting."""
    first, start = 0, 0
    for line, end in enumerate(ends):
        if (end - start > TURN and line > first) or line - first >= TURN_LINES:
            yield ends[first:line]
            first, start = line, ends[line - 1] + 1
    if first < len(ends):
        yield ends[first:]


async def _decoded(body: bytes, start: int, ends: list[int]) -> list[Line | BaseException]:
    """The documents of lines. If every line end stands between two objects, and there are as many objects as lines,
    there is one on each line: they are decoded in one go. Otherwise each line is looked at by itself."""
    part = memoryview(body)[start : ends[-1]]
    if all(body[end - 1 : end + 2] == b"}\n{" for end in ends[:-1]):
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            found: list[Any] = decode_documents(part)
            if len(found) == len(ends):
                return found
    one_by_one: list[Line | BaseException] = []
    for line in bytes(part).split(b"\n"):
        one_by_one.append(_document(line))
        if len(one_by_one) % FEW == 0:
            await asyncio.sleep(0)
    return one_by_one


def _document(line: bytes) -> Line | BaseException:
    try:
        return decode_document(line)
    except RecursionError:
        return Refused(422, "this JSON is nested too deep")
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return Refused(422, str(error))


def _reason(error: BaseException, opening: Opening) -> str:
    if isinstance(error, NeardupError):
        error = opening.refusal(error)
        if error.status != 422:
            raise error
    if isinstance(error, Refused):
        return error.reason
    if isinstance(error, ValueError | RecursionError):
        return f"this document cannot be taken: {type(error).__name__}"
    raise error  # ours, not the client's: a full disk, say
