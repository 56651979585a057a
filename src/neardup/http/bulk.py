"""Many documents in one request: NDJSON, one document a line."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from neardup.errors import NeardupError
from neardup.http.lifecycle import Service
from neardup.http.limits import Refused
from neardup.http.lines import line_parts
from neardup.http.routes import NDJSON, Reply, Request
from neardup.http.schemas import Bulk, BulkParameters, Problem, RejectedLine, SeenAnswer
from neardup.index.answers import Answers, Seen

__all__ = ["BulkAdd"]

NAMED_REJECTS = 100
encoder = msgspec.json.Encoder()


class BulkAdd:
    """`POST /v1/documents` with lines."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def add_lines(self, request: Request[bytes]) -> Reply:
        """Remember many documents, one a line."""
        wanted: BulkParameters = request.query
        return await _put_lines(request.body, self._service, request.request_id, answers=wanted.answers)


async def _put_lines(body: bytes, service: Service, request_id: str, *, answers: bool) -> Reply:
    """Take every line that can be taken; those that cannot are named by their number, from 1."""
    engine = service.engine()
    writing: list[asyncio.Task[Answers | list[Any]]] = []
    try:
        for part in line_parts(body, engine.limits.documents):
            before = writing[-1] if writing else None
            writing.append(asyncio.create_task(engine.ingest.put_lines(part, before)))
            # One part is read while one before it is written; not many more, as each of them holds its documents twice.
            if len(writing) > 2:
                await asyncio.wait({writing[-3]})
                if writing[-3].exception() is not None:
                    break
            await asyncio.sleep(0)
        found = await asyncio.gather(*writing, return_exceptions=True)
    except BaseException:
        for task in writing:
            task.cancel()  # the client hung up: what is not being written is not begun
        raise
    for one in found:
        if isinstance(one, BaseException):
            raise service.refusal(one) if isinstance(one, NeardupError) else one
    return await _reply(found, service, request_id, answers)


async def _reply(parts: list[Any], service: Service, request_id: str, answers: bool) -> Reply:
    new, taken, first = 0, 0, 1
    lines: list[bytes] = []
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
            lines.append(encoder.encode_lines([_answer(one, service, request_id) for one in part]))
        await asyncio.sleep(0)
    service.metrics.remembered(new, taken - new)
    if answers:
        return Reply(200, b"".join(lines), NDJSON)
    named = [RejectedLine(number, _reason(one, service)) for number, one in rejected[:NAMED_REJECTS]]
    return Reply(200, encoder.encode(Bulk(taken, new, taken - new, len(rejected), named)))


def _answer(
    one: Seen | SeenAnswer | BaseException, service: Service, request_id: str
) -> SeenAnswer | Problem:
    if isinstance(one, BaseException):
        return Problem(_reason(one, service), request_id)
    return SeenAnswer(*one) if isinstance(one, Seen) else one


def _reason(error: BaseException, service: Service) -> str:
    if isinstance(error, NeardupError):
        error = service.refusal(error)
        if error.status != 422:
            raise error
    if isinstance(error, Refused):
        return error.reason
    if isinstance(error, ValueError | RecursionError):
        return f"this document cannot be taken: {type(error).__name__}"
    raise error  # ours, not the client's: a full disk, say
