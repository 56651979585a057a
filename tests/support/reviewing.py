"""A real `neardup review` in a process of its own, as a user starts it, and small corpora for it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import httpx

import neardup as nd
from neardup.cli import main
from neardup.findings import Findings
from neardup.findings.scan import scan
from support.command import Server, serving
from support.corpora import write_jsonl

WORDS = re.findall(
    r"\w+",
    "the ferry leaves north pier at eight and returns by noon except on public holidays when it sails twice with "
    "mail fruit timber bicycles and whoever has a ticket from the small green office behind",
)
MARKUP = '<img src=x onerror="document.title=1"><script>window.hacked = true</script>'
BIDI = "\u202egnp.exe\u202c \u200bzero\u2066 \u0007bell"


def ferry(number: int, changes: int = 0) -> str:
    """A text of its own for each number; with `changes`, so many of its words are others."""
    words = [f"{word}{number}" for word in WORDS for _ in (0, 1)]
    for at in range(changes):
        words[7 * at % len(words)] = f"changed{at}"
    return " ".join(words)


def documents() -> list[dict[str, Any]]:
    """Ten documents: pairs, a cluster of four, an exact pair, hostile ones, and two alone."""
    rows = [
        ("a", ferry(1) + " and more", "north"), ("a-near", ferry(1, 1), "south"),
        ("b", ferry(2) + " and more words", "north"), ("b-near", ferry(2, 1), "north"), ("b-far", ferry(2, 2), "south"),
        ("b-same", (ferry(2) + " and more words").upper(), "south"),
        (f"evil {MARKUP}", f"{MARKUP} {BIDI} {ferry(3)} longer", "south"),
        (f"evil too {BIDI}", f"{MARKUP} {BIDI} {ferry(3)}", f"site {MARKUP}"),
        ("alone", ferry(8), "north"), ("also alone", ferry(9), "south"),
    ]  # fmt: skip
    return [{"id": id, "text": text, "site": site} for id, text, site in rows]


def scanned(folder: Path, rows: list[dict[str, Any]] | None = None, *, overwrite: bool = False) -> Findings:
    config = nd.Config(keep=nd.Keep(source="site"), verify=nd.Jaccard(0.8, 0.5))
    return scan(
        write_jsonl(folder / "in.jsonl", rows or documents()),
        folder / "in.findings",
        config,
        overwrite=overwrite,
    )


def run_cli(*arguments: str) -> tuple[int, str]:
    """The exit code and the standard output of the command, run within this process."""
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0), said.getvalue()
    return 0, said.getvalue()


class Reviewed(Server):
    """A running server; `url` holds the token behind the #."""

    @property
    def base(self) -> str:
        return self.url.partition("/#")[0]

    @property
    def token(self) -> str:
        return self.url.partition("#token=")[2]

    def client(self, **headers: str) -> httpx.Client:
        given = {"Authorization": f"Bearer {self.token}", **headers}
        return httpx.Client(base_url=self.base, headers=given, trust_env=False, timeout=300)

    def get(self, path: str, **parameters: Any) -> Any:
        with self.client() as client:
            return client.get(f"/api/{path}", params=parameters).raise_for_status().json()

    def decide(self, decision: str, left: int, right: int) -> Any:
        with self.client() as client:
            sent = {"decision": decision, "left": left, "right": right}
            return client.post("/api/decisions", json=sent).raise_for_status().json()


@contextmanager
def reviewed(findings: Findings | Path, *options: str) -> Iterator[Reviewed]:
    """The server, stopped at the end."""
    path = findings.path if isinstance(findings, Findings) else findings
    with serving("review", str(path), "--no-open", *options) as server:
        yield Reviewed(server.process, server.url, server.logs)
