"""Scan a WARC file: main content of the pages, figures ignored, one of each cluster kept."""

from __future__ import annotations

import tempfile
from pathlib import Path

import neardup as nd

ARTICLE = (
    "The old harbour bridge will close for repairs on the first of March. The town expects the work to take six weeks, "
    "and a ferry will carry people and bicycles across the river every quarter of an hour until it opens again."
)
PAGES = {
    "https://example.org/bridge": f"<html><nav>Home</nav><main><p>{ARTICLE}</p></main></html>",
    "https://mirror.example/b?id=7": f"<html><main><p>{ARTICLE}</p></main><footer>Visits: 4012</footer></html>",
    "https://example.org/cake": "<html><main><p>Whisk the eggs with the sugar until pale.</p></main>",
}


def record(url: str, html: str) -> bytes:
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html.encode()
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body + b"\r\n\r\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        crawl = Path(folder) / "crawl.warc"
        crawl.write_bytes(b"".join(record(url, html) for url, html in PAGES.items()))
        found = nd.scan(crawl, Path(folder) / "findings", nd.preset("crawl"))
        applied = nd.apply(found, Path(folder) / "kept.jsonl")
        print(f"{len(PAGES)} pages, {applied.written} kept")


if __name__ == "__main__":
    main()
