"""The service: its table of routes, and the application that serves it."""

from __future__ import annotations

from typing import Any

from neardup.http.access import Access
from neardup.http.asgi import Application
from neardup.http.bulk import BulkAdd
from neardup.http.handlers import Documents, Questions, Watching
from neardup.http.lifecycle import Service
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


def _table(service: Service, limits: RequestLimits, watching: Watching) -> list[Route]:
    """Everything that is served but the pages."""
    stored, asked, bulk = Documents(service), Questions(service, limits), BulkAdd(service)
    described = _Described()
    routes = [
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
        Route("POST", "/v1/try", asked.try_, body=TryRequest, answer=Trial, slow=True),
        Route("GET", "/v1/stats", watching.stats, answer=StatsAnswer),
        Route("GET", "/v1/live", watching.live, answer=LiveAnswer),
        Route("GET", "/v1/health", watching.health, answer=StateAnswer, open=True),
        Route("GET", "/v1/ready", watching.ready, answer=StateAnswer, open=True, problems=(503,)),
        Route("GET", "/metrics", watching.metrics, kind=PLAIN, watches=True),
        Route("GET", "/v1/openapi.json", described.openapi, answer=dict[str, Any]),
    ]
    described.document = encode(openapi_document(routes))
    return routes


class _Described:
    """The OpenAPI document, which is one of the routes that it describes."""

    document = b""

    async def openapi(self, request: Request[None]) -> Reply:
        """This document."""
        return Reply(200, self.document)


def _pages(indexed: bool) -> PageFiles:
    shared = {"/docs": "docs.html", "/page/docs.js": "docs.js", **TRY}
    if not indexed:
        return PageFiles({"/": "try.html", **shared})
    return PageFiles({"/": "live.html", "/page/live.js": "live.js", **shared})


def make_app(
    limits: RequestLimits,
    *,
    token: str | None = None,
    reader: str | None = None,
    logs_all: bool = False,
    indexed: bool = True,
    read_only: bool = False,
) -> tuple[Application, Service]:
    """The application, and the place where the index is put when it is open; `indexed=False`: none will be.
    `reader` is the token of those who may not change the index; with `read_only` nobody may."""
    counted = Metrics()
    service = Service(counted, indexed=indexed)
    watching = Watching(service)
    application = Application(
        _table(service, limits, watching),
        limits,
        counted,
        access=Access(token, reader, local=token is None),
        pages=_pages(indexed),
        explain=service.explain,
        read_only=read_only,
        logs_all=logs_all,
    )
    watching.application = application
    return application, service
