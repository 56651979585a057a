"""Serves a fixed list of files of this package over HTTP, with headers that isolate the page from other sites."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

__all__ = ["CSP", "SHELL", "TRY", "FileReply", "PageFiles", "page_text", "problem_page"]

# Scripts, styles and data come only from this server. No script may turn text into markup, not even our own
# (trusted types without a policy).
CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
SAFE = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-cache"),  # stored by the browser but checked each time; the answer is then 304
)
KINDS = {
    "html": b"text/html; charset=utf-8",
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
}
SHELL = {f"/page/{name}": name for name in ("style.css", "dom.js", "charts.js", "icon.svg")}
"""The files that every page uses, by request path."""
TRY = {"/try": "try.html"} | {
    f"/page/{name}": name for name in ("try.css", "try.js", "trial.js", "requests.js")
}
"""The page "Try it", which compares texts that are pasted in; it requests /v1/live and /v1/try."""


_PROBLEM = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{title} – neardup</title>
  <link rel="icon" href="/page/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/page/style.css">
</head>
<body>
  <main class="stack">
    <h1>{title}</h1>
    <p>{reason}</p>
    <p><a href="/">Go to the start page</a></p>
  </main>
</body>
</html>
"""


def page_text(name: str) -> str:
    """A file of this package as text, for pages that contain everything they need."""
    return resources.files("neardup.pages").joinpath("static", *name.split("/")).read_text("utf-8")


class FileReply(NamedTuple):
    """The answer to a request; for HEAD the body is left out, but not its length."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def problem_page(status: int, reason: str) -> FileReply:
    """A page for a person who opened an address that has no page."""
    titles = {404: "There is no page at this address", 401: "This page needs a key"}
    body = _PROBLEM.format(title=titles.get(status, "This did not work"), reason=html.escape(reason)).encode()
    length = (b"content-length", str(len(body)).encode())
    return FileReply(status, [(b"content-type", KINDS["html"]), length, *SAFE], body)


class PageFiles:
    """Files of `neardup/pages/static`, by request path; the files of SHELL are always included.

    All files are read at the start, so a request can never open another file.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        folder = resources.files("neardup.pages").joinpath("static")
        self.paths = frozenset({**SHELL, **files})
        self._replies: dict[str, tuple[bytes, list[tuple[bytes, bytes]], bytes]] = {}
        for path, name in {**SHELL, **files}.items():
            body = folder.joinpath(*name.split("/")).read_bytes()
            tag = b'"%s"' % hashlib.sha256(body).hexdigest()[:32].encode()
            kind = KINDS[name.rsplit(".", 1)[-1]]
            headers = [(b"content-type", kind), (b"etag", tag), *SAFE]
            self._replies[path] = (tag, headers, body)

    def reply(self, method: str, path: str, if_none_match: bytes | None = None) -> FileReply:
        """The answer to GET or HEAD of a path on the list."""
        tag, headers, body = self._replies[path]
        if if_none_match is not None and tag in (one.strip() for one in if_none_match.split(b",")):
            return FileReply(304, [(b"etag", tag), *SAFE], b"")
        length = (b"content-length", str(len(body)).encode())
        return FileReply(200, [*headers, length], b"" if method == "HEAD" else body)
