"""The outermost layer: who may come in, with how much, and what is said, counted and written down about it."""

from __future__ import annotations

import asyncio
import errno
import hmac
import re
import secrets
import sqlite3
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote, unquote

from neardup.http.limits import Budget, Limits, Refused, read_body, unpacked
from neardup.http.logs import log
from neardup.http.metrics import Metrics
from neardup.http.responses import JSON, Call, Reply, problem
from neardup.pages import PageFiles

__all__ = ["Gate"]

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Quick = Callable[[Call], Awaitable[Reply | None]]

OPEN = frozenset({"/v1/health", "/v1/ready"})  # for whoever watches over the process: no token, no queue
NAMED = ("/v1/documents/", "/v1/clusters/")
REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
OWN_NAME = re.compile(rb"(localhost|127\.[0-9.]+|\[[0-9a-f:]+\])(:[0-9]*)?")
SLOW = 1.0  # seconds
ALWAYS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class Gate:
    """An ASGI application around another one.

    quick      routes (POST, by path) that give a reply without the framework, or None to leave a request to it
    pages      files that anybody may read: they hold no data, and ask for it with the token
    token      what clients must send as `Authorization: Bearer ...`; None if all may come
    logs_all   whether requests that went well are logged, too
    """

    def __init__(
        self,
        app: App,
        quick: dict[str, Quick],
        limits: Limits,
        metrics: Metrics,
        *,
        pages: PageFiles | None = None,
        token: str | None = None,
        logs_all: bool = False,
    ) -> None:
        self._app, self._quick, self.limits, self._metrics = app, quick, limits, metrics
        self._pages = pages
        self._token = None if token is None else token.encode()
        self._logs_all = logs_all
        self._budget = Budget(limits.waiting_bytes)
        self._prefix = secrets.token_hex(6).encode()
        self._count = 0
        self.in_work = 0
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1000})
            return
        start = time.perf_counter()
        if scope["method"] != "POST" and self._pages is not None and scope["path"] in self._pages.paths:
            await self._page(self._pages, scope, send, start)
            return
        path, open_, held = scope["path"], scope["path"] in OPEN, 0
        headers = dict(scope["headers"])
        name = self._request_id(headers)
        sender = _Sender(send, name, self.draining)
        reason: str | None = None
        if not open_:
            self.in_work += 1
        try:
            if not open_:
                self._admit(headers)
            body = b""
            declared = _length(headers)
            if scope["method"] in ("POST", "PUT", "PATCH") or declared or b"transfer-encoding" in headers:
                body = await read_body(receive, self.limits, self._budget, declared)
                held = len(body)
                if b"content-encoding" in headers:
                    body = await self._plain(body, headers)
                    if len(body) > held:
                        self._budget.take(len(body) - held)
                        held = len(body)
            quick = self._quick.get(path) if scope["method"] == "POST" else None
            reply = None
            if quick is not None:
                kind = headers.get(b"content-type", b"")
                reply = await quick(Call(body, kind, scope["query_string"], name))
            if reply is not None:
                await sender.reply(reply)
            else:
                if len(body) > self.limits.values:
                    self._check_values(body)
                scope.setdefault("state", {})["request_id"] = name.decode()
                await self._app(_safe(scope), _replay(body, receive), sender.send)
        except Refused as refused:
            reason = refused.reason
            await sender.refuse(refused.status, reason)
        except (OSError, sqlite3.Error) as error:
            # What was not acknowledged was not remembered, and may be sent again.
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                await sender.refuse(507, "the disk of the index is full; what was acknowledged is safe")
            else:
                await sender.refuse(
                    503, "the index cannot be written or read at the moment; the logs say why"
                )
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            log("error", request_id=name.decode(), reason=reason, trace=traceback.format_exc()[-4000:])
            await sender.refuse(500, "something went wrong inside; the logs say what")
        finally:
            self._budget.give(held)
            if not open_:
                self.in_work -= 1
            taken = time.perf_counter() - start
            route = path if path in self._quick or open_ else _route(path)
            self._metrics.request(route, sender.status, taken)
            if self._logs_all or sender.status >= 400 or taken > SLOW:
                log(
                    "request",
                    request_id=name.decode(),
                    method=scope["method"],
                    path=path,
                    status=sender.status,
                    milliseconds=round(1000 * taken, 2),
                    **({} if reason is None else {"reason": reason}),
                )

    async def _page(self, pages: PageFiles, scope: Scope, send: Send, start: float) -> None:
        given = dict(scope["headers"]).get(b"if-none-match")
        reply = pages.reply(scope["method"], scope["path"], given)
        assert reply is not None
        status, headers, body = reply
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        self._metrics.request("page", status, time.perf_counter() - start)

    def _request_id(self, headers: dict[bytes, bytes]) -> bytes:
        given = headers.get(b"x-request-id")
        if given is not None and REQUEST_ID.fullmatch(given):
            return given
        self._count += 1
        return b"%s-%d" % (self._prefix, self._count)

    def _admit(self, headers: dict[bytes, bytes]) -> None:
        if self._token is None:
            _check_browser(headers)
        else:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self._token):
                raise Refused(401, "this service wants a token: Authorization: Bearer ...")
        if self.draining:
            raise Refused(503, "the service is stopping")
        if self.in_work > self.limits.requests:
            raise Refused(429, f"{self.limits.requests:,} requests are in work; try again in a moment")

    def _check_values(self, body: bytes) -> None:
        """All values of a body are made in one go, so their number bounds how long others wait; signs inside of strings
        count as well."""
        if body.count(b"{") + body.count(b"[") > self.limits.values:
            raise Refused(422, f"this JSON has more than {self.limits.values:,} objects and arrays")

    async def _plain(self, body: bytes, headers: dict[bytes, bytes]) -> bytes:
        packed = headers.get(b"content-encoding", b"identity").strip().lower()
        if packed in (b"identity", b""):
            return body
        if packed != b"gzip":
            raise Refused(415, "a body may be packed with gzip, and with nothing else")
        return await asyncio.to_thread(unpacked, body, self.limits.body)


