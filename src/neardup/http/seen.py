"""`POST /v1/seen` and `/v1/search`, the hottest routes: from bytes to bytes without the framework in between."""

from __future__ import annotations

import msgspec

from neardup.errors import NeardupError
from neardup.http.lifecycle import Opening
from neardup.http.limits import Refused
from neardup.http.responses import JSON, Call, Reply
from neardup.http.schemas import decode_document, decode_search

__all__ = ["SearchRoute", "SeenRoute"]

encode = msgspec.json.Encoder().encode


class SeenRoute:
    """Decodes one document, puts it into the next batch, and answers."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    async def __call__(self, call: Call) -> Reply:
        engine = self._opening.engine()
        with refusing(self._opening):
            answer = await engine.intake.seen(decode_document(call.body))
        self._opening.metrics.remembered(int(answer.new), int(not answer.new))
        return Reply(200, encode(answer), JSON)


class SearchRoute:
    """Decodes one question, puts it into the next batch, and answers."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    async def __call__(self, call: Call) -> Reply:
        engine = self._opening.engine()
        with refusing(self._opening):
            answer = await engine.search(decode_search(call.body))
        return Reply(200, encode(answer), JSON)


class refusing:
    """What is wrong with a body as a refusal. Not a generator, which would take longer than all the rest here."""

    __slots__ = ("_opening",)

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if isinstance(error, msgspec.DecodeError):
            raise Refused(422, str(error)) from None
        if isinstance(error, RecursionError):
            raise Refused(422, "this JSON is nested too deep") from None
        if isinstance(error, UnicodeDecodeError):
            raise Refused(422, "the body is not UTF-8") from None
        if isinstance(error, NeardupError):
            raise self._opening.refusal(error) from None
