"""The routes, on Litestar, and the OpenAPI document it makes of them."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any
from urllib.parse import unquote

import msgspec
from litestar import Litestar, MediaType, Request, Response, delete, get, post
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, RequestBody, Schema
from litestar.params import Parameter

from neardup.errors import NeardupError
from neardup.http.bulk import BulkRoute
from neardup.http.lifecycle import Opening
from neardup.http.limits import Limits, Refused
from neardup.http.metrics import CONTENT_TYPE_LATEST, Metrics
from neardup.http.middleware import Gate
from neardup.http.schemas import (
    Bulk,
    ClusterAnswer,
    CollapseAnswer,
    CollapseRequest,
    CompareAnswer,
    CompareRequest,
    DocumentAnswer,
    DocumentRequest,
    LiveAnswer,
    Problem,
    Removed,
    SearchAnswer,
    SearchRequest,
    SeenAnswer,
    StateAnswer,
    StatsAnswer,
    TryRequest,
)
from neardup.http.seen import SearchRoute, SeenRoute
from neardup.http.trace import tried
from neardup.pages import PageFiles
from neardup.pages.files import TRY
from neardup.pipeline.trace import Trial
from neardup.version import __version__

__all__ = ["make_app"]

Id = Annotated[str, Parameter(description="percent-encoded, also its slashes", min_length=1)]


def _problems(*statuses: int) -> dict[int, ResponseSpec]:
    said = {
        400: "The request is broken",
        401: "The token is missing or wrong",
        403: "Not for pages in a browser",
        404: "There is no such document",
        408: "The body took too long",
        413: "The body is too large",
        415: "The body is packed or typed in a way that is not taken",
        422: "The content cannot be used",
        429: "Too much at once; try again",
        500: "Something went wrong inside",
        503: "Not ready yet, or stopping",
        507: "The disk is full",
    }
    always = (400, 401, 403, 413, 415, 422, 429, 500, 503, 507, 408)
    return {
        status: ResponseSpec(Problem, description=said[status], generate_examples=False)
        for status in sorted({*always, *statuses})
    }


def _opening(state: State) -> Opening:
    found: Opening = state.opening
    return found


@post("/v1/seen", status_code=200, responses=_problems())
async def seen(data: DocumentRequest, state: State) -> SeenAnswer:
    """Is this document new? It is remembered in the same step: of the same page sent twice, exactly one is new."""
    raise AssertionError("SeenRoute has answered")


@post("/v1/search", status_code=200, responses=_problems())
async def search(data: SearchRequest, state: State) -> SearchAnswer:
    """The stored documents near a text, a page or a fingerprint, the best first; nothing is remembered."""
    raise AssertionError("SearchRoute has answered")


@post(
    "/v1/documents",
    status_code=201,
    responses={**_problems(), 200: ResponseSpec(Bulk, generate_examples=False)},
)
async def add(data: DocumentRequest, state: State, answers: bool = False) -> SeenAnswer:
    """Remember a document; it learns its keeper. Many at once come as `application/x-ndjson`, one document a line: the
    answer is then 200 with counts, or with `?answers=true` one answer a line."""
    raise AssertionError("BulkRoute has answered")


@get("/v1/documents/{id:str}", responses=_problems(404))
async def document(id: Id, state: State) -> DocumentAnswer:
    """What is stored of a document."""
    found = await _opening(state).engine().get(unquote(id))
    if found is None:
        raise Refused(404, "there is no document of this id")
    return found


@delete("/v1/documents/{id:str}", status_code=200, responses=_problems(404))
async def remove(id: Id, state: State) -> Removed:
    """Forget a document. A cluster whose keeper goes gets a new one."""
    count = await _opening(state).engine().remove(unquote(id))
    if not count:
        raise Refused(404, "there is no document of this id")
    return Removed(count)


@get("/v1/clusters/{id:str}", responses=_problems(404))
async def cluster(id: Id, state: State) -> ClusterAnswer:
    """The cluster of a document: its keeper and all that follow it."""
    found = await _opening(state).engine().cluster(unquote(id))
    if found is None:
        raise Refused(404, "there is no document of this id")
    return found


@post("/v1/compare", status_code=200, responses=_problems())
async def compare(data: CompareRequest, state: State) -> CompareAnswer:
    """Two texts by every measure; nothing is remembered."""
    return await _opening(state).engine().compare(data)


@post("/v1/collapse", status_code=200, responses=_problems())
async def collapse(data: CollapseRequest, state: State) -> CollapseAnswer:
    """A ranked list of results, near-duplicates folded under their first occurrence."""
    return await _opening(state).engine().collapse(data)


@get("/v1/stats", responses=_problems())
async def stats(state: State) -> StatsAnswer:
    """Sizes of the index."""
    return await _opening(state).engine().stats()


@get("/v1/live", responses=_problems())
async def live(state: State) -> LiveAnswer:
    """What the page at `/` shows: what was done since the start, how long it took, and the last hits."""
    opening, counted = _opening(state), _opening(state).metrics
    engine = opening.ready
    told = "none" if not opening.indexed else "opening" if engine is None else "ready"
    return LiveAnswer(
        state="stopping" if state.gate.draining else told,
        version=__version__,
        started=counted.started,
        now=time.time(),
        in_work=state.gate.in_work - 1,  # this request is not what is asked about
        new=counted.new,
        duplicates=counted.duplicates,
        routes=counted.routes(),
        hits=[] if engine is None else engine.intake.recent(),
        index=None if engine is None else await engine.stats(),
    )


@post("/v1/try", status_code=200, responses=_problems())
async def try_(data: TryRequest, state: State) -> Trial:
    """One text or two through every stage, laid open for people: what the page at `/try` shows. Hashes have the public
    seed, not the index's own; nothing is remembered."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_opening(state).trying, tried, data, state.gate.limits)


