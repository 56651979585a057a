"""The routes of the review page, on the same HTTP stack as the service."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, Literal

import msgspec

from neardup.errors import NeardupError
from neardup.findings.decision_log import FindingsReplaced
from neardup.findings.decisions import Kind
from neardup.http.access import Access
from neardup.http.asgi import Application
from neardup.http.limits import Refused, RequestLimits
from neardup.http.metrics import Metrics
from neardup.http.routes import NDJSON, Reply, Request, Route
from neardup.http.schemas import TryRequest
from neardup.http.trace import tried
from neardup.pages.files import SAFE, TRY, PageFiles
from neardup.pages.review.bulk import BulkDecision, decide_many, preview
from neardup.pages.review.cluster_list import cluster_of, documents_of, list_clusters, members_of
from neardup.pages.review.compare import compare, rows_between
from neardup.pages.review.dry_run import dry_run, removal_records
from neardup.pages.review.export import exported
from neardup.pages.review.filters import Wanted
from neardup.pages.review.network import network_of
from neardup.pages.review.protected import protected_page, protected_records
from neardup.pages.review.session import OpenReview, Review
from neardup.pages.review.slots import slots_of
from neardup.pages.review.verdict import audit_next, judge, verdict_of
from neardup.pipeline.trace import Trial

__all__ = ["make_app"]

# Answers contain findings, so the browser must not store them.
HEADERS = (
    *((name, value) for name, value in SAFE if name != b"cache-control"),
    (b"cache-control", b"no-store"),
)
SCAN = b"x-neardup-scan"  # the scan whose findings a page shows
Json = dict[str, Any]


class DecisionRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A decision about two rows; `left` is kept."""

    decision: Kind
    left: int
    right: int
    name: str = ""
    note: str = ""


class AuditRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a person says of one removal."""

    row: int
    keeper: int
    lane: str
    verdict: Literal["right", "wrong", "unsure", "withdrawn"]
    name: str = ""


class BulkRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A decision about all undecided removals that a filter lists; without `expected` it is only previewed."""

    threshold: float
    action: str
    filter: Wanted
    keep: str = ""
    proposed: bool = False
    expected: int | None = None
    name: str = ""


class UndoRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Take back the decisions with these sequence numbers."""

    first: int
    last: int
    name: str = ""


class AtThreshold(msgspec.Struct):
    """Query parameters; the classes below add more."""

    threshold: float


class DryRunParameters(AtThreshold):
    offset: int = 0


class RemovalParameters(AtThreshold):
    format: str


class ProtectedParameters(AtThreshold):
    """Which documents to list; if a format is given, all of them are sent as a file."""

    offset: int = 0
    format: str = ""


class ClusterParameters(AtThreshold):
    row: int
    offset: int = 0
    limit: int = 100


class MemberParameters(AtThreshold):
    row: int


class PairParameters(AtThreshold):
    left: int
    right: int


class RowParameters(msgspec.Struct):
    left: int
    right: int
    start: int
    stop: int | None = None


@dataclass(frozen=True, kw_only=True)
class ListParameters(Wanted):
    threshold: float


@dataclass(frozen=True, kw_only=True)
class ExportParameters(ListParameters):
    format: str


class _Handlers:
    """The handlers of the routes. All run in threads: a cut of a million pairs must not block the event loop."""

    def __init__(self, open_review: OpenReview, limits: RequestLimits) -> None:
        self._open, self._limits = open_review, limits

    @property
    def _review(self) -> Review:
        return self._open.review

    def check_scan(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse a page that shows the findings of another scan: its row numbers mean other documents."""
        if headers.get(SCAN, b"") not in (b"", self._review.findings.scan_id.encode()):
            raise Refused(409, "Another scan has replaced these findings. Reload the page to see them.")

    def overview(self, request: Request[None]) -> Json:
        """The values that do not depend on the threshold. A page asks for them first, so that a page that is loaded
        again shows the findings as they are now."""
        self._open.reopen()
        return self._review.overview() | self._progress()

    def state(self, request: Request[None]) -> Json:
        """The number of decisions; pages poll it to see the decisions of other pages."""
        return self._progress()

    def _progress(self) -> Json:
        decisions = self._review.decisions()
        counts = {kind: 0 for kind in ("accept", "reject", "keep")}
        for decision in decisions:
            counts[decision.decision] += 1
        counts["unsure"] = len(decisions.marks)
        replaced = self._review.findings.replaced()
        return {
            "revision": decisions.revision,
            "decisions": len(decisions),
            "counts": counts,
            "replaced": replaced,
        }

    def figures(self, request: Request[None]) -> Json:
        return asdict(self._review.figures(request.query.threshold))

    def curve(self, request: Request[None]) -> Json:
        """The figures of all steps of the slider that are ready."""
        ready = self._review.ready()
        complete = len(ready) == len(self._review.steps)
        return {"figures": [asdict(one) for one in ready], "complete": complete}

    def clusters(self, request: Request[None]) -> Json:
        wanted: ListParameters = request.query
        return list_clusters(self._review.view(wanted.threshold, table=True), wanted)

    def export_list(self, request: Request[None]) -> Reply:
        """All documents of the listed clusters, as CSV or JSONL."""
        wanted: ExportParameters = request.query
        view = self._review.view(wanted.threshold, table=True)
        return exported(documents_of(view, wanted), wanted.format)

    def cluster(self, request: Request[None]) -> Json:
        asked: ClusterParameters = request.query
        view = self._review.view(asked.threshold, table=True)
        return cluster_of(self._review, view, asked.row, asked.offset, asked.limit)

    def slots(self, request: Request[None]) -> Json:
        asked: ClusterParameters = request.query
        return slots_of(
            self._review, self._review.view(asked.threshold, table=True), asked.row, max(0, asked.offset)
        )

    def network(self, request: Request[None]) -> Json:
        asked: MemberParameters = request.query
        return network_of(self._review, self._review.view(asked.threshold), asked.row)

    def members(self, request: Request[None]) -> Json:
        asked: MemberParameters = request.query
        return members_of(self._review, self._review.view(asked.threshold, table=True), asked.row)

    def compare(self, request: Request[None]) -> Json:
        asked: PairParameters = request.query
        return compare(self._review, self._review.view(asked.threshold), asked.left, asked.right)

    def rows(self, request: Request[None]) -> Json:
        asked: RowParameters = request.query
        return rows_between(self._review, asked.left, asked.right, asked.start, asked.stop)

    def decide(self, request: Request[DecisionRequest]) -> Json:
        """Save a decision; it is on disk before the answer is sent."""
        asked = request.body
        made = self._review.decide(asked.decision, asked.left, asked.right, asked.name, asked.note)
        return made.to_json() | self._progress()

    def bulk(self, request: Request[BulkRequest]) -> Json:
        """Preview or save decisions about many removals."""
        asked = request.body
        view = self._review.view(asked.threshold, table=True)
        bulk = BulkDecision(asked.filter, asked.action, asked.keep, asked.proposed, asked.name)
        if asked.expected is None:
            return preview(self._review, view, bulk)
        return decide_many(self._review, view, bulk, asked.expected) | self._progress()

    def undo(self, request: Request[UndoRequest]) -> Json:
        asked = request.body
        return {
            "taken_back": len(self._review.take_back(asked.first, asked.last, asked.name))
        } | self._progress()

    def dry_run(self, request: Request[None]) -> Json:
        """What `neardup apply` would do."""
        asked: DryRunParameters = request.query
        return dry_run(self._review.view(asked.threshold, table=True), asked.offset)

    def removals(self, request: Request[None]) -> Reply:
        """All removals as CSV or JSONL."""
        asked: RemovalParameters = request.query
        return exported(removal_records(self._review.view(asked.threshold, table=True)), asked.format)

    def protected(self, request: Request[None]) -> Json | Reply:
        """The documents that guards keep."""
        asked: ProtectedParameters = request.query
        view = self._review.view(asked.threshold)
        if asked.format:
            return exported(protected_records(view), asked.format)
        return protected_page(view, asked.offset)

    def verdict(self, request: Request[None]) -> Json:
        return verdict_of(self._review.view(request.query.threshold, table=True))

    def audit(self, request: Request[None]) -> Json:
        """The estimate and the next removal to judge."""
        return audit_next(self._review.view(request.query.threshold, table=True))

    def answer(self, request: Request[AuditRequest]) -> Json:
        """Save an answer of the audit; it is on disk before this one is sent."""
        asked = request.body
        judge(self._review, asked.row, asked.keeper, asked.lane, asked.verdict, asked.name)
        return self._progress()

    def export(self, request: Request[None]) -> Reply:
        """The decisions in force, as JSONL."""
        lines = self._review.decisions().to_jsonl()
        return Reply(200, lines.encode("utf-8", "surrogatepass"), NDJSON)

    def live(self, request: Request[None]) -> Json:
        """The page "Try it" uses this to find out which server it is on."""
        return {"state": "review"}

    def try_(self, request: Request[TryRequest]) -> Trial:
        return tried(request.body, self._limits)


