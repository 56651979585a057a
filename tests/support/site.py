"""A small web site on this machine: pages, a mirror of them, and a shop whose pages share a template."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = "abcdefgh"
GOODS = "123456"
WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("ale", "ore", "ine", "uth", "ask", "elt", "ond", "irm")]


def prose(name: str, words: int = 150) -> str:
    return " ".join(random.Random(name).choices(WORDS, k=words))


def page(title: str, text: str, links: list[str]) -> str:
    """Navigation and small print are the same everywhere."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><nav>Home News Contact About us</nav>"
        f"<main><h1>{title}</h1><p>{text}</p></main><ul>{anchors}</ul>"
        "<footer>All rights reserved. Terms of use and privacy policy apply to all pages.</footer></body></html>"
    )


def build() -> dict[str, str]:
    """All pages by path. Pages below a page of the mirror are linked from that page alone."""
    home = [f"/site/{name}" for name in PAGES] + ["/mirror/", "/shop/"]
    pages = {
        "/": page("Home", prose("home"), home),
        "/mirror/": page("Copies", prose("copies"), [f"/mirror/{name}" for name in PAGES]),
        "/shop/": page("Shop", prose("shop"), [f"/shop/{name}" for name in GOODS]),
    }
    for name in PAGES:
        text, more = prose(name), prose(f"more {name}")
        pages[f"/site/{name}"] = page(name, text, [f"/site/{name}/more"])
        pages[f"/site/{name}/more"] = page(f"more {name}", more, [])
        pages[f"/mirror/{name}"] = page(name, text + " mirrored today", [f"/mirror/{name}/more"])
        pages[f"/mirror/{name}/more"] = page(f"more {name}", more + " mirrored today", [])
    template = prose("template", 30)
    for name in GOODS:
        text = f"{template} {prose(f'goods {name}', 60)}"
        pages[f"/shop/{name}"] = page(f"Article {name}", text, [f"/shop/{name}/reviews"])
        pages[f"/shop/{name}/reviews"] = page(f"Reviews of {name}", prose(f"reviews {name}"), [])
    return pages


@contextmanager
def served(pages: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The address of the site while it is up, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = pages.get(self.path) or pages.get(self.path.partition("?")[0])
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            data = (body or "nothing here").encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
