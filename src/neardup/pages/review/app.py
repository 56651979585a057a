"""The routes of the review page, on the service's own stack, and who may use them."""

from __future__ import annotations

import errno
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from importlib import resources
from typing import Any, Literal

import msgspec
from litestar import Litestar, MediaType, Request, Response, get, post
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException

from neardup.errors import NeardupError
from neardup.http.limits import Limits, Refused
from neardup.http.metrics import Metrics
from neardup.http.middleware import Gate
from neardup.http.schemas import TryRequest
from neardup.http.trace import tried
from neardup.pages.files import SAFE, TRY, PageFiles
from neardup.pages.review.cluster_list import Wanted, cluster_of, list_clusters
from neardup.pages.review.compare import compare
from neardup.pages.review.session import Review
from neardup.pipeline.trace import Trial

__all__ = ["make_app"]

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
GATES = frozenset({b"cache-control", b"x-content-type-options"})  # headers that the gate sets on all replies


class DecisionRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A decision about two rows; `left` stays."""

    decision: Literal["accept", "reject", "keep", "clear"]
    left: int
    right: int


def _review(state: State) -> Review:
    found: Review = state.review
    return found


# Plain functions run in threads: a cut of a million pairs must not hold up the event loop.


@get("/api/overview", sync_to_thread=True)
def overview(state: State) -> dict[str, Any]:
    review = _review(state)
    return review.overview() | _standing(review)


@get("/api/state", sync_to_thread=True)
def standing(state: State) -> dict[str, Any]:
    """How far the decisions have come; pages ask for it to see what other pages did."""
    return _standing(_review(state))


def _standing(review: Review) -> dict[str, Any]:
    decisions = review.decisions()
    counts = {kind: 0 for kind in ("accept", "reject", "keep")}
    for decision in decisions:
        counts[decision.decision] += 1
    return {"revision": decisions.revision, "decisions": len(decisions), "counts": counts}


@get("/api/figures", sync_to_thread=True)
def figures(state: State, threshold: float) -> dict[str, Any]:
    return asdict(_review(state).figures(threshold))


@get("/api/curve", sync_to_thread=True)
def curve(state: State) -> dict[str, Any]:
    """The figures of all steps of the slider that are ready."""
    review = _review(state)
    ready = review.ready()
    return {"figures": [asdict(one) for one in ready], "complete": len(ready) == len(review.steps)}


@get(
    "/api/clusters",
    sync_to_thread=True,
    dependencies={"wanted": Provide(Wanted, sync_to_thread=False)},  # its fields are what the query may say
)
def clusters(state: State, threshold: float, wanted: Wanted) -> dict[str, Any]:
    return list_clusters(_review(state).view(threshold, table=True), wanted)


@get("/api/cluster", sync_to_thread=True)
def cluster(state: State, threshold: float, row: int, offset: int = 0, limit: int = 100) -> dict[str, Any]:
    review = _review(state)
    return cluster_of(review, review.view(threshold, table=True), row, offset, limit)


@get("/api/compare", sync_to_thread=True)
def compared(state: State, threshold: float, left: int, right: int) -> dict[str, Any]:
    review = _review(state)
    return compare(review, review.view(threshold), left, right)


@post("/api/decisions", status_code=200, sync_to_thread=True)
def decide(state: State, data: DecisionRequest) -> dict[str, Any]:
    """Save a decision; it is on disk when this answers."""
    review = _review(state)
    made = review.decide(data.decision, data.left, data.right)
    return made.to_json() | _standing(review)


@get("/api/decisions", sync_to_thread=True)
def export(state: State) -> Response[bytes]:
    """The decisions in force, as JSONL."""
    told = _review(state).decisions().to_jsonl()
    return Response(told.encode("utf-8", "surrogatepass"), media_type="application/x-ndjson")


@get("/v1/live", sync_to_thread=False)
def live() -> dict[str, str]:
    """Tells the page that tries texts where it is."""
    return {"state": "review"}


@post("/v1/try", status_code=200, sync_to_thread=True)
def try_(state: State, data: TryRequest) -> Trial:
    return tried(data, state.limits)


def _refuse(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, str]]:
    """Every error as JSON with a reason; what is not foreseen goes on to the gate, which logs it."""
    if isinstance(error, HTTPException):
        status, reason = error.status_code, error.detail.split("\n")[0]
    elif isinstance(error, NeardupError):
        status, reason = 422, str(error)
    elif isinstance(error, RecursionError):
        status, reason = 422, "this JSON is nested too deep"
    elif isinstance(error, OSError):
        # The gate would speak of an index; here it is the findings folder that is full or may not be written.
        status = 507 if error.errno == errno.ENOSPC else 503
        place = f"{error.filename}: " if error.filename else ""
        reason = f"{place}{error.strerror or error}. What was not confirmed is not saved."
    else:
        raise error
    return Response({"reason": reason}, status_code=status, media_type=MediaType.JSON)


class _Guard:
    """Files for everyone who reaches this machine's loopback; findings and decisions only for who knows the token.

    The token comes in a header that no page of another origin can send, so there is nothing a foreign page could make
    the browser do in its owner's name.
    """

    def __init__(self, app: Any, files: PageFiles, token: str) -> None:
        self._app, self._files, self._token = app, files, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        file = self._files.reply(scope["method"], scope["path"], headers.get(b"if-none-match"))
        if file is not None:
            kept = [(name, value) for name, value in file.headers if name not in GATES]
            await send({"type": "http.response.start", "status": file.status, "headers": kept})
            await send({"type": "http.response.body", "body": file.body})
            return
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._token):
            raise Refused(
                401, "open the address that `neardup review` printed: it holds the key to this page"
            )

        async def safe(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                more = [(name, value) for name, value in SAFE if name not in GATES]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self._app(scope, receive, safe)


def _page_files() -> PageFiles:
    folder = resources.files("neardup.pages").joinpath("static", "review")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith((".js", ".css")))
    return PageFiles(
        {"/": "review/index.html", **TRY, **{f"/review/{name}": f"review/{name}" for name in names}}
    )


def make_app(review: Review, token: str, limits: Limits) -> Gate:
    """The ASGI application."""
    app = Litestar(
        [overview, standing, figures, curve, clusters, cluster, compared, decide, export, live, try_],
        exception_handlers={Exception: _refuse},
        openapi_config=None,
        state=State({"review": review, "limits": limits}),
        request_max_body_size=None,
        logging_config=None,
        debug=False,
    )
    return Gate(_Guard(app, _page_files(), token), {}, limits, Metrics())
