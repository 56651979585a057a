"""What parsing alone did to a URL, told step by step. The parser's own answer is always where the steps end."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["standard_steps"]

_SHAPE = re.compile(
    r"([A-Za-z][A-Za-z0-9+.\-]*):([/\\]*)([^/\\?#]*)([^?#]*)((?:\?[^#]*)?)((?:#.*)?)", re.DOTALL
)
_DOTS = re.compile(r"[/\\](?:\.|%2e){1,2}(?=[/\\]|$)", re.IGNORECASE)


def standard_steps(url: str, parsed: str) -> Iterator[tuple[str, str, str]]:
    """(rule, before, after) for each thing the standard changes on the way from a URL of the web to its parsed form."""
    current = url
    for name, after in _forms(url, parsed):
        if after != current:
            yield name, current, after
            current = after
    if current != parsed:
        yield "escapes", current, parsed


def _forms(url: str, parsed: str) -> Iterator[tuple[str, str]]:
    clean = re.sub(r"[\t\n\r]", "", url.strip("".join(map(chr, range(33)))))
    yield "white-space", clean
    raw, good = _SHAPE.fullmatch(clean), _SHAPE.fullmatch(parsed)
    if raw is None or good is None:
        return
    now, end = list(raw.groups()), list(good.groups())

    def form() -> str:
        return f"{now[0]}:{''.join(now[1:])}"

    now[0] = end[0]
    yield "scheme-case", form()
    now[1], now[3] = end[1], now[3].replace("\\", "/")
    yield "slashes", form()
    user, at, place = now[2].rpartition("@")
    good_place = end[2].rpartition("@")[2]
    host, port = _split(place)
    good_host, good_port = _split(good_place)
    if host.lower() == good_host:
        now[2] = f"{user}{at}{good_host}{port}"
        yield "host-case", form()
    else:
        now[2] = f"{user}{at}{good_host}{port}"
        yield "host-encoding", form()
    now[2] = f"{user}{at}{good_host}{good_port}"
    yield "default-port", form()
    if _DOTS.search(now[3]):
        now[3] = end[3]
        yield "dot-segments", form()


def _split(place: str) -> tuple[str, str]:
    """The host, and the port with its colon."""
    colon = place.rfind(":")
    return (place[:colon], place[colon:]) if colon > place.rfind("]") else (place, "")
