"""`POST /v1/seen`, the hottest route: from bytes to bytes without the framework in between."""

from __future__ import annotations

import msgspec

from neardup.errors import NeardupError
from neardup.service.limits import Refused
from neardup.service.opening import Opening
from neardup.service.replies import JSON, Call, Reply
from neardup.service.schemas import decode_document

__all__ = ["SeenRoute"]

encode = msgspec.json.Encoder().encode


class SeenRoute:
    """Decodes one document, puts it into the next batch, and answers."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    async def __call__(self, call: Call) -> Reply:
        engine = self._opening.engine()
        try:
            document = decode_document(call.body)
            answer = await engine.intake.seen(document)
        except msgspec.DecodeError as error:
            raise Refused(422, str(error)) from None
        except RecursionError:
            raise Refused(422, "this JSON is nested too deep") from None
        except UnicodeDecodeError:
            raise Refused(422, "the body is not UTF-8") from None
        except NeardupError as error:
            raise self._opening.refusal(error) from None
        self._opening.metrics.remembered(int(answer.new), int(not answer.new))
        return Reply(200, encode(answer), JSON)
