"""The ASGI application: reads a request within the limits, finds its route, answers, counts and logs."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from neardup.http.access import Access, Grant, check_framing, check_single
from neardup.http.limits import Budget, LateTasks, Refused, RequestLimits, read_body, unpacked
from neardup.http.logs import log
from neardup.http.metrics import Metrics
from neardup.http.routes import Reply, Resource, Route, Routes, encode, not_allowed
from neardup.http.schemas import Problem
from neardup.pages import PageFiles
from neardup.pages.files import problem_page

__all__ = ["Application"]

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Headers = dict[bytes, bytes]
HeaderList = tuple[tuple[bytes, bytes], ...]

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
SLOW = 1.0  # seconds
HUNG_UP = 499  # what proxies log for a client that did not wait; nobody receives it
NOTHING = "there is nothing at this path"
ONLY_READS = "this token only reads; to change the index, send the token of those who write"
AGAIN = frozenset({429, 503, 507})  # statuses of refusals that a client may send again
ALWAYS: HeaderList = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Application:
    """Serves a table of routes and the files of pages.

    access     who may ask
    read_only  whether routes that change something are refused
    pages      files that anybody may read: they hold no data, and ask for it with the token
    headers    of every answer but files, which have their own
    explain    turns an exception of a handler into a refusal; None if nobody expected it
    logs_all   whether requests that went well are logged, too
    """

    def __init__(
        self,
        routes: Iterable[Route],
        limits: RequestLimits,
        metrics: Metrics,
        *,
        access: Access,
        pages: PageFiles,
        explain: Callable[[Exception], Refused | None],
        read_only: bool = False,
        headers: HeaderList = ALWAYS,
        logs_all: bool = False,
    ) -> None:
        self.routes, self.limits, self._metrics = Routes(routes), limits, metrics
        self._access, self._pages, self._explain = access, pages, explain
        self._headers, self._logs_all, self.read_only = headers, logs_all, read_only
        self._budget, self._late = Budget(limits.waiting_bytes), LateTasks(limits.body_seconds)
        self._prefix = secrets.token_hex(6)
        self._count = 0
        self._ended: asyncio.Future[None] | None = None
        self.in_work = 0
        self.draining = False

    def end(self) -> None:
        """Cancel slow requests: there is no time left for them."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1000})
            return
        start = time.perf_counter()
        path: str = scope["path"]
        headers = dict(scope["headers"])
        exchange = _Exchange(self._request_id(headers.get(b"x-request-id")))
        # The server drops a Content-Length beside it. A proxy that used that length sees another end of the body.
        exchange.last = b"transfer-encoding" in headers
        resource = self.routes.find(path)
        page = resource is None and path in self._pages.paths
        counted = not (page or (resource is not None and not resource.queued))
        self.in_work += counted
        try:
            try:
                reply = await self._answer(scope, headers, receive, resource, exchange)
            except Exception as error:
                reply = self._refusal(error, exchange)
                if resource is None and b"text/html" in headers.get(b"accept", b""):
                    reply = self._for_people(reply, error)
            exchange.status = reply.status
            if reply.status != HUNG_UP:
                await self._send(send, reply, exchange)
        finally:
            self._budget.give(exchange.held)
            self.in_work -= counted
            taken = time.perf_counter() - start
            named = "page" if page else "other" if resource is None else resource.path
            counted_by = self._metrics if resource is None else resource.counts or self._metrics
            counted_by.request(named, exchange.status, taken)
            if self._logs_all or exchange.status >= 400 or taken > SLOW:
                self._log(scope, exchange, taken)

    async def _answer(
        self,
        scope: Scope,
        headers: Headers,
        receive: Receive,
        resource: Resource | None,
        exchange: _Exchange,
    ) -> Reply:
        if len(headers) != len(scope["headers"]):
            check_single(scope["headers"])
        chunked = check_framing(headers)
        if resource is None:
            return self._page(scope, headers)
        grant = None
        if resource.queued:
            grant = self._admit(headers)
        elif not resource.open:
            grant = self._access.check(headers)
        if grant is not None and not grant.may_read(resource.index):
            raise Refused(404, NOTHING)  # nobody learns which indexes there are
        route = resource.route(scope["method"], headers.get(b"content-type"))
        if route.writes:
            self._check_write(grant, resource.index)
        body = b""
        declared = _length(headers)
        if route.body is not None or declared or chunked:
            body = await self._body(receive, headers, declared, exchange)
        id = "" if resource.prefix is None else resource.id(scope.get("raw_path") or scope["path"].encode())
        request = route.request(body, id, scope["query_string"], exchange.request_id, grant)
        if route.slow:
            return await self._unless_gone(route.reply(request), receive)
        return await route.reply(request)

    def _page(self, scope: Scope, headers: Headers) -> Reply:
        """A file, or the refusal of what is not here; who may not ask does not learn which it is."""
        method, path = scope["method"], scope["path"]
        if path not in self._pages.paths:
            self._admit(headers)
            raise Refused(404, NOTHING)
        self._access.check_page(headers)
        if method not in ("GET", "HEAD"):
            raise not_allowed("GET, HEAD")
        status, sent, body = self._pages.reply(method, path, headers.get(b"if-none-match"))
        return Reply(status, body, b"", tuple(sent))

    def _admit(self, headers: Headers) -> Grant:
        grant = self._access.check(headers)
        if self.draining:
            raise Refused(503, "the service is stopping")
        if self.in_work > self.limits.requests:
            raise Refused(429, f"{self.limits.requests:,} requests are in work; try again in a moment")
        return grant

    def _check_write(self, grant: Grant | None, index: str | None) -> None:
        if self.read_only:
            raise Refused(403, "this service only reads its index; send changes to the one that writes it")
        if grant is None or not grant.may_write(index):
            raise Refused(403, ONLY_READS)

    async def _body(self, receive: Receive, headers: Headers, declared: int, exchange: _Exchange) -> bytes:
        body = await read_body(receive, self.limits, self._budget, self._late, declared)
        exchange.held = len(body)
        packed = headers.get(b"content-encoding", b"").strip().lower()
        if packed in (b"identity", b""):
            return body
        if packed != b"gzip":
            raise Refused(415, "a body may be packed with gzip, and with nothing else")
        body = await asyncio.to_thread(unpacked, body, self.limits.body)
        if len(body) > exchange.held:
            self._budget.take(len(body) - exchange.held)
            exchange.held = len(body)
        return body

    async def _unless_gone(self, work: Awaitable[Reply], receive: Receive) -> Reply:
        """The answer of a slow route. Its work is cancelled if the client hangs up, the service stops or its time is
        over: what waits for a thread is not begun."""
        if self._ended is None:
            self._ended = asyncio.get_running_loop().create_future()
        answer, gone = asyncio.ensure_future(work), asyncio.ensure_future(_hung_up(receive))
        try:
            first: set[asyncio.Future[Any]] = {answer, gone, self._ended}
            await asyncio.wait(first, timeout=self.limits.answer_seconds, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            answer.cancel()
            await asyncio.wait({answer})
            if self._ended.done():
                raise Refused(503, "the service is stopping, and had no time left for this")
            if not gone.done():
                raise Refused(
                    503, f"no answer within {self.limits.answer_seconds:g} seconds: it is busy here"
                )
            raise Refused(HUNG_UP, "the client hung up before its answer was ready")
        finally:
            answer.cancel()
            gone.cancel()

    def _refusal(self, error: Exception, exchange: _Exchange) -> Reply:
        """Every error in the one shape."""
        refused = error if isinstance(error, Refused) else self._explain(error) or _decoding(error)
        if refused is None:
            reason = f"{type(error).__name__}: {error}"
            trace = "".join(traceback.format_exception(error))
            log("error", request_id=exchange.request_id, reason=reason, trace=trace[-4000:])
            refused = Refused(500, "something went wrong inside; the logs say what", logged=reason)
        exchange.reason = refused.logged
        headers = refused.headers
        if refused.status in AGAIN:
            headers = (*headers, (b"retry-after", b"1"))
        body = encode(Problem(refused.reason, exchange.request_id))
        return Reply(refused.status, body, headers=headers)

    def _for_people(self, reply: Reply, error: Exception) -> Reply:
        """A page in place of JSON: a person opened an address that is not here, or not for them."""
        reason = error.reason if isinstance(error, Refused) else "Something went wrong."
        status, headers, body = problem_page(reply.status, reason)
        return Reply(status, body, b"", tuple(headers))

    async def _send(self, send: Send, reply: Reply, exchange: _Exchange) -> None:
        headers: list[tuple[bytes, bytes]]
        if reply.kind:
            length = (b"content-length", b"%d" % len(reply.body))
            headers = [(b"content-type", reply.kind), length, *self._headers, *reply.headers]
        else:
            headers = [*reply.headers]
        headers.append((b"x-request-id", exchange.request_id.encode()))
        if self.draining or exchange.last:
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _request_id(self, given: bytes | None) -> str:
        if given is not None and REQUEST_ID.fullmatch(given):
            return given.decode()
        self._count += 1
        return f"{self._prefix}-{self._count}"

    @staticmethod
    def _log(scope: Scope, exchange: _Exchange, taken: float) -> None:
        log(
            "request",
            request_id=exchange.request_id,
            method=scope["method"],
            path=scope["path"],
            status=exchange.status,
            milliseconds=round(1000 * taken, 2),
            **({} if exchange.reason is None else {"reason": exchange.reason}),
        )


class _Exchange:
    """What is known of one request while it is served: bytes of its body, how it ended, and whether it is the last of
    its connection."""

    __slots__ = ("held", "last", "reason", "request_id", "status")

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.held, self.status, self.last = 0, 0, False
        self.reason: str | None = None


async def _hung_up(receive: Receive) -> None:
    """Return when the client closes its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _decoding(error: Exception) -> Refused | None:
    """What is wrong with a body."""
    if isinstance(error, msgspec.DecodeError):
        return Refused(422, str(error)[:1000])
    if isinstance(error, RecursionError):
        return Refused(422, "this JSON is nested too deep")
    if isinstance(error, UnicodeDecodeError):
        return Refused(422, "the body is not UTF-8")
    return None


def _length(headers: Headers) -> int:
    given = headers.get(b"content-length", b"0")
    if not given.isdigit() or len(given) > 18:
        raise Refused(400, "Content-Length is not a number")
    return int(given)