@get("/v1/health")
async def health() -> StateAnswer:
    """The process is alive."""
    return StateAnswer("ok")


@get("/v1/ready", responses={503: ResponseSpec(Problem, generate_examples=False)})
async def ready(state: State) -> StateAnswer:
    """The index is open and the service takes requests."""
    if state.gate.draining:
        raise Refused(503, "the service is stopping")
    _opening(state).engine()
    return StateAnswer("ready")


@get("/metrics", media_type=MediaType.TEXT, responses=_problems())
async def metrics(state: State) -> Response[bytes]:
    """Counters in Prometheus' text format."""
    opening = _opening(state)
    opening.metrics.in_work = state.gate.in_work
    sizes = None if opening.ready is None else await opening.ready.stats()
    return Response(opening.metrics.text(sizes), media_type=CONTENT_TYPE_LATEST)


def _refuse(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """Every error in the one shape; what is not foreseen goes on to the gate, which logs it."""
    status, reason = 500, ""
    headers: dict[str, str] = {}
    if isinstance(error, Refused):
        raise error
    if isinstance(error, NeardupError):
        raise _opening(request.app.state).refusal(error) from None
    if isinstance(error, RecursionError):
        status, reason = 422, "this JSON is nested too deep"
    elif isinstance(error, UnicodeDecodeError):
        status, reason = 422, "the body is not UTF-8"
    elif isinstance(error, HTTPException):
        status, reason = error.status_code, error.detail
        if status == 400:
            sent = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
            status, reason = 422, _why(error) if sent else "JSON input is truncated: there is no body"
        headers = {k: v for k, v in (error.headers or {}).items() if k.lower() == "allow"}
    else:
        raise error
    return Response(
        Problem(reason, request.scope["state"].get("request_id", "")),
        status_code=status,
        media_type=MediaType.JSON,
        headers=headers,
    )


def _why(error: HTTPException) -> str:
    extra = error.extra if isinstance(error.extra, list) else []
    parts = [
        f"{one.get('key', '')}: {one.get('message', '')}".lstrip(": ")
        for one in extra
        if isinstance(one, dict)
    ]
    cause = error.__cause__ or error.__context__
    if isinstance(cause, RecursionError):
        return "this JSON is nested too deep"
    if not parts and isinstance(cause, msgspec.MsgspecError | UnicodeDecodeError):
        parts = [str(cause)]
    return "; ".join(parts)[:1000] or error.detail.split("\n")[0]


def _tell_of_lines(app: Litestar) -> None:
    """The framework knows one kind of body for a route; ours takes lines as well."""
    paths = app.openapi_schema.paths or {}
    operation = paths["/v1/documents"].post
    assert operation is not None and isinstance(operation.request_body, RequestBody)
    lines = Schema(type=OpenAPIType.STRING, description="one document a line, as JSON")
    operation.request_body.content["application/x-ndjson"] = OpenAPIMediaType(schema=lines)


def _pages(indexed: bool) -> PageFiles:
    if not indexed:
        return PageFiles({"/": "try.html", **TRY})
    return PageFiles({"/": "live.html", "/page/live.js": "live.js", **TRY})


def make_app(
    limits: Limits, *, token: str | None = None, logs_all: bool = False, indexed: bool = True
) -> tuple[Gate, Opening]:
    """The ASGI application, and the place where the index is put when it is open; `indexed=False`: none will be."""
    counted = Metrics()
    opening = Opening(counted, indexed=indexed)
    app = Litestar(
        [
            seen,
            search,
            add,
            document,
            remove,
            cluster,
            compare,
            collapse,
            stats,
            live,
            try_,
            health,
            ready,
            metrics,
        ],
        exception_handlers={Exception: _refuse},
        openapi_config=OpenAPIConfig(
            title="neardup",
            version=__version__,
            description="Have I seen this page? A live index of near-duplicates.",
            path="/v1",
            use_handler_docstrings=True,
            render_plugins=[JsonRenderPlugin()],  # the pages of other plugins load scripts from elsewhere
        ),
        state=State({"opening": opening}),
        request_max_body_size=None,
        logging_config=None,
        debug=False,
    )
    _tell_of_lines(app)
    quick = {
        "/v1/seen": SeenRoute(opening),
        "/v1/search": SearchRoute(opening),
        "/v1/documents": BulkRoute(opening),
    }
    gate = Gate(app, quick, limits, counted, pages=_pages(indexed), token=token, logs_all=logs_all)  # type: ignore[arg-type]
    app.state.gate = gate
    return gate, opening
