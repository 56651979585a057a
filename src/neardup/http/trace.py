"""Texts through every stage, for the page that tries them."""

from __future__ import annotations

from neardup.http.limits import Refused, RequestLimits
from neardup.http.schemas import TryRequest
from neardup.pipeline.trace import Trial, trial

__all__ = ["tried"]


def tried(data: TryRequest, limits: RequestLimits) -> Trial:
    """The trial of one text or two, within the limits; it may take a second."""
    for text in (data.left, data.right or ""):
        if len(text) > limits.tried:
            raise Refused(413, f"a text to be tried has at most {limits.tried:,} characters")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refused(422, "a text is not well-formed Unicode") from None
    return trial(data.left, data.right, threshold=data.threshold)