def _table(handlers: _Handlers, executor: Executor) -> list[Route]:
    """All routes except the pages."""

    def route(method: str, path: str, call: Callable[[Request[Any]], Any], **more: Any) -> Route:
        async def run(request: Request[Any]) -> Any:
            return await asyncio.get_running_loop().run_in_executor(executor, call, request)

        return Route(method, path, run, **more)

    return [
        route("GET", "/api/overview", handlers.overview),
        route("GET", "/api/state", handlers.state),
        route("GET", "/api/figures", handlers.figures, query=AtThreshold),
        route("GET", "/api/curve", handlers.curve),
        route("GET", "/api/clusters", handlers.clusters, query=ListParameters, slow=True),
        route("GET", "/api/list", handlers.export_list, query=ExportParameters, slow=True),
        route("GET", "/api/cluster", handlers.cluster, query=ClusterParameters, slow=True),
        route("GET", "/api/slots", handlers.slots, query=ClusterParameters, slow=True),
        route("GET", "/api/network", handlers.network, query=MemberParameters, slow=True),
        route("GET", "/api/members", handlers.members, query=MemberParameters, slow=True),
        route("GET", "/api/compare", handlers.compare, query=PairParameters, slow=True),
        route("GET", "/api/rows", handlers.rows, query=RowParameters, slow=True),
        route("POST", "/api/decisions", handlers.decide, body=DecisionRequest),
        route("GET", "/api/decisions", handlers.export),
        route("POST", "/api/bulk", handlers.bulk, body=BulkRequest, slow=True),
        route("POST", "/api/undo", handlers.undo, body=UndoRequest),
        route("GET", "/api/dry-run", handlers.dry_run, query=DryRunParameters, slow=True),
        route("GET", "/api/removals", handlers.removals, query=RemovalParameters, slow=True),
        route("GET", "/api/protected", handlers.protected, query=ProtectedParameters, slow=True),
        route("GET", "/api/verdict", handlers.verdict, query=AtThreshold, slow=True),
        route("GET", "/api/audit", handlers.audit, query=AtThreshold, slow=True),
        route("POST", "/api/audit", handlers.answer, body=AuditRequest),
        route("GET", "/v1/live", handlers.live),
        route("POST", "/v1/try", handlers.try_, body=TryRequest, slow=True),
    ]


def _explain(error: Exception) -> Refused | None:
    """The refusal for an expected error, or None."""
    if isinstance(error, FindingsReplaced):
        return Refused(409, str(error))
    if isinstance(error, NeardupError):
        return Refused(422, str(error))
    if isinstance(error, OSError):  # the disk is full, or the findings folder is not writable
        place = f"{error.filename}: " if error.filename else ""
        reason = f"{place}{error.strerror or error}. Decisions that were not confirmed are not saved."
        return Refused(507 if error.errno == errno.ENOSPC else 503, reason)
    return None


def _page_files() -> PageFiles:
    folder = resources.files("neardup.pages").joinpath("static", "review")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith((".js", ".css")))
    return PageFiles(
        {"/": "review/index.html", **TRY, **{f"/review/{name}": f"review/{name}" for name in names}}
    )


def make_app(review: OpenReview, token: str, limits: RequestLimits, executor: Executor) -> Application:
    """The ASGI application. Everyone on this machine can get the files; only those who know the token can get findings
    and decisions.

    The token is sent in a header that no page of another origin can send, so a foreign page cannot act through the
    user's browser.
    """
    wanted = "open the address that `neardup review` printed: it contains the key to this page"
    handlers = _Handlers(review, limits)
    return Application(
        _table(handlers, executor),
        limits,
        Metrics(),
        access=Access(token, local=True, wanted=wanted, more=handlers.check_scan),
        pages=_page_files(),
        explain=_explain,
        headers=HEADERS,
    )
