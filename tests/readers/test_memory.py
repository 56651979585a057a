"""Bombs under `--memory`: single huge cells and lines of every format are rejected with a reason, within the limit."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import zstandard

MEMORY = 256 << 20
HUGE = 120 << 20
GOOD = [f"an ordinary text about the river and the harbour, number {n}" for n in range(20)]

CHILD = """
import json, resource, sys
import neardup as nd, pyarrow, pyarrow.parquet, pyarrow.json
nd.scan(sys.argv[3], sys.argv[2] + "0", memory="256MB", allow_rejects=1.0)  # what is loaded on first use
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = nd.scan(sys.argv[1], sys.argv[2], memory="256MB", allow_rejects=1.0)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([len(found), found.manifest["account"], (after - before) * 1024]))
"""


def lines(*more: bytes) -> bytes:
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in GOOD) + b"".join(more)


def huge_json() -> bytes:
    return b'{"text": "' + b"a " * (HUGE // 2) + b'"}\n'


def write_parquet(path):
    table = pa.table({"text": GOOD})
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        writer.write_table(pa.table({"text": ["a " * (HUGE // 2)]}))


def write_warc(path):
    def record(body: bytes) -> bytes:
        head = b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://example.org/\r\n"
        return (
            head + b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body + b"\r\n\r\n"
        )

    with gzip.open(path, "wb", compresslevel=1) as file:
        for text in GOOD:
            file.write(record(text.encode()))
        file.write(record(b"a " * (HUGE // 2)))


BOMBS = {
    "a.parquet": write_parquet,
    "a.jsonl.gz": lambda path: path.write_bytes(gzip.compress(lines(huge_json()), 1)),
    "a.jsonl.zst": lambda path: path.write_bytes(zstandard.ZstdCompressor(1).compress(lines(huge_json()))),
    "a.jsonl.xz": lambda path: path.write_bytes(lzma.compress(lines(huge_json()), preset=0)),
    "a.json": lambda path: path.write_bytes(
        json.dumps([{"text": text} for text in GOOD])[:-1].encode() + b"," + huge_json() + b"]"
    ),
    "a.csv": lambda path: path.write_bytes(
        b"id,text\n"
        + b"".join(b"%d,%s\n" % (n, t.replace(",", " ").encode()) for n, t in enumerate(GOOD))
        + b'99,"' + b"a " * (HUGE // 2) + b'"\n'
    ),
    "a.warc.gz": write_warc,
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes there")
@pytest.mark.parametrize("name", BOMBS)
def test_memory_holds_for_one_huge_value(name, tmp_path):
    BOMBS[name](tmp_path / name)
    (tmp_path / "small.jsonl").write_bytes(lines())
    command = [sys.executable, "-c", CHILD, *(str(tmp_path / at) for at in (name, "out", "small.jsonl"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-800:]
    documents, account, grown = json.loads(done.stdout.splitlines()[-1])
    assert documents == len(GOOD)
    assert "too large" in json.dumps(account)
    assert grown < MEMORY, f"{grown:,} bytes"
