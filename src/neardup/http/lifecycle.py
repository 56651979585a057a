"""The index while the service runs: being opened, open, or closed."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from neardup.errors import FormatError, NeardupError, SharedIndexError
from neardup.http.engine import Engine
from neardup.http.limits import Refused
from neardup.http.logs import log
from neardup.http.metrics import Metrics
from neardup.http.schemas import StatsAnswer

__all__ = ["Service", "explained"]


class Service:
    """One index of a service, if it has one, and its counters. Requests may come before the index is open and are
    refused then. Without an index, texts can be tried and nothing else. The name of the index is that of the
    counters."""

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

    async def check(self) -> None:
        """Raise unless the index can be used: a server may be away, or have lost it."""
        engine = self.engine()
        if not isinstance(engine.index.path, Path):
            await engine.stats()

    async def sizes(self) -> StatsAnswer | None:
        """Sizes for the counters; None if the index is not open or its server is away."""
        try:
            return None if self.ready is None else await self.ready.watched_stats()
        except (NeardupError, OSError, sqlite3.Error):
            return None

    def close(self) -> None:
        """After the last request."""
        self.trying.shutdown(wait=True, cancel_futures=True)
        if self.ready is not None:
            self.ready.close()

    def refusal(self, error: NeardupError) -> Refused:
        """Mistakes of the client are named in full; of errors of the index it only learns that there are some."""
        folder = None if self.ready is None else str(self.ready.index.path)
        if isinstance(error, FormatError | SharedIndexError) or (folder is not None and folder in str(error)):
            log("trouble", reason=str(error))
            return Refused(503, "the index is in trouble; the logs say what it is")
        return Refused(422, str(error))


def explained(error: Exception, services: Collection[Service]) -> Refused | None:
    """The refusal for an error that was to be expected, or None."""
    if isinstance(error, NeardupError):
        found = None
        for service in services:  # the path of none of their indexes is for clients
            if (found := service.refusal(error)).status != 422:
                break
        return found
    if isinstance(error, OSError | sqlite3.Error):
        # What was not acknowledged was not remembered, and may be sent again.
        logged = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            return Refused(507, "the disk of the index is full; what was acknowledged is safe", logged=logged)
        reason = "the index cannot be written or read at the moment; the logs say why"
        return Refused(503, reason, logged=logged)
    return None
