"""Blank lines and brackets cost what a search for the next byte costs: no Python code runs for each of them."""

from __future__ import annotations

import gc
import sys

import pytest

import neardup as nd

ROW = b'{"id": "a", "text": "one"}\n'


def calls_of(run):
    """How many functions were called, Python's own and others. The garbage collector rests: hypothesis times it with
    calls of its own, and lists are made for what is skipped."""
    seen = [0]

    def note(frame, event, argument):
        seen[0] += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(note)
    try:
        result = run()
    finally:
        sys.setprofile(None)
        gc.enable()
    return result, seen[0]


@pytest.mark.parametrize("way", ["documents", "blocks"])
@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"   \n", b"\t \n"])
def test_blank_lines_run_no_code(tmp_path, way, blank):
    counts = []
    for many in (1_000, 200_000):
        path = tmp_path / f"{many}.jsonl"
        path.write_bytes(ROW + blank * many + ROW.replace(b"one", b"two") + blank * many)
        reader = nd.read(path)
        found, calls = calls_of(
            lambda reader=reader, way=way: (
                sum(len(x) for x in reader) if way == "documents" else sum(len(x) for x in reader.blocks())
            )
        )
        assert found == 2
        counts.append(calls)
        assert [row for batch in nd.read(path) for row in batch.rows] == [1, many + 2]
    assert counts[1] < counts[0] + 2_000, counts


TABLE = b"id,text\na,one\n"
MAIL = b"From a\nMessage-ID: <a>\n\none\n"


@pytest.mark.parametrize(
    ("name", "begin", "blank", "end", "texts"),
    [
        ("a.csv", TABLE, b"\n", b"b,two\n", ["one", "two"]),
        ("a.csv", TABLE, b"\r\n", b"b,two\n", ["one", "two"]),
        ("a.tsv", TABLE.replace(b",", b"\t"), b"\n", b"b\ttwo\n", ["one", "two"]),
        ("a.mbox", MAIL, b"\n", MAIL.replace(b"one", b"two"), ["one", "two"]),
        ("a.mbox", MAIL, b"\r\n", MAIL.replace(b"one", b"two"), ["one", "two"]),
        ("a.json", b'[{"text": "one", "a": "', b"\\n", b'"}]', ["one"]),
        ("a.json", b'[{"text": "one", "a": [', b"[],", b"1]}]", ["one"]),
        ("a.json", b'[{"text": "one", "a": [', b'"",', b"1]}]", ["one"]),
        ("a.json", b'[{"text": "one"}]', b"]", b'{"text": "two"}', ["one", "two"]),
        ("a.json", b'[{"text": "one"}]', b"}", b'{"text": "two"}', ["one", "two"]),
        ("a.json", b'[{"text": "one"},', b"}", b'{"text": "two"}]', ["one", "two"]),
    ],
)
def test_blank_lines_of_other_formats_run_no_code(tmp_path, name, begin, blank, end, texts):
    counts = []
    for many in (1_000, 200_000):
        path = tmp_path / name
        path.write_bytes(begin + blank * many + end)
        reader = nd.read(path)
        found, calls = calls_of(
            lambda reader=reader: [row["text"] for batch in reader for row in batch.records()]
        )
        assert found == texts
        counts.append(calls)
    assert counts[1] < counts[0] + 2_000, counts


@pytest.mark.parametrize(
    ("name", "begin", "junk", "row", "end"),
    [
        ("a.jsonl", ROW, b"x\n", b'{"text": "y"}\n', ROW),
        ("a.jsonl", ROW, b"{}\n", b'{"text": "y"}\n', ROW),
        ("a.json", b'[{"text": "one"},', b"1,", b'{"text": "y"},', b'{"text": "z"}]'),
        ("a.json", b'[{"text": "one"},', b"[],", b'{"text": "y"},', b'{"text": "z"}]'),
        ("a.csv", TABLE, b"x\n", b"y,some\n", b"z,end\n"),
    ],
)
def test_junk_costs_what_documents_cost(tmp_path, name, begin, junk, row, end):
    path, calls = tmp_path / name, []
    for repeated in (junk, row):
        path.write_bytes(begin + repeated * 20_000 + end)
        reader = nd.read(path)
        _, count = calls_of(lambda reader=reader: sum(1 for batch in reader for _ in batch.records()))
        calls.append(count)
    assert reader.account.rows >= 20_001
    assert calls[0] < 2 * calls[1], calls
