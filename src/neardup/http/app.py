"""The service: its table of routes, and the application that serves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from neardup.http.access import Access, Grant
from neardup.http.asgi import Application
from neardup.http.bulk import BulkAdd
from neardup.http.handlers import Documents, Questions, Watching, WatchingAll
from neardup.http.lifecycle import Service, explained
from neardup.http.limits import RequestLimits
from neardup.http.metrics import CONTENT_TYPE_LATEST, Metrics
from neardup.http.openapi import openapi_document
from neardup.http.routes import Reply, Request, Route, encode
from neardup.http.schemas import (
    Bulk,
    BulkParameters,
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
    StateAnswer,
    StatsAnswer,
    TryRequest,
)
from neardup.pages import PageFiles
from neardup.pages.files import TRY
from neardup.pipeline.trace import Trial

__all__ = ["make_app"]

PLAIN = CONTENT_TYPE_LATEST.encode()


def _of_index(service: Service, limits: RequestLimits, watching: Watching) -> list[Route]:
    """What is served of one index."""
    stored, asked, bulk = Documents(service), Questions(service, limits), BulkAdd(service)
    name = service.metrics.index
    found = [
        Route("POST", "/v1/seen", stored.seen, body=DocumentRequest, answer=SeenAnswer, writes=True),
        Route("POST", "/v1/search", asked.search, body=SearchRequest, answer=SearchAnswer),
        Route(
            "POST",
            "/v1/documents",
            stored.add,
            body=DocumentRequest,
            answer=SeenAnswer,
            status=201,
            writes=True,
        ),
        Route(
            "POST",
            "/v1/documents",
            bulk.add_lines,
            body=DocumentRequest,
            lines=True,
            query=BulkParameters,
            answer=Bulk,
            slow=True,
            writes=True,
        ),
        Route("GET", "/v1/documents/{id}", stored.document, answer=DocumentAnswer, problems=(404,)),
        Route("DELETE", "/v1/documents/{id}", stored.remove, answer=Removed, problems=(404,), writes=True),
        Route("GET", "/v1/clusters/{id}", stored.cluster, answer=ClusterAnswer, problems=(404,)),
        Route("POST", "/v1/compare", asked.compare, body=CompareRequest, answer=CompareAnswer, slow=True),
        Route(
            "POST",
            "/v1/collapse",
            asked.collapse,
            body=CollapseRequest,
            answer=CollapseAnswer,
            slow=True,
            values=limits.values,
        ),
        Route("GET", "/v1/stats", watching.stats, answer=StatsAnswer),
        *([Route("GET", "/v1/live", watching.live, answer=LiveAnswer)] if name else []),
    ]
    problems = (404,) if name else ()  # for tokens that may not read this index
    return [
        replace(route, index=name, counts=service.metrics, problems=(*route.problems, *problems))
        for route in found
    ]


def _of_process(
    service: Service,
    limits: RequestLimits,
    unnamed: Watching,
    watching: WatchingAll,
    described: _Described,
) -> list[Route]:
    """What concerns no index, or all; and what pages ask for, whether there is an index for them or not."""
    asked = Questions(service, limits)
    return [
        Route("POST", "/v1/try", asked.try_, body=TryRequest, answer=Trial, slow=True),
        Route("GET", "/v1/live", unnamed.live, answer=LiveAnswer, counts=service.metrics),
        Route("GET", "/v1/indexes", watching.indexes, answer=IndexesAnswer),
        Route("GET", "/v1/health", watching.health, answer=StateAnswer, open=True),
        Route("GET", "/v1/ready", watching.ready, answer=StateAnswer, open=True, problems=(503,)),
        Route("GET", "/metrics", watching.metrics, kind=PLAIN, watches=True),
        Route("GET", "/v1/openapi.json", described.openapi, answer=dict[str, Any]),
    ]


class _Described:
    """The OpenAPI document, which is one of the routes that it describes."""

    def __init__(self) -> None:
        self.routes: Sequence[Route] = ()
        self._made: dict[Grant, bytes] = {}

    async def openapi(self, request: Request[None]) -> Reply:
        """This document: of the indexes that the sender's token may read."""
        assert request.grant is not None
        made = self._made.get(request.grant)
        if made is None:
            read = [route for route in self.routes if request.grant.may_read(route.index)]
            made = self._made[request.grant] = encode(openapi_document(read))
        return Reply(200, made)


def _pages(indexed: bool) -> PageFiles:
    shared = {"/docs": "docs.html", "/page/docs.js": "docs.js", **TRY}
    if not indexed:
        return PageFiles({"/": "try.html", **shared})
    return PageFiles({"/": "live.html", "/page/live.js": "live.js", **shared})


def make_app(
    limits: RequestLimits,
    *,
    access: Access | None = None,
    logs_all: bool = False,
    indexed: bool = True,
    named: Sequence[str] = (),
    read_only: bool = False,
) -> tuple[Application, dict[str, Service]]:
    """The application, and the places where indexes are put when they are open, by name. That of the index without a
    name is under ""; `indexed=False`: there will be none. With `read_only` nobody may change an index."""
    counted = Metrics()
    services = {"": Service(counted, indexed=indexed)}
    services |= {name: Service(Metrics(name)) for name in named}
    ours = [service for name, service in services.items() if name or indexed or not named]
    described, all_of_them = _Described(), WatchingAll(list(services.values()))
    each = {name: Watching(service) for name, service in services.items()}
    tables = [_of_index(service, limits, each[service.metrics.index]) for service in ours]
    process = _of_process(services[""], limits, each[""], all_of_them, described)
    described.routes = [*chain.from_iterable(tables), *process]
    application = Application(
        described.routes,
        limits,
        counted,
        access=access or Access(),
        pages=_pages(indexed),
        explain=lambda error: explained(error, services.values()),
        read_only=read_only,
        logs_all=logs_all,
    )
    all_of_them.application = application
    for watching in each.values():
        watching.application = application
    return application, services
