"""The index while the service runs: being opened, open, or closed."""

from __future__ import annotations

from neardup.service.engine import Engine
from neardup.service.limits import Refused
from neardup.service.metrics import Metrics

__all__ = ["Opening"]


class Opening:
    """Requests may come before the index is open; they are told so."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self.ready: Engine | None = None

    def engine(self) -> Engine:
        if self.ready is None:
            raise Refused(503, "the index is being opened; try again in a moment")
        return self.ready
