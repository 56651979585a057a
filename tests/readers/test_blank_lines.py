"""Blank lines cost what a search for the next byte costs: no Python code runs for each of them."""

from __future__ import annotations

import sys

import pytest

import neardup as nd

ROW = b'{"id": "a", "text": "one"}\n'


def calls_of(run):
    """How many functions were called, Python's own and others."""
    seen = [0]

    def note(frame, event, argument):
        seen[0] += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        result = run()
    finally:
        sys.setprofile(None)
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
