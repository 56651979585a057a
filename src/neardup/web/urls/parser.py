"""Splits URLs with a WHATWG parser, and can undo some of its changes.

The parser always writes hosts in lower case, drops default ports and resolves dot segments. If the rule for one of
these is off, the parser still reads the URL, and its change is undone: the original letters of the host and the port
are restored, and dot segments are hidden from the parser under another name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from neardup.errors import MissingExtra
from neardup.web.urls.steps import Parts

__all__ = ["DOTS", "LONGEST", "SHAPE", "cleaned", "parser", "read", "split_port", "written"]

# Longer URLs are only parsed: no page needs them, and rules that are applied repeatedly would take long.
LONGEST = 1 << 14

# Scheme, slashes, authority, path, query, fragment.
SHAPE = re.compile(
    r"([A-Za-z][A-Za-z0-9+.\-]*):([/\\]*)([^/\\?#]*)([^?#]*)((?:\?[^#]*)?)((?:#.*)?)", re.DOTALL
)
DOTS = re.compile(r"(?<=[/\\])(?:\.|%2e){1,2}(?=[/\\]|$)", re.IGNORECASE)
_BLANKS = "".join(map(chr, range(33)))
_DROPPED = str.maketrans("", "", "\t\n\r")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@lru_cache(maxsize=1)
def parser() -> Callable[[str], Any]:
    try:
        import can_ada
    except ImportError as error:
        raise MissingExtra("parsing URLs", "web") from error
    parse: Callable[[str], Any] = can_ada.parse
    return parse


def read(parse: Callable[[str], Any], url: str, kept: frozenset[str]) -> tuple[Parts | str | None, str]:
    """The parts of a web URL, another URL as the standard writes it, or None if it is not a URL; and the original
    spelling of the host, empty if it is that of the parts. `kept` are rules of the standard that are off."""
    if not kept or len(url) > LONGEST:
        return _parts(parse, url), ""
    dots = "dot-segments" in kept and ("/." in url or "\\." in url or "%2" in url)
    parts = None if dots else _parts(parse, url)
    if not dots and (not isinstance(parts, Parts) or not _changed(url, parts, kept)):
        return parts, ""
    shape = SHAPE.fullmatch(cleaned(url))
    if shape is None:
        return _parts(parse, url), ""
    scheme, slashes, authority, path, query, fragment = shape.groups()
    segments = DOTS.findall(path) if dots else []
    if segments:
        name = "dot-segment"
        while name in url:
            name += "s"
        path = DOTS.sub(name, path)
        parts = _parts(parse, f"{scheme}:{slashes}{authority}{path}{query}{fragment}", len(path) + LONGEST)
        if isinstance(parts, Parts):
            as_it_came = iter(segments)
            parts.path = re.sub(name, lambda _: next(as_it_came), parts.path)
        else:
            parts = _parts(parse, url)
    elif dots:
        parts = _parts(parse, url)
    if not isinstance(parts, Parts):
        return parts, ""
    host, port = split_port(authority.rpartition("@")[2])
    if (
        "default-port" in kept
        and not parts.port
        and port[1:].isascii()
        and port[1:].isdecimal()
        and int(port[1:]) == _DEFAULT_PORTS[parts.scheme]
    ):
        parts.port = str(int(port[1:]))
    same = "host-case" in kept and host != parts.host and host.isascii() and host.lower() == parts.host
    return parts, host if same else ""


def _changed(url: str, parts: Parts, kept: frozenset[str]) -> bool:
    """Whether the parser may have dropped a port or changed the letters of the host; this check is faster than a
    comparison."""
    if "default-port" in kept and not parts.port and url.count(":") > 1:
        return True
    return "host-case" in kept and bool(
        parts.user or not url.startswith(f"{parts.scheme}://{parts.host}", 0, 8 + len(parts.host))
    )


def written(parts: Parts, host: str) -> str:
    """The URL with the original spelling of the host, if the host is still the same."""
    if not host:
        return str(parts)
    shown = host if host.lower().endswith(parts.host) else host.removesuffix(".")
    spelled = shown[len(shown) - len(parts.host) :] if parts.host else ""
    lower = parts.host
    if spelled.lower() != lower:
        return str(parts)
    parts.host = spelled
    url = str(parts)
    parts.host = lower
    return url


def cleaned(url: str) -> str:
    """The URL without the white space that the standard drops."""
    return url.strip(_BLANKS).translate(_DROPPED)


def split_port(place: str) -> tuple[str, str]:
    """The host, and the port with its colon."""
    colon = place.rfind(":")
    return (place[:colon], place[colon:]) if colon > place.rfind("]") else (place, "")


def _parts(parse: Callable[[str], Any], url: str, longest: int = LONGEST) -> Parts | str | None:
    try:
        parsed = parse(url)
    except (ValueError, TypeError):  # TypeError: a lone surrogate has no UTF-8
        return None
    protocol = parsed.protocol
    if (protocol != "https:" and protocol != "http:") or len(url) > longest:
        href: str = parsed.href
        return href
    user = ""
    if "@" in url and (parsed.username or parsed.password):
        user = f"{parsed.username}:{parsed.password}@" if parsed.password else f"{parsed.username}@"
    search, fragment = parsed.search, parsed.hash
    # The parser keeps an empty ? or # in the whole URL, but leaves it out of the parts.
    if not fragment and "#" in url and parsed.href.endswith("#"):
        fragment = "#"
    if not search and "?" in url and parsed.href.partition("#")[0].endswith("?"):
        search = "?"
    return Parts(protocol[:-1], user, parsed.hostname, parsed.port, parsed.pathname, search, fragment)
