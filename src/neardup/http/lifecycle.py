"""The index while the service runs: being opened, open, or closed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from neardup.errors import FormatError, NeardupError, SharedIndexError
from neardup.http.engine import Engine
from neardup.http.limits import Refused
from neardup.http.logs import log
from neardup.http.metrics import Metrics

__all__ = ["Opening"]


class Opening:
    """Requests may come before the index is open; they are told so. Without an index to come, texts can be tried and
    nothing else."""

    def __init__(self, metrics: Metrics, *, indexed: bool = True) -> None:
        self.metrics, self.indexed = metrics, indexed
        self.ready: Engine | None = None
        self.trying = ThreadPoolExecutor(1, "try")  # seconds of work must not hold up searches

    def engine(self) -> Engine:
        if not self.indexed:
            raise Refused(503, "there is no index here; neardup serve INDEX serves one")
        if self.ready is None:
            raise Refused(503, "the index is being opened; try again in a moment")
        return self.ready

    def refusal(self, error: NeardupError) -> Refused:
        """What a client is told: its own mistakes in full, and of the index's troubles only that there are some."""
        folder = None if self.ready is None else str(self.ready.index.path)
        if isinstance(error, FormatError | SharedIndexError) or (folder is not None and folder in str(error)):
            log("trouble", reason=str(error))
            return Refused(503, "the index is in trouble; the logs say what it is")
        return Refused(422, str(error))
