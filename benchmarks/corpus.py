"""The text all engines are given: real documents, repeated to a stated size, cached beside this file."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE / ".data"
DROPPED = re.compile(r"(?is)<(script|style|head)\b.*?</\1>|<!--.*?-->|<[^>]*>")
SEPARATOR = "\x1e"  # occurs in no document


def data() -> Path:
    """Where the labelled corpora are: NEARDUP_DATA, or ../shared/data beside the checkout."""
    root = Path(os.environ.get("NEARDUP_DATA", HERE.parents[1] / "shared" / "data"))
    if not root.is_dir():
        raise SystemExit(f"no data in {root}: set NEARDUP_DATA to the folder with the labelled corpora")
    return root


def documents(name: str) -> Iterator[tuple[str, str]]:
    """Id and text of each document of a set; tags are stripped crudely, which is all a benchmark needs."""
    with gzip.open(data() / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            text = row["text"] if "text" in row else html.unescape(DROPPED.sub(" ", row["html"]))
            yield row["id"], text.replace(SEPARATOR, " ")


def load(sets: list[str], megabytes: float) -> list[str]:
    """About `megabytes` MB of text. A repeated document ends in a mark, so that none is a plain copy."""
    wanted = int(megabytes * 1e6)
    name = hashlib.sha256(f"{data()} {sets} {wanted} v1".encode()).hexdigest()[:16]
    cached = CACHE / f"corpus-{megabytes:g}-{name}.txt"
    if not cached.exists():
        CACHE.mkdir(exist_ok=True)
        partial = cached.with_suffix(f".{os.getpid()}")
        partial.write_text(SEPARATOR.join(repeated(sets, wanted)), "utf-8", "surrogatepass", newline="")
        partial.replace(cached)
    return cached.read_bytes().decode("utf-8", "surrogatepass").split(SEPARATOR)


def repeated(sets: list[str], wanted: int) -> Iterator[str]:
    """Documents of all sets in turn, so that a small corpus is a fair sample of a large one."""
    columns = [[text for _, text in documents(name)] for name in sets]
    size = 0
    for copy in range(1 << 30):
        # Interleave in proportion: document i of a set of n is at (i + .5) / n.
        places = [
            ((i + 0.5) / len(column), s, i) for s, column in enumerate(columns) for i in range(len(column))
        ]
        for _, s, i in sorted(places):
            text = columns[s][i] + (f"\ncopy {copy} of {s}-{i}" if copy else "")
            yield text
            size += len(text.encode("utf-8", "surrogatepass"))
            if size >= wanted:
                return


def facts(texts: list[str]) -> dict[str, object]:
    """What a result says about its input."""
    digest = hashlib.sha256()
    size = 0
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        size += len(raw)
        digest.update(len(raw).to_bytes(8, "little") + raw)
    ascii_share = sum(len(text) for text in texts if text.isascii()) / max(size, 1)
    return {
        "documents": len(texts),
        "bytes": size,
        "sha256": digest.hexdigest(),
        "ascii_share": round(ascii_share, 3),
    }
