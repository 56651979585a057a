"""The index while the service runs: being opened, open, or closed."""

from __future__ import annotations

import errno
import sqlite3
from concurrent.futures import ThreadPoolExecutor

from neardup.errors import FormatError, NeardupError, SharedIndexError
from neardup.http.engine import Engine
from neardup.http.limits import Refused
from neardup.http.logs import log
from neardup.http.metrics import Metrics

__all__ = ["Service"]


class Service:
    """The index of a service, if it has one, and its counters. Requests may come before the index is open and are
    refused then. Without an index, texts can be tried and nothing else."""

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

    def close(self) -> None:
        """After the last request."""
        self.trying.shutdown(wait=True, cancel_futures=True)
        if self.ready is not None:
            self.ready.close()

    def explain(self, error: Exception) -> Refused | None:
        """The refusal for an error that was to be expected, or None."""
        if isinstance(error, NeardupError):
            return self.refusal(error)
        if isinstance(error, OSError | sqlite3.Error):
            # What was not acknowledged was not remembered, and may be sent again.
            logged = f"{type(error).__name__}: {error}"
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                return Refused(
                    507, "the disk of the index is full; what was acknowledged is safe", logged=logged
                )
            reason = "the index cannot be written or read at the moment; the logs say why"
            return Refused(503, reason, logged=logged)
        return None

    def refusal(self, error: NeardupError) -> Refused:
        """Mistakes of the client are named in full; of errors of the index it only learns that there are some."""
        folder = None if self.ready is None else str(self.ready.index.path)
        if isinstance(error, FormatError | SharedIndexError) or (folder is not None and folder in str(error)):
            log("trouble", reason=str(error))
            return Refused(503, "the index is in trouble; the logs say what it is")
        return Refused(422, str(error))
