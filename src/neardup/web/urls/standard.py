"""Explains step by step how parsing changed a URL. The last step always ends in the parser's own result."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.web.urls.parser import DOTS, SHAPE, cleaned, split_port

__all__ = ["standard_steps"]


def standard_steps(url: str, parsed: str) -> Iterator[tuple[str, str, str]]:
    """(rule, before, after) for each change of the standard between a web URL and its parsed form."""
    current = url
    for name, after in _forms(url, parsed):
        if after != current:
            yield name, current, after
            current = after
    if current != parsed:
        yield "escapes", current, parsed


def _forms(url: str, parsed: str) -> Iterator[tuple[str, str]]:
    clean = cleaned(url)
    yield "white-space", clean
    raw, good = SHAPE.fullmatch(clean), SHAPE.fullmatch(parsed)
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
    host, port = split_port(place)
    good_host, good_port = split_port(good_place)
    name = "host-case" if host.lower() == good_host.lower() else "host-encoding"
    now[2] = f"{user}{at}{good_host}{port}"
    yield name, form()
    now[2] = f"{user}{at}{good_host}{good_port}"
    yield "host-encoding" if good_port or port == ":" else "default-port", form()
    if DOTS.search(now[3]) and not DOTS.search(end[3]):
        now[3] = end[3]
        yield "dot-segments", form()
