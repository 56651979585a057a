"""Many documents in one request: NDJSON, one document a line."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs

import msgspec

from neardup.errors import NeardupError
from neardup.http.lifecycle import Opening
from neardup.http.limits import Refused
from neardup.http.lines import line_parts
from neardup.http.responses import JSON, NDJSON, Call, Reply
from neardup.http.schemas import Bulk, Problem, RejectedLine, SeenAnswer
from neardup.http.seen import SeenRoute
from neardup.index.answers import Answers, Seen

__all__ = ["BulkRoute"]

NAMED_REJECTS = 100
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
    for part in line_parts(body, engine.limits.documents):
        writing.append(asyncio.create_task(engine.intake.put_lines(part, writing[-1] if writing else None)))
        # One part is read while one before it is written; not many more, as each of them holds its documents twice.
        if len(writing) > 2:
            await asyncio.wait({writing[-3]})
            if writing[-3].exception() is not None:
                break
        await asyncio.sleep(0)
    found = await asyncio.gather(*writing, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise opening.refusal(one) if isinstance(one, NeardupError) else one
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
