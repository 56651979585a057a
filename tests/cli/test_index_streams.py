"""`neardup index seen --out`: a stream in, what is new of it out, line by line as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from support.command import run

pytestmark = pytest.mark.process
FIRST = '{"id" :"a",  "text": "the ferry leaves the north pier at eight each morning"}'
AGAIN = '{ "id":"b", "text":"The ferry leaves the NORTH pier at eight each morning!" }'
OTHER = '{"text": "whisk the eggs with the sugar until they are pale",   "id": "c", "n": 1.50}'


def test_only_what_is_new_comes_out_and_lines_are_unchanged(tmp_path):
    index = str(tmp_path / "pages.nd")
    data = f"{FIRST}\n{AGAIN}\nnot json\n".encode()
    arguments = ("--out", "-", "--format", "jsonl", "--allow-rejects", "0.5")
    result = run("index", "seen", index, "-", *arguments, stdin=data)
    assert result.returncode == 0 and result.stdout == f"{FIRST}\n".encode()
    assert b"1 of 2 documents new" in result.stderr and b"1 could not be read" in result.stderr
    out = tmp_path / "new.jsonl"
    (tmp_path / "today.jsonl").write_text(f"{AGAIN}\n{OTHER}\n")
    arguments = ("index", "seen", index, str(tmp_path / "today.jsonl"), "--out", str(out), "--json")
    said = json.loads(run(*arguments).stdout)
    assert out.read_text() == f"{OTHER}\n"
    assert said == {"documents": 2, "new": 1, "out": str(out), "rejected": {}}
    result = run(*arguments)
    assert result.returncode == 1 and b"--overwrite" in result.stderr


def test_streams_without_ids_do_not_replace_each_other(tmp_path):
    index = str(tmp_path / "pages.nd")
    first, second = b"a line of words\nanother line of words\n", b"a third line of words\na line of words\n"
    assert run("index", "seen", index, "-", "--out", "-", stdin=first).stdout == first
    assert run("index", "seen", index, "-", "--out", "-", stdin=second).stdout == b"a third line of words\n"
    assert run("index", "seen", index, "-", "--out", "-", stdin=second).stdout == b""


def test_an_unknown_ending_is_an_error_before_anything_is_remembered(tmp_path):
    index = str(tmp_path / "pages.nd")
    result = run("index", "seen", index, "-", "--out", str(tmp_path / "x.dat"), stdin=FIRST.encode())
    assert (
        result.returncode == 1 and b"--out-format" in result.stderr and not (tmp_path / "pages.nd").exists()
    )


def test_csv_remains_csv(tmp_path):
    data = b"id;text\r\n1;'x;y'\r\n2;noch ein Text\r\n3;noch ein Text\r\n"
    arguments = ("index", "seen", str(tmp_path / "i"), "-", "--format", "csv", "--out", "-")
    assert run(*arguments, stdin=data).stdout.startswith(b"id;text\r\n")
    assert b"3;" not in run(*arguments, stdin=data).stdout


def test_too_much_that_cannot_be_read_is_said_after_the_rest_is_written(tmp_path):
    """The index remembers what was read, so it is written; the exit code says that it was not all."""
    index, out = tmp_path / "pages.nd", tmp_path / "new.jsonl"
    result = run("index", "seen", str(index), "-", "--out", str(out), stdin=f"{FIRST}\nno\nno\n".encode())
    assert result.returncode == 2 and b"2 of 3 rows could not be read" in result.stderr
    assert out.read_text() == f"{FIRST}\n"
    result = run("index", "seen", str(index), "-", "--out", str(out), "--overwrite", stdin=b"{no\n")
    assert result.returncode == 2 and out.read_text() == f"{FIRST}\n", "no empty file in its place"


@pytest.mark.parametrize("out", ["-", "new.lines"])
def test_a_killed_stream_is_not_lost(tmp_path, out):
    """The index remembers rows that no output has; the same stream again gives all of them."""
    lines = [f"line {n} of a stream with words {n * 7} and {n * 13}\n".encode() for n in range(3000)]
    index, place = str(tmp_path / "pages.nd"), out if out == "-" else str(tmp_path / out)
    arguments = ["index", "seen", index, "-", "--format", "lines", "--out", place]
    first = b"something of the day before\n"
    assert run("index", "seen", index, "-", "--format", "lines", "--out", "-", stdin=first).stdout == first
    command = [sys.executable, "-m", "neardup", *arguments[:-1], "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as killed:
        assert killed.stdin is not None and killed.stdout is not None
        killed.stdin.write(b"".join(lines))
        killed.stdin.close()
        # It cannot end: the pipe is too small for all that is new, and nobody reads the rest.
        assert killed.stdout.readline() == lines[0], "the first rows are in the index"
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    done = run(*arguments, stdin=b"".join(lines) + first)
    assert done.returncode == 0
    assert (done.stdout if out == "-" else (tmp_path / out).read_bytes()) == b"".join(lines)
    assert run(*arguments[:-1], "-", stdin=b"".join(lines)).stdout == b"", "now they are known"
