"""Bombs under `--memory`: single huge cells and lines of every format are rejected with a reason, within the limit."""

from __future__ import annotations

import gzip
import json
import lzma
import os
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


READ = """
import json, resource, sys
import neardup as nd, pyarrow, pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reader = nd.read(sys.argv[1], limits=nd.readers.Limits.within(256 << 20))
documents = sum(map(len, reader))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([documents, dict(reader.account.rejected), (after - before) * 1024]))
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


def write_incompressible(path):
    """A huge value that is almost not compressed, with small ones in its page; and enough rows beside it."""
    table = pa.table({"text": GOOD})
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        writer.write_table(pa.table({"text": ["before", os.urandom(HUGE // 2).hex(), "behind"]}))


def write_shared(path, typed):
    """Values of 4 MB that are stored once and are the texts of many rows; ordinary ones in a group of their own."""
    huge = pa.array([os.urandom(2 << 20).hex() for _ in range(8)])
    rows = pa.DictionaryArray.from_arrays(pa.array([n % 8 for n in range(120)], pa.int32()), huge)
    good = pa.table({"text": pa.array(GOOD).dictionary_encode()})
    how = {"dictionary_pagesize_limit": 1 << 30, "compression": "none", "store_schema": typed}
    with parquet.ParquetWriter(path, good.schema, **how) as writer:
        writer.write_table(good)
        writer.write_table(pa.table({"text": rows}))


def write_dictionary_arrow(path):
    table = pa.table({"text": pa.array([*GOOD, "a " * (HUGE // 2)]).dictionary_encode()})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def write_arrow(path):
    table = pa.table({"text": [*GOOD[:10], "a " * (HUGE // 2), *GOOD[10:]]})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


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


def mails(*more: bytes) -> bytes:
    """A mailbox: one mail for each good text, and these."""
    whole = (b"Message-ID: <%d@example.org>\n\n%s\n" % (n, text.encode()) for n, text in enumerate(GOOD))
    return b"".join(b"From x\n" + mail + b"\n" for mail in (*whole, *more))


BOMBS = {
    "a.mbox.gz": lambda path: path.write_bytes(gzip.compress(mails(b"\n" + b"a " * (HUGE // 2) + b"\n"), 1)),
    "b.mbox": lambda path: path.write_bytes(mails(b"X: y\n" * (3 << 20) + b"\nheaders\n")),
    "a.parquet": write_parquet,
    "b.parquet": write_incompressible,
    "a.arrow": write_arrow,
    "b.arrow": write_dictionary_arrow,
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


MAILS = {
    "short lines": b"\n" + b"ab\n" * (5 << 20),
    "tags": b"Content-Type: text/html\n\n" + b"<b>\n" * (4 << 20),
    "parts": b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n\n" * (2 << 20),
}


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit here (run it on Linux)")
@pytest.mark.parametrize("name", BOMBS)
def test_memory_holds_for_one_huge_value(name, tmp_path):
    BOMBS[name](tmp_path / name)
    documents, account, grown = scanned(tmp_path, name)
    assert documents == len(GOOD)
    assert "too large" in json.dumps(account)
    assert grown < MEMORY, f"{grown:,} bytes"


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit here (run it on Linux)")
@pytest.mark.parametrize("name", MAILS)
def test_memory_holds_for_a_mail_within_the_limit(name, tmp_path):
    """A parser that keeps an object for each line, tag or part takes many times the size of the mail."""
    (tmp_path / "a.mbox").write_bytes(mails(MAILS[name]))
    documents, _, grown = scanned(tmp_path, "a.mbox")
    assert documents == len(GOOD) + (name != "parts")
    assert grown < MEMORY, f"{grown:,} bytes"


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit here (run it on Linux)")
@pytest.mark.parametrize("typed", [False, True])
def test_memory_holds_for_values_that_many_rows_share(tmp_path, typed):
    """Few rows are decoded at a time. A column of Arrow's dictionary type, which holds its dictionary several times, is
    rejected."""
    write_shared(tmp_path / "a.parquet", typed)
    command = [sys.executable, "-c", READ, str(tmp_path / "a.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    documents, rejected, grown = json.loads(done.stdout)
    assert (documents, rejected) == ((len(GOOD), {"too large": 1}) if typed else (len(GOOD) + 120, {}))
    assert grown < MEMORY, f"{grown:,} bytes"


def scanned(tmp_path, name) -> tuple[int, dict, int]:
    """A scan in a process of its own: documents, its account, and by how much the process grew."""
    (tmp_path / "small.jsonl").write_bytes(lines())
    command = [sys.executable, "-c", CHILD, *(str(tmp_path / at) for at in (name, "out", "small.jsonl"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-800:]
    documents, account, grown = json.loads(done.stdout.splitlines()[-1])
    return documents, account, grown
