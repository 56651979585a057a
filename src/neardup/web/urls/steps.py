"""The rules one by one: each is a small function that changes the parts of a URL in place.

The parts come from a WHATWG parser, so a step can rely on a lower-case host in punycode, a path that begins with a
slash, and ASCII everywhere. A step sets `again` if its result may need an earlier step again; the URL is then parsed
and processed by all steps again. Every change that sets it makes the URL shorter (or smaller with the same
length), so this ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from neardup.web.suffixes import registered_name
from neardup.web.urls.parameters import (
    INDEX_PAGES,
    SESSION,
    SESSION_IF_RANDOM,
    SESSION_IN_PATH,
    TRACKING,
)

__all__ = [
    "PARSED",
    "RULES",
    "NamedRule",
    "Parts",
    "Step",
    "bare_end",
    "drops",
    "lower_path",
    "scheme_and_port",
    "session_drops",
    "tracking_drops",
]


class Parts:
    """The parts of a web URL. `port` and `fragment` (with its #) are empty if absent. `pieces` is the query split at
    &: none if there is no query, one empty piece if there is only a question mark."""

    __slots__ = ("again", "fragment", "host", "path", "pieces", "port", "scheme", "user")

    def __init__(
        self, scheme: str, user: str, host: str, port: str, path: str, search: str, fragment: str
    ) -> None:
        self.scheme, self.user, self.host, self.port = scheme, user, host, port
        self.path, self.pieces, self.fragment = path, search[1:].split("&") if search else [], fragment
        self.again = False

    def __str__(self) -> str:
        port = f":{self.port}" if self.port else ""
        query = f"?{'&'.join(self.pieces)}" if self.pieces else ""
        return f"{self.scheme}://{self.user}{self.host}{port}{self.path}{query}{self.fragment}"


Step = Callable[[Parts], None]


def scheme(parts: Parts) -> None:
    if parts.scheme == "http":
        parts.scheme = "https"
        if parts.port == "443":
            parts.port = ""


def scheme_and_port(parts: Parts) -> None:
    """The same if default ports are kept: that of http becomes that of https."""
    if parts.scheme == "http":
        parts.scheme = "https"
        if parts.port == "80":
            parts.port = "443"


def credentials(parts: Parts) -> None:
    parts.user = ""


def host_dot(parts: Parts) -> None:
    # Drop only one dot: without the second, "1.2.." would be read as an address.
    if parts.host[-1:] == "." and parts.host[-2:-1] not in ("", "."):
        parts.host = parts.host[:-1]


def www(parts: Parts) -> None:
    while parts.host.startswith("www.") and registered_name(parts.host[4:]) is not None:
        parts.host = parts.host[4:]


# Characters that need no escape, so their escapes are decoded: servers treat both forms in the same way. In a path the
# semicolon and the plus sign are left as written; in a query the ampersand, equals and plus signs are syntax.
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_PATH_PLAIN, _PATH_KEPT = _PLAIN + "!$'()*,:@&=", ";+/"
_QUERY_PLAIN, _QUERY_KEPT = _PLAIN + "!$()*,:@/?", ";=&"


def _escapes(plain: str, kept: str) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    """The text that is not in its plain form, and its replacement."""
    table = {"%": "%25"} | {chr(byte): f"%{byte:02X}" for byte in range(128)}
    hexadecimal = "0123456789abcdefABCDEF"
    for high in hexadecimal:
        for low in hexadecimal:
            byte = chr(int(high + low, 16))
            table[f"%{high}{low}"] = byte if byte in plain else f"%{high}{low}".upper()
    found = re.compile(f"%[0-9a-fA-F]{{2}}|[^{re.escape(plain + kept)}]")
    return found, lambda match: table[match[0]]


_PATH_ODD, _path_plain = _escapes(_PATH_PLAIN, _PATH_KEPT)
_QUERY_ODD, _query_plain = _escapes(_QUERY_PLAIN, _QUERY_KEPT)


def percent_encoding(parts: Parts) -> None:
    if _PATH_ODD.search(parts.path):
        parts.path = _PATH_ODD.sub(_path_plain, parts.path)
    if parts.pieces:
        query = "&".join(parts.pieces)
        if _QUERY_ODD.search(query):
            parts.pieces = _QUERY_ODD.sub(_query_plain, query.replace("+", "%20")).split("&")


_ESCAPE = re.compile("%[0-9a-f]{2}")


def lower_path(path: str) -> str:
    """The path in lower case, except for escapes, whose canonical form has capitals."""
    lowered = path.lower()
    return _ESCAPE.sub(lambda match: match[0].upper(), lowered) if "%" in lowered else lowered


def path_case(parts: Parts) -> None:
    parts.path = lower_path(parts.path)


_SESSION_SEGMENT = re.compile(
    rf";(?:{'|'.join(SESSION_IN_PATH)})=[^/;]*|/\((?:[A-Z]\([\w-]{{8,}}\))+\)(?=/|$)", re.I
)


def session_path(parts: Parts) -> None:
    if ";" in parts.path or "/(" in parts.path:
        shorter = _SESSION_SEGMENT.sub("", parts.path)
        if shorter != parts.path:
            parts.path, parts.again = shorter or "/", True


def empty_query(parts: Parts) -> None:
    if "" in parts.pieces:
        parts.pieces = [piece for piece in parts.pieces if piece]


def _name(piece: str) -> str:
    return piece.partition("=")[0]


def query_order(parts: Parts) -> None:
    # By name only, and stable: the order of equal names may matter to the page.
    if len(parts.pieces) > 1:
        parts.pieces.sort(key=_name)


def fragment(parts: Parts) -> None:
    if parts.fragment and not parts.fragment.startswith(("#!", "#/")):
        parts.fragment = ""


def hash_route(parts: Parts) -> None:
    if parts.fragment.startswith(("#!", "#/")):
        parts.fragment = ""


_SLASHES = re.compile("//+")


def double_slash(parts: Parts) -> None:
    if "//" in parts.path:
        parts.path, parts.again = _SLASHES.sub("/", parts.path), True


def index(parts: Parts) -> None:
    cut = parts.path.rfind("/") + 1
    if parts.path[cut:].lower() in INDEX_PAGES:
        parts.path = parts.path[:cut]


def trailing_slash(parts: Parts) -> None:
    if parts.path[-1:] == "/":
        parts.path = parts.path.rstrip("/") or "/"


def bare_end(parts: Parts) -> None:
    """Both steps above together, because each may make the other necessary: /index.html/index.html/ is /."""
    path, end = parts.path, len(parts.path)
    while True:
        while end > 1 and path[end - 1] == "/":
            end -= 1
        cut = path.rfind("/", 0, end) + 1
        if path[cut:end].lower() not in INDEX_PAGES:
            break
        end = cut
    if end < len(path):
        parts.path = path[:end]


def drops(names: Iterable[str], keep: Iterable[str] = ()) -> Callable[[str], bool]:
    """A function that says whether a parameter has one of the names; `name*` matches all with that beginning."""
    exact, starts = _split(names)
    kept, kept_starts = _split(keep)

    # Crawls repeat the same few names, so most results are cached.
    @lru_cache(maxsize=1 << 14)
    def drop(name: str) -> bool:
        name = name.lower()
        if name not in exact and not name.startswith(starts):
            return False
        return name not in kept and not name.startswith(kept_starts)

    return drop


def _split(names: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    lowered = [name.lower() for name in names]
    exact = frozenset(name for name in lowered if not name.endswith("*"))
    return exact, tuple(name[:-1] for name in lowered if name.endswith("*"))


def tracking_drops(more: Iterable[str], keep: Iterable[str]) -> Step:
    drop = drops((*TRACKING, *more), keep)

    def tracking(parts: Parts) -> None:
        if parts.pieces:
            parts.pieces = [piece for piece in parts.pieces if not drop(piece.partition("=")[0])]

    return tracking


_RANDOM = re.compile(r"(?=.*[0-9])[0-9A-Za-z_\-]{16,}")


def session_drops(more: Iterable[str], keep: Iterable[str]) -> Step:
    always, either = drops((*SESSION, *more), keep), drops((*SESSION, *SESSION_IF_RANDOM, *more), keep)

    def session(parts: Parts) -> None:
        if parts.pieces:
            parts.pieces = [
                piece for piece in parts.pieces if not (either(piece.partition("=")[0]) and is_session(piece))
            ]

    def is_session(piece: str) -> bool:
        name, _, value = piece.partition("=")
        return always(name) or bool(_RANDOM.fullmatch(value))

    return session


@dataclass(frozen=True)
class NamedRule:
    """One rule that can be switched: its name, what it does, whether it is on by default, and its step."""

    name: str
    what: str
    default: bool
    step: Step | None = None  # None if it needs the lists of a UrlRules, or if the parser does it


# In the order of application.
RULES = (
    NamedRule("host-case", "the host is written in lower case", True),
    NamedRule("default-port", ":80 of http and :443 of https are dropped", True),
    NamedRule("dot-segments", "/./ and /../ are resolved", True),
    NamedRule("scheme", "http and https are one, written https", True, scheme),
    NamedRule("credentials", "user:password@ is dropped", False, credentials),
    NamedRule("host-dot", "the dot at the end of a host is dropped", True, host_dot),
    NamedRule("www", "a leading www. is dropped where a registered name remains", True, www),
    NamedRule("path-case", "the path is written in lower case", False, path_case),
    NamedRule(
        "percent-encoding",
        "escapes only where needed, in capitals; + in a query is %20",
        True,
        percent_encoding,
    ),
    NamedRule("session-path", "session ids in the path, as ;jsessionid=..., are dropped", True, session_path),
    NamedRule("double-slash", "runs of slashes in the path are one", False, double_slash),
    NamedRule("session", "parameters with session ids are dropped", True),
    NamedRule("tracking", "parameters that follow visitors are dropped", True),
    NamedRule(
        "empty-query",
        "empty parts of the query, and a ? with nothing behind it, are dropped",
        True,
        empty_query,
    ),
    NamedRule(
        "query-order", "parameters are sorted by name, equal names keep their order", True, query_order
    ),
    NamedRule("fragment", "#... is dropped, but for #! and #/", True, fragment),
    NamedRule("hash-route", "#!... and #/... are dropped too", False, hash_route),
    NamedRule("index", "index.html and its like are dropped", True, index),
    NamedRule("trailing-slash", "slashes at the end of the path are dropped", True, trailing_slash),
)

# Rules of the parser itself; parser.py says what happens if they are off.
PARSED = frozenset({"host-case", "default-port", "dot-segments"})
