"""Bombs under `--memory`: single huge cells and lines of every format are rejected with a reason, within the limit."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import zstandard

MEMORY = 256 << 20
HUGE = 120 << 20
GOOD = [f"an ordinary text about the river and the harbour, number {n}" for n in range(20)]

# The peak is that of the process itself: ru_maxrss of a child begins at what its parent has in memory.
PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
"""

CHILD = (
    PEAK
    + """
import json, sys
import neardup as nd, pyarrow, pyarrow.parquet, pyarrow.json
nd.scan(sys.argv[3], sys.argv[2] + "0", memory="256MB", allow_rejects=1.0)  # what is loaded on first use
before = peak()
found = nd.scan(sys.argv[1], sys.argv[2], memory="256MB", allow_rejects=1.0)
print(json.dumps([len(found), found.manifest["account"], peak() - before]))
"""
)

READ = (
    PEAK
    + """
import json, sys
import neardup as nd, pyarrow, pyarrow.parquet
before = peak()
reader = nd.read(sys.argv[1], limits=nd.readers.Limits.within(256 << 20))
documents = sum(map(len, reader))
print(json.dumps([documents, dict(reader.account.rejected), peak() - before]))
"""
)


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


def write_batches(path, *batches, kind=pa.ipc.new_file, compression=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as file, kind(file, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write(batch)


def texts_batch(texts):
    return pa.record_batch({"text": texts})


def one_list(elements, kind):
    """A row with a list of many elements among ordinary rows."""
    lists = [[] for _ in GOOD]
    rows = pa.concat_arrays([pa.array(lists, kind), pa.array([elements], kind)])
    return pa.record_batch({"text": [*GOOD, "with a list"], "list": rows})


def views_of_one(value, rows):
    """Rows that all point to the same bytes."""
    one = pa.array([value], pa.string_view())
    views = one.buffers()[1].to_pybytes() * rows
    buffers = [None, pa.py_buffer(views), one.buffers()[2]]
    try:
        return pa.Array.from_buffers(pa.string_view(), rows, buffers)
    except ValueError as error:
        if "number of buffers" not in str(error):
            raise
        pytest.skip(f"pyarrow {pa.__version__} cannot make views from buffers (make test has one that can)")


def with_rows(batch, said, forged):
    """An Arrow stream of a batch whose header says another number of rows."""
    file = io.BytesIO()
    with pa.ipc.new_stream(file, batch.schema) as writer:
        writer.write(batch)
    data = file.getvalue()
    assert data.count(said.to_bytes(8, "little")) > 0
    return data.replace(said.to_bytes(8, "little"), forged.to_bytes(8, "little"))


LARGE = ["a " * 511 + f"{n:02}" for n in range(100)] * 3500  # 350 MB
ARROWS = {
    "a large batch": (lambda path: write_batches(path, texts_batch(LARGE)), 350_000, {}),
    "a large batch in a stream": (
        lambda path: write_batches(path, texts_batch(LARGE), texts_batch(GOOD), kind=pa.ipc.new_stream),
        350_020,
        {},
    ),
    "a large compressed batch": (
        lambda path: write_batches(
            path, texts_batch(GOOD), texts_batch(LARGE), texts_batch(GOOD), compression="lz4"
        ),
        40,
        {"too large": 1},
    ),
    "a large compressed batch in a stream": (
        lambda path: write_batches(
            path,
            texts_batch(GOOD),
            texts_batch(LARGE),
            texts_batch(GOOD),
            kind=pa.ipc.new_stream,
            compression="zstd",
        ),
        40,
        {"too large": 1},
    ),
    "a list of many numbers": (
        lambda path: write_batches(path, one_list(bytes(8 << 20), pa.list_(pa.int8()))),
        20,
        {"too large": 1},
    ),
    "a list of many empty texts": (
        lambda path: write_batches(path, one_list([""] * (4 << 20), pa.list_(pa.string()))),
        20,
        {"too large": 1},
    ),
    "views of one value": (
        lambda path: write_batches(path, texts_batch(views_of_one("a " * (1 << 19), 1000))),
        1000,
        {},
    ),
    "more rows than its bytes can hold": (
        lambda path: path.write_bytes(
            with_rows(pa.record_batch({"text": pa.nulls(77_777)}), 77_777, 1 << 40)
        ),
        0,
        {"damaged file": 1},
    ),
    "a dictionary of large values": (
        lambda path: write_batches(
            path,
            texts_batch(
                pa.DictionaryArray.from_arrays(
                    pa.array([n % 8 for n in range(120)], pa.int32()),
                    pa.array([f"{n} " + "a " * (2 << 20) for n in range(8)]),
                )
            ),
        ),
        120,
        {},
    ),
}


def write_lists(path, *groups, **how):
    """A row group for each batch."""
    with parquet.ParquetWriter(path, groups[0].schema, compression="zstd", **how) as writer:
        for group in groups:
            writer.write_table(pa.table(group))


def many_lists(rows, length):
    """Ordinary rows with lists, together much larger than the limit."""
    numbers = pa.array(bytes(rows * length), pa.int8()) if length else pa.array([], pa.int8())
    lists = pa.ListArray.from_arrays(pa.array(range(0, rows * length + 1, length), pa.int32()), numbers)
    return pa.record_batch({"text": [f"text {n}" for n in range(rows)], "list": lists})


PARQUETS = {
    "a list of many numbers in Parquet": (
        lambda path: write_lists(
            path,
            one_list([], pa.list_(pa.int8())),
            one_list(bytes(8 << 20), pa.list_(pa.int8())),
            one_list([], pa.list_(pa.int8())),
        ),
        42,
        {"too large": 1},
    ),
    "a list of nulls in pages of version 2": (
        lambda path: write_lists(
            path, one_list([], pa.list_(pa.int8())), one_list([None] * (8 << 20), pa.list_(pa.int8())),
            data_page_version="2.0",
        ),
        21,
        {"too large": 1},
    ),
    "a list of one large text many times": (
        lambda path: write_lists(
            path, one_list([], pa.list_(pa.string())), one_list(["a " * 100_000] * 2000, pa.list_(pa.string()))
        ),
        21,
        {"too large": 1},
    ),
    "many lists in one row group": (lambda path: write_lists(path, many_lists(20_000, 1000)), 20_000, {}),
    "many lists in pages of version 2": (
        lambda path: write_lists(path, many_lists(20_000, 1000), data_page_version="2.0"), 20_000, {}
    ),
}  # fmt: skip


def write_npy(path, shape, size):
    """A matrix of so many rows and numbers, as its header says; the file is as large, and mostly empty."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        file.truncate(size)


# Vectors are no texts, so without a config for vectors their type is wrong.
MATRICES = {
    "one huge row": ((1, 80 << 20), 320 << 20, 0, {"too large": 1}),
    "rows that are huge together": ((60, 100_000), 128 + 24_000_000, 0, {"wrong type": 60}),
    "more rows than the header counts": ((60, 10), 4128, 0, {"wrong type": 60, "damaged file": 1}),
    "more rows than are there": ((1 << 50, 10), 4128, 0, {"wrong type": 100, "damaged file": 1}),
    "more numbers than can be counted": ((2, 1 << 62), 4096, 0, {"too large": 1}),
    "a negative number of numbers": ((10, -5), 4096, 0, {"damaged file": 1}),
    "a negative number of rows": ((-10, 5), 4096, 0, {"damaged file": 1}),
}


MAILS = {
    "short lines": b"\n" + b"ab\n" * (5 << 20),
    "tags": b"Content-Type: text/html\n\n" + b"<b>\n" * (4 << 20),
    "parts": b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n\n" * (2 << 20),
}


@pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of a process is read from /proc (run it on Linux)"
)
@pytest.mark.parametrize("name", BOMBS)
def test_memory_holds_for_one_huge_value(name, tmp_path):
    BOMBS[name](tmp_path / name)
    documents, account, grown = scanned(tmp_path, name)
    assert documents == len(GOOD)
    assert "too large" in json.dumps(account)
    assert grown < MEMORY, f"{grown:,} bytes"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc (run it on Linux)")
@pytest.mark.parametrize("value", [b'""', b"{}"])
def test_memory_holds_for_a_line_of_small_values(tmp_path, value):
    """The line is within the limit of a line, and is measured without a copy of each value."""
    many = b'{"text": "a b", "n": [' + b",".join([value] * (10 << 20)) + b"]}\n"
    (tmp_path / "a.jsonl").write_bytes(lines(many))
    documents, account, grown = scanned(tmp_path, "a.jsonl")
    assert documents == len(GOOD) and account["rows"]["rejected"] == {"too large": 1}
    assert grown < MEMORY, f"{grown:,} bytes"


@pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of a process is read from /proc (run it on Linux)"
)
@pytest.mark.parametrize("name", MAILS)
def test_memory_holds_for_a_mail_within_the_limit(name, tmp_path):
    """A parser that keeps an object for each line, tag or part takes many times the size of the mail."""
    (tmp_path / "a.mbox").write_bytes(mails(MAILS[name]))
    documents, _, grown = scanned(tmp_path, "a.mbox")
    assert documents == len(GOOD) + (name != "parts")
    assert grown < MEMORY, f"{grown:,} bytes"


@pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of a process is read from /proc (run it on Linux)"
)
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


@pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of a process is read from /proc (run it on Linux)"
)
@pytest.mark.parametrize("name", [*ARROWS, *PARQUETS])
def test_memory_holds_for_batches_and_lists(tmp_path, name):
    write, documents, rejected = (ARROWS | PARQUETS)[name]
    path = tmp_path / ("a.arrow" if name in ARROWS else "a.parquet")
    write(path)
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-800:]
    found, refused, grown = json.loads(done.stdout)
    assert (found, refused) == (documents, rejected)
    assert grown < MEMORY, f"{grown:,} bytes"


@pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of a process is read from /proc (run it on Linux)"
)
@pytest.mark.parametrize("name", MATRICES)
def test_memory_holds_for_matrices(tmp_path, name):
    shape, size, documents, rejected = MATRICES[name]
    write_npy(tmp_path / "a.npy", shape, size)
    command = [sys.executable, "-c", READ, str(tmp_path / "a.npy")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-800:]
    found, refused, grown = json.loads(done.stdout)
    assert (found, refused) == (documents, rejected)
    assert grown < MEMORY, f"{grown:,} bytes"


def scanned(tmp_path, name) -> tuple[int, dict, int]:
    """A scan in a process of its own: documents, its account, and by how much the process grew."""
    (tmp_path / "small.jsonl").write_bytes(lines())
    command = [sys.executable, "-c", CHILD, *(str(tmp_path / at) for at in (name, "out", "small.jsonl"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-800:]
    documents, account, grown = json.loads(done.stdout.splitlines()[-1])
    return documents, account, grown
