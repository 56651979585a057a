"""Many documents in one request: NDJSON, one document a line."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs

import msgspec

from neardup.errors import NeardupError
from neardup.service.limits import Refused
from neardup.service.opening import Opening
from neardup.service.replies import JSON, NDJSON, Call, Reply
from neardup.service.schemas import Bulk, DocumentRequest, Problem, RejectedLine, SeenAnswer, decode_document

__all__ = ["BulkRoute"]

NAMED_REJECTS = 100
AT_ONCE = 1000  # documents written at once
TURN = 1 << 18  # bytes decoded before others have their turn on the event loop
encoder = msgspec.json.Encoder()


class BulkRoute:
    """`POST /v1/documents` with lines; one document as JSON is left to the framework."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    async def __call__(self, call: Call) -> Reply | None:
        if call.kind.split(b";")[0].strip().lower() not in (NDJSON, b"application/jsonl"):
            return None
        given = parse_qs(call.query.decode("latin-1")).get("answers", ["false"])[-1]
        if given not in ("true", "false"):
            raise Refused(422, "answers is true or false")
        return await _put_lines(call.body, self._opening, call.request_id, answers=given == "true")


async def _put_lines(body: bytes, opening: Opening, request_id: str, *, answers: bool) -> Reply:
    """Take every line that can be taken; those that cannot are named by their number, from 1."""
    engine = opening.engine()
    lines = body.split(b"\n")
    if lines and not lines[-1].strip():
        lines.pop()
    if len(lines) > engine.limits.documents:
        raise Refused(413, f"{len(lines):,} lines; at most {engine.limits.documents:,} are taken at once")
    found: list[SeenAnswer | BaseException] = []
    writing: asyncio.Task[list[SeenAnswer | BaseException]] | None = None
    for start in range(0, len(lines), AT_ONCE):
        part = await _decoded(lines[start : start + AT_ONCE])
        # One part is decoded here while the one before it is written elsewhere.
        before, writing = writing, asyncio.create_task(engine.put_all(part))
        if before is not None:
            found += await before
    if writing is not None:
        found += await writing
    new = sum(1 for one in found if isinstance(one, SeenAnswer) and one.new)
    rejected = [(number, one) for number, one in enumerate(found, 1) if not isinstance(one, SeenAnswer)]
    taken = len(found) - len(rejected)
    opening.metrics.remembered(new, taken - new)
    if answers:
        said = [
            one if isinstance(one, SeenAnswer) else Problem(_reason(one, opening), request_id)
            for one in found
        ]
        return Reply(200, encoder.encode_lines(said), NDJSON)
    named = [RejectedLine(number, _reason(one, opening)) for number, one in rejected[:NAMED_REJECTS]]
    return Reply(200, encoder.encode(Bulk(taken, new, taken - new, len(rejected), named)), JSON)


async def _decoded(lines: list[bytes]) -> list[DocumentRequest | BaseException]:
    found, size = [], 0
    for line in lines:
        found.append(_document(line))
        size += len(line)
        if size > TURN:
            size = 0
            await asyncio.sleep(0)
    return found


def _document(line: bytes) -> DocumentRequest | BaseException:
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
