"""Damaged input files, read in a child process: whatever a file holds, the process lives and no error is a stranger.

    python -m support.mutated_files arrow 0 300

reads 300 damaged files of one format. It writes a line for each file before it reads it, so that a parent knows which
one killed it; the line of a file that raised anything but a NeardupError has the error behind its number.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from support.child_cases import run_cases

__all__ = ["FORMATS", "SECONDS", "mutated", "run_mutations"]

SECONDS = 30  # for one file of some kilobytes; far more than any takes, so that a slow machine is no failure
TEXTS = [f"the river runs {n} miles to the north, é ü 日本 " * (n % 5 + 1) for n in range(40)]


def _jsonl() -> bytes:
    rows = ({"id": f"d{n}", "text": text, "n": n, "more": [n, {"a": None}]} for n, text in enumerate(TEXTS))
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _json() -> bytes:
    return json.dumps([json.loads(line) for line in _jsonl().splitlines()], indent=1).encode()


def _csv(delimiter: str = ",") -> bytes:
    lines = [f'{n}{delimiter}"{text} ""quoted""\n{n}"' for n, text in enumerate(TEXTS)]
    return "\n".join([f"id{delimiter}text", *lines, ""]).encode()


def _html() -> bytes:
    return f"<html><body>{''.join(f'<p id={n}>{text}</p>' for n, text in enumerate(TEXTS))}</body></html>".encode()


def _warc() -> bytes:
    records = []
    for n, text in enumerate(TEXTS[:10]):
        body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{text}</p>".encode()
        head = (
            f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/{n}\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        records.append(head.encode() + body + b"\r\n\r\n")
    return b"".join(records)


def _mbox() -> bytes:
    return b"".join(
        f"From a@example.org Mon Jan  5 10:00:00 2026\nSubject: {n}\nContent-Type: text/plain; charset=utf-8\n\n"
        f"{text}\n\n".encode()
        for n, text in enumerate(TEXTS[:12])
    )


def _table():
    import pyarrow as pa

    return pa.table(
        {
            "id": [str(n) for n in range(len(TEXTS))],
            "text": pa.array([text if n % 7 else None for n, text in enumerate(TEXTS)]),
            "kind": pa.array([f"kind {n % 3}" for n in range(len(TEXTS))]).dictionary_encode(),
            "view": pa.array(TEXTS, pa.string_view()),
            "words": [text.split() for text in TEXTS],
            "more": [{"a": n, "b": text[:9]} for n, text in enumerate(TEXTS)],
            "n": list(range(len(TEXTS))),
        }
    )


def _arrow(compression: str | None = None, stream: bool = False) -> bytes:
    from pyarrow import ipc

    out, table = io.BytesIO(), _table()
    options = ipc.IpcWriteOptions(compression=compression)
    make = ipc.new_stream if stream else ipc.new_file
    with make(out, table.schema, options=options) as writer:
        for batch in table.to_batches(max_chunksize=16):
            writer.write_batch(batch)
    return out.getvalue()


def _feather() -> bytes:
    from pyarrow import feather

    out = io.BytesIO()
    feather.write_feather(_table(), out, compression="lz4")
    return out.getvalue()


def _parquet() -> bytes:
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(_table().drop_columns(["view"]), out, row_group_size=16)
    return out.getvalue()


def _npy() -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.save(out, np.linspace(0, 1, 160, dtype=np.float32).reshape(40, 4))
    return out.getvalue()


FORMATS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "jsonl": ("a.jsonl", _jsonl),
    "json": ("a.json", _json),
    "csv": ("a.csv", _csv),
    "tsv": ("a.tsv", lambda: _csv("\t")),
    "text": ("a.txt", lambda: "\n".join(TEXTS).encode()),
    "html": ("a.html", _html),
    "warc": ("a.warc", _warc),
    "mbox": ("a.mbox", _mbox),
    "parquet": ("a.parquet", _parquet),
    "arrow": ("a.arrow", _arrow),
    "arrow stream": ("a.arrow", lambda: _arrow(stream=True)),
    "arrow zstd": ("a.arrow", lambda: _arrow("zstd")),
    "feather": ("a.feather", _feather),
    "npy": ("a.npy", _npy),
    "jsonl gzip": ("a.jsonl.gz", lambda: zlib.compress(_jsonl(), wbits=31)),
}


def mutated(data: bytes, seed: str) -> bytes:
    """Some bytes flipped, set to an edge, cut off, cut out, zeroed or doubled."""
    rng, made = random.Random(seed), bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        if not made:
            break
        # Where formats hold their own sizes and places: the beginning and the end more often than the rest.
        place = rng.choice((rng.randrange(len(made)), min(rng.randrange(400), len(made) - 1)))
        place = rng.choice((place, len(made) - 1 - place))
        size = rng.choice((1, 4, 8, rng.randrange(1, 200)))
        kind = rng.randrange(7)
        if kind == 0:
            made[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            made[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif kind == 2:
            edge = rng.choice((0, 1, -1, 2**31 - 1, -(2**31), 2**63 - 1, len(data), rng.randrange(1 << 16)))
            width = 8 if edge.bit_length() > 31 else rng.choice((4, 8))
            made[place : place + width] = edge.to_bytes(width, "little", signed=True)
        elif kind == 3:
            del made[place:]
        elif kind == 4:
            del made[place : place + size]
        elif kind == 5:
            made[place : place + size] = bytes(size)
        else:
            made[place:place] = made[place : place + size]
    return bytes(made)


def _read(path: Path) -> None:
    import neardup as nd

    for mode in ("documents", "blocks"):
        with contextlib.suppress(nd.errors.NeardupError):
            for _ in getattr(nd.read(path), mode)():
                pass


def _child(format: str, first: int, count: int) -> None:
    name, make = FORMATS[format]
    whole = make()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for case in range(first, first + count):
            path.write_bytes(mutated(whole, f"{format} {case}"))
            os.write(1, b"\n%d" % case)
            signal.alarm(SECONDS)
            try:
                _read(path)
            except Exception as error:
                os.write(1, f" {type(error).__name__}: {str(error)[:200]!r}".encode())
        os.write(1, b"\nend\n")


def run_mutations(format: str, first: int, count: int) -> list[str]:
    """What went wrong, a line for each case that did."""
    return run_cases("support.mutated_files", format, first, count)


if __name__ == "__main__":
    began = time.monotonic()
    _child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(f"{time.monotonic() - began:.1f} s", file=sys.stderr)
