"""Deduplicate a folder of text files: what is kept, what is dropped and because of which file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import neardup as nd

FILES = {
    "cake.txt": "Whisk the eggs with the sugar until pale, then fold in the flour.",
    "ferry.txt": "The ferry leaves the north pier at eight and returns at noon, except on public holidays.",
    "old/ferry.md": "the ferry leaves the north pier at eight and returns at noon except on public holidays",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            path = Path(folder, "notes", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        findings = nd.scan(Path(folder, "notes"), Path(folder, "found"))
        print(nd.apply(findings, f"{folder}/kept/").written, "files kept:")
        for path in sorted(Path(folder, "kept").rglob("*.*")):
            print(" ", path.name)
        print(nd.findings.explain_pair(findings, "ferry.txt", "old/ferry.md").reasons[1].partition(" (")[0])


if __name__ == "__main__":
    main()