class _Sender:
    """Adds our headers to every reply, and knows what has been said already."""

    def __init__(self, send: Send, name: bytes, last: bool) -> None:
        self._send, self._name, self.status = send, name, 0
        self._extra = [(b"x-request-id", name), *ALWAYS]
        if last:
            self._extra.append((b"connection", b"close"))

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], *self._extra]
        await self._send(message)

    async def reply(self, reply: Reply) -> None:
        self.status = reply.status
        length = (b"content-length", b"%d" % len(reply.body))
        headers = [(b"content-type", reply.kind), length, *self._extra]
        await self._send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": reply.body})

    async def refuse(self, status: int, reason: str) -> None:
        if self.status:
            return  # half of an answer is out; the connection ends
        if status == 401:
            self._extra.append((b"www-authenticate", b"Bearer"))
        if status in (429, 503, 507):
            self._extra.append((b"retry-after", b"1"))
        await self.reply(Reply(status, problem(reason, self._name.decode()), JSON))


def _check_browser(headers: dict[bytes, bytes]) -> None:
    """Without a token, whoever can reach this machine's loopback may ask, but not the pages in its browser: neither
    from an origin of their own nor under a name that was made to lead here."""
    host = headers.get(b"host", b"localhost").lower()
    if not OWN_NAME.fullmatch(host):
        raise Refused(403, "this service has no token and answers to the names of this machine alone")
    origin = headers.get(b"origin")
    if origin is not None and origin.lower() != b"http://" + host:
        raise Refused(403, "this service has no token and answers no pages of other origins")


def _length(headers: dict[bytes, bytes]) -> int:
    given = headers.get(b"content-length", b"0")
    if not given.isdigit() or len(given) > 18:
        raise Refused(400, "Content-Length is not a number")
    return int(given)


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> dict[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _safe(scope: Scope) -> Scope:
    """An id in a path stays percent-encoded, as one segment, past a router that would read `/` and `..` in it."""
    for prefix in NAMED:
        if scope["path"].startswith(prefix):
            raw = scope.get("raw_path") or scope["path"].encode()
            tail = raw.split(b"?", 1)[0][len(prefix) :]
            try:
                id = unquote(tail.decode("ascii"), errors="strict")
            except UnicodeDecodeError:
                raise Refused(422, "the id in the path is not percent-encoded UTF-8") from None
            path = prefix + quote(id, safe="").replace(".", "%2E")
            return {**scope, "path": path, "raw_path": path.encode()}
    return scope


def _route(path: str) -> str:
    for prefix in NAMED:
        if path.startswith(prefix):
            return prefix + "{id}"
    return path if path in KNOWN else "other"


KNOWN = frozenset(
    {
        "/v1/search",
        "/v1/documents",
        "/v1/compare",
        "/v1/collapse",
        "/v1/stats",
        "/v1/live",
        "/v1/try",
        "/metrics",
        "/v1/openapi.json",
    }
)
