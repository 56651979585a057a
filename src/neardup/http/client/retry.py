"""When a request is sent again, and when it is given up."""

from __future__ import annotations

import random
from dataclasses import dataclass

from neardup.errors import ConfigError, NeardupError
from neardup.values.checks import check_fields, checked_methods

__all__ = ["UNAVAILABLE", "Retry", "ServiceError"]

AGAIN = frozenset({408, 429, 502, 503, 504})
UNAVAILABLE = frozenset({502, 503, 504})  # no answer of the service itself, or it is starting or stopping


class ServiceError(NeardupError):
    """The service refused a request, or could not be reached (status 0)."""

    def __init__(self, status: int, reason: str, request_id: str | None = None) -> None:
        self.status, self.reason, self.request_id = status, reason, request_id
        super().__init__(f"{reason} ({status})" if status else reason)

    @property
    def unavailable(self) -> bool:
        """Whether the service was not there to answer, so that the same request may succeed later."""
        return self.status == 0 or self.status in UNAVAILABLE


@checked_methods
@dataclass(frozen=True)
class Retry:
    """How often a request is sent again, at most `times`, and after which pauses.

    The first pause is `first` seconds; each further one is twice as long, at most `longest` seconds. Pauses are
    random, so that many clients do not come back at once. `Retry-After` of the service is followed up to `longest`.

    All requests may be sent twice: a document that comes again under its id replaces itself and never matches itself.
    """

    times: int = 5
    first: float = 0.1
    longest: float = 5.0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.times < 0 or not 0 <= self.first <= self.longest:
            raise ConfigError("a retry has times >= 0 and 0 <= first <= longest seconds")

    def pause(self, attempt: int, status: int, after: str | None) -> float | None:
        """Seconds until the next attempt, counted from 0; None if there is to be none. Status 0: no answer at all."""
        if attempt >= self.times or (status and status not in AGAIN):
            return None
        wait: float = min(self.longest, self.first * 2**attempt) * random.uniform(0.5, 1.0)
        if after is not None and after.isdigit():
            wait = max(wait, min(float(after), self.longest))
        return wait
