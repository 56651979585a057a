"""`neardup index seen --out`: a stream in, what is new of it out, line by line as it was."""

from __future__ import annotations

import json

import pytest
from support.command import run

pytestmark = pytest.mark.process
FIRST = '{"id" :"a",  "text": "the ferry leaves the north pier at eight each morning"}'
AGAIN = '{ "id":"b", "text":"The ferry leaves the NORTH pier at eight each morning!" }'
OTHER = '{"text": "whisk the eggs with the sugar until they are pale",   "id": "c", "n": 1.50}'


def test_only_what_is_new_comes_out_and_lines_are_unchanged(tmp_path):
    index = str(tmp_path / "pages.nd")
    data = f"{FIRST}\n{AGAIN}\nnot json\n".encode()
    result = run("index", "seen", index, "-", "--out", "-", "--format", "jsonl", stdin=data)
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


def test_csv_stays_csv(tmp_path):
    data = b"id;text\r\n1;'x;y'\r\n2;noch ein Text\r\n3;noch ein Text\r\n"
    arguments = ("index", "seen", str(tmp_path / "i"), "-", "--format", "csv", "--out", "-")
    assert run(*arguments, stdin=data).stdout.startswith(b"id;text\r\n")
    assert b"3;" not in run(*arguments, stdin=data).stdout
