"""The table of routes: what is served, by which handler, and the shapes of its request and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote

import msgspec

from neardup.http.access import Grant
from neardup.http.limits import Refused
from neardup.http.metrics import Metrics

__all__ = ["JSON", "NDJSON", "Reply", "Request", "Resource", "Route", "Routes"]

JSON, NDJSON = b"application/json", b"application/x-ndjson"
LINES = frozenset({NDJSON, b"application/jsonl"})
ID = "{id}"
Body = TypeVar("Body")
encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Request(Generic[Body]):
    """A request whose shape is checked.

    body        what the route's schema made of the JSON, or the bytes if the route takes lines
    id          the last part of the path, if the route names one
    query       the parameters after the question mark, in the shape the route asks for
    grant       what its sender may do; None where nobody is asked who they are
    """

    body: Body
    id: str
    query: Any
    request_id: str
    grant: Grant | None = None


class Reply(NamedTuple):
    """A whole answer: `kind` is its content type."""

    status: int
    body: bytes
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


Handler = Callable[[Request[Any]], Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """One method of one path.

    handler     gets a Request; returns what is to be sent as JSON, or a Reply. Its docstring is its description.
    body        the type of the JSON body; None if there is none
    lines       the body is NDJSON, one `body` a line, and the handler gets it as bytes
    query       a type whose fields are the parameters after the question mark
    answer      the type of what is sent with `status`; `kind` is its content type
    problems    statuses of refusals that not all routes have
    open        without token and queue: for the program that checks whether the process is alive
    watches     without queue: answered also while there are too many requests, or while the service stops
    writes      changes the index: refused if the service, or the token, only reads
    slow        may work for seconds: cancelled if the client hangs up
    values      the most objects and arrays in a body whose schema does not bound them itself
    index       the name of the index that it is about: None if it is about none, "" for the index without a name
    counts      where its requests are counted, if not with those of the service
    """

    method: str
    path: str
    handler: Handler
    body: Any = None
    lines: bool = False
    query: Any = None
    answer: Any = None
    status: int = 200
    kind: bytes = JSON
    problems: tuple[int, ...] = ()
    open: bool = False
    watches: bool = False
    writes: bool = False
    slow: bool = False
    values: int | None = None
    index: str | None = None
    counts: Metrics | None = None
    _decode: Callable[[bytes], Any] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        if self.body is not None and not self.lines:
            object.__setattr__(self, "_decode", msgspec.json.Decoder(self.body).decode)

    @property
    def served(self) -> str:
        """The path with the name of the index, if it has one."""
        return f"/v1/indexes/{self.index}{self.path.removeprefix('/v1')}" if self.index else self.path

    def request(
        self, body: bytes, id: str, query: bytes, request_id: str, grant: Grant | None
    ) -> Request[Any]:
        """The request in the shapes of the table; msgspec's errors say what is wrong with its body."""
        # All values of a body are made in one go, so their number bounds how long others wait. Brackets inside of
        # strings count as well.
        if self.values is not None and body.count(b"{") + body.count(b"[") > self.values:
            raise Refused(422, f"this JSON has more than {self.values:,} objects and arrays")
        value = body if self._decode is None else self._decode(body)
        asked = None if self.query is None else self._parameters(query)
        return Request(value, id, asked, request_id, grant)

    def _parameters(self, query: bytes) -> Any:
        given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        try:
            return msgspec.convert(given, self.query, strict=False)
        except msgspec.ValidationError as error:
            raise Refused(400, f"the parameters after the question mark: {error}") from None

    async def reply(self, request: Request[Any]) -> Reply:
        answer = await self.handler(request)
        return answer if type(answer) is Reply else Reply(self.status, encode(answer), self.kind)


class Resource:
    """All routes of one path. A method may have two: one for JSON, and one for lines."""

    def __init__(self, path: str, routes: Sequence[Route]) -> None:
        self.path = routes[0].path  # as it is counted, without the name of the index
        self.served, self.index, self.counts = path, routes[0].index, routes[0].counts
        self._json: dict[str, Route] = {}
        self._lines: dict[str, Route] = {}
        for route in routes:
            kept = self._lines if route.lines else self._json
            assert route.method not in kept, f"{route.method} {path} is in the table twice"
            kept[route.method] = route
        self.methods = ", ".join(sorted({*self._json, *self._lines}))
        self.open = all(route.open for route in self._json.values())
        self.queued = not all(route.open or route.watches for route in self._json.values())
        self.prefix = path.removesuffix(ID) if path.endswith(ID) else None

    def route(self, method: str, kind: bytes | None) -> Route:
        """The route for a request of this method and content type."""
        if method in self._lines and kind is not None and kind.split(b";")[0].strip().lower() in LINES:
            return self._lines[method]
        found = self._json.get(method)
        if found is None:
            raise not_allowed(self.methods)
        return found

    def id(self, raw_path: bytes) -> str:
        """The id in a path, from the path as it was sent: an id may hold `/` and `..`."""
        if self.prefix is None:
            return ""
        tail = raw_path.split(b"?", 1)[0][len(self.prefix) :]
        try:
            return unquote(tail.decode("ascii"), errors="strict")
        except UnicodeDecodeError:
            raise Refused(422, "the id in the path is not percent-encoded UTF-8") from None


def not_allowed(methods: str) -> Refused:
    allow = (b"allow", methods.encode())
    return Refused(405, f"this method is not served here; use {methods}", headers=(allow,))


class Routes:
    """The table, by path."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.all = tuple(routes)
        by_path: dict[str, list[Route]] = {}
        for route in self.all:
            by_path.setdefault(route.served, []).append(route)
        found = [Resource(path, group) for path, group in by_path.items()]
        self._exact: Mapping[str, Resource] = {one.served: one for one in found if one.prefix is None}
        self._named = tuple(one for one in found if one.prefix is not None)

    def find(self, path: str) -> Resource | None:
        """The resource at a path."""
        found = self._exact.get(path)
        if found is None:
            for one in self._named:
                assert one.prefix is not None
                if path.startswith(one.prefix) and len(path) > len(one.prefix):
                    return one
        return found
