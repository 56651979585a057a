"""What each route of the service does: take a checked request, ask the index, give the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from neardup.errors import NeardupError
from neardup.http.access import DEFAULT
from neardup.http.asgi import Application
from neardup.http.lifecycle import Service
from neardup.http.limits import Refused, RequestLimits
from neardup.http.metrics import CONTENT_TYPE_LATEST, Metrics, Shown, exposition
from neardup.http.routes import Reply, Request
from neardup.http.schemas import (
    ClusterAnswer,
    CollapseAnswer,
    CollapseRequest,
    CompareAnswer,
    CompareRequest,
    DocumentAnswer,
    DocumentRequest,
    IndexesAnswer,
    LiveAnswer,
    Removed,
    SearchAnswer,
    SearchRequest,
    SeenAnswer,
    ServedIndex,
    StateAnswer,
    StatsAnswer,
    TryRequest,
)
from neardup.http.trace import tried
from neardup.pipeline.trace import Trial
from neardup.version import __version__

__all__ = ["Documents", "Questions", "Watching", "WatchingAll"]


class Documents:
    """What is stored."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def seen(self, request: Request[DocumentRequest]) -> SeenAnswer:
        """Is this document new? It is remembered in the same step: of the same page sent twice, exactly one is new."""
        answer = await self._service.engine().ingest.seen(request.body)
        self._service.metrics.remembered(int(answer.new), int(not answer.new))
        return answer

    async def add(self, request: Request[DocumentRequest]) -> SeenAnswer:
        """Remember a document; it learns its keeper. Many at once come as `application/x-ndjson`, one document a line:
        the answer is then 200 with counts, or with `?answers=true` one answer a line."""
        return await self.seen(request)

    async def document(self, request: Request[None]) -> DocumentAnswer:
        """What is stored of a document."""
        found = await self._service.engine().get(request.id)
        if found is None:
            raise Refused(404, "there is no document of this id")
        return found

    async def remove(self, request: Request[None]) -> Removed:
        """Forget a document. A cluster whose keeper is removed gets a new one."""
        count = await self._service.engine().remove(request.id)
        if not count:
            raise Refused(404, "there is no document of this id")
        return Removed(count)

    async def cluster(self, request: Request[None]) -> ClusterAnswer:
        """The cluster of a document: its keeper and all that follow it."""
        found = await self._service.engine().cluster(request.id)
        if found is None:
            raise Refused(404, "there is no document of this id")
        return found


class Questions:
    """What can be asked without being remembered."""

    def __init__(self, service: Service, limits: RequestLimits) -> None:
        self._service, self._limits = service, limits

    async def search(self, request: Request[SearchRequest]) -> SearchAnswer:
        """The stored documents near a text, a page or a fingerprint, the best first; nothing is remembered."""
        return await self._service.engine().search(request.body)

    async def compare(self, request: Request[CompareRequest]) -> CompareAnswer:
        """Two texts by every measure; nothing is remembered."""
        return await self._service.engine().compare(request.body)

    async def collapse(self, request: Request[CollapseRequest]) -> CollapseAnswer:
        """A ranked list of results, near-duplicates folded under their first occurrence."""
        return await self._service.engine().collapse(request.body)

    async def try_(self, request: Request[TryRequest]) -> Trial:
        """One text or two through every stage, laid open for people: what the page at `/try` shows. Hashes have the
        public seed, not the index's own; nothing is remembered."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._service.trying, tried, request.body, self._limits)


class Watching:
    """How one index is doing."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.application: Application | None = None  # set when it is made: it is made of these handlers

    async def stats(self, request: Request[None]) -> StatsAnswer:
        """Sizes of the index."""
        return await self._service.engine().stats()

    async def live(self, request: Request[None]) -> LiveAnswer:
        """What the page at `/` shows: what was done since the start, how long it took, and the last hits. For a token
        that may not read the index, there is none."""
        assert self.application is not None and request.grant is not None
        counted, engine = self._service.metrics, self._service.ready
        state = "none" if not self._service.indexed else "opening" if engine is None else "ready"
        if not request.grant.may_read(counted.index):
            counted, engine, state = Metrics(), None, "none"
        return LiveAnswer(
            state="stopping" if self.application.draining else state,
            version=__version__,
            started=counted.started,
            now=time.time(),
            in_work=self.application.in_work - 1,  # this request is not what is asked about
            new=counted.new,
            duplicates=counted.duplicates,
            routes=counted.routes(),
            hits=[] if engine is None else engine.ingest.recent(),
            history=counted.history.moments(),
            index=None if engine is None else await engine.stats(),
        )


class WatchingAll:
    """How the process and all its indexes are doing."""

    def __init__(self, services: Sequence[Service]) -> None:
        self._services = services
        self.application: Application | None = None  # set when it is made: it is made of these handlers

    async def indexes(self, request: Request[None]) -> IndexesAnswer:
        """The indexes that the sender's token may read: where each is served, whether it is open and can be used, and
        whether the token may change it."""
        assert self.application is not None and request.grant is not None
        found = []
        for one in self._services:
            name = one.metrics.index
            if not one.indexed or not request.grant.may_read(name):
                continue
            try:
                await one.check()
                state = "ready"
            except (Refused, NeardupError, OSError):
                state = "opening" if one.ready is None else "unavailable"
            writes = request.grant.may_write(name) and not self.application.read_only
            found.append(
                ServedIndex(name or DEFAULT, f"/v1/indexes/{name}" if name else "/v1", state, writes)
            )
        return IndexesAnswer(found)

    async def health(self, request: Request[None]) -> StateAnswer:
        """The process is alive."""
        return StateAnswer("ok")

    async def ready(self, request: Request[None]) -> StateAnswer:
        """Every index is open and the service takes requests."""
        assert self.application is not None
        if self.application.draining:
            raise Refused(503, "the service is stopping")
        for service in [one for one in self._services if one.indexed] or self._services:
            await service.check()
        return StateAnswer("ready")

    async def metrics(self, request: Request[None]) -> Reply:
        """Counters in Prometheus' text format."""
        assert self.application is not None and request.grant is not None
        shown = [
            Shown(one.metrics, one.indexed, await one.sizes())
            for one in self._services
            if request.grant.may_read(one.metrics.index)
        ]
        return Reply(200, exposition(shown, self.application.in_work), CONTENT_TYPE_LATEST.encode())
