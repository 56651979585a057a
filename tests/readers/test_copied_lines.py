"""Lines copied as they are: those that were asked for, byte for byte, for any blocks."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.readers import copied_lines
from neardup.readers.copied_lines import chosen_lines, has_lines

pieces = st.binary(max_size=12).map(lambda data: data.replace(b"\n", b" "))


def copied(path, rows):
    reader = nd.read(path, format="jsonl")
    reader.digesting = True
    parts, total = [], 0
    for runs, count in chosen_lines(reader.source, np.array(rows, np.int64), reader):
        parts += [bytes(run) for run in runs]
        total += count
    assert total == len(rows) and reader.bytes_read == path.stat().st_size and len(reader.digests) == 1
    return b"".join(parts)


@settings(max_examples=budget(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(pieces, min_size=1, max_size=20), st.booleans(), st.booleans(), st.integers(1, 40), st.data())
def test_any_lines(tmp_path, monkeypatch, lines, mark, ended, block, data):
    monkeypatch.setattr(copied_lines, "_BLOCK", block)
    if not ended and not lines[-1]:
        lines[-1] = b"x"
    if lines[0].startswith((b"\xef\xbb\xbf", b"\x1f\x8b", b"BZh", b"\xfd7z", b"(\xb5")):
        lines[0] = b"y"
    path = tmp_path / "a.jsonl"
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + b"\n".join(lines) + (b"\n" if ended else b""))
    chosen = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    rows = [i + 1 for i, wanted in enumerate(chosen) if wanted]
    assert copied(path, rows) == b"".join(lines[row - 1] + b"\n" for row in rows)


@pytest.mark.parametrize(
    ("data", "is_lines"),
    [
        (b'{"text": "a"}\n', True),
        (b'\xef\xbb\xbf{"text": "a"}\n', True),
        (b'[{"text": "a"}]', False),
        (b'{\n"text": "a"\n}\n', False),
        (gzip.compress(b'{"text": "a"}\n', mtime=0), False),
        ('{"text": "a"}\n'.encode("utf-16"), False),
    ],
)
def test_what_has_lines(tmp_path, data, is_lines):
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    assert has_lines(nd.read(path).source, None) == is_lines


@pytest.mark.parametrize("target", ["kept.jsonl", "kept/"])
def test_what_is_kept_is_written_as_it_was(tmp_path, target):
    rows = [{"id": i, "text": f"some words of {i} and {i * i}", "more": [1.50, None]} for i in range(50)]
    lines = [json.dumps(row, indent=None, separators=(" , ", " :  ")) for row in rows]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([*lines, lines[7], "bad", "", lines[8]]), newline="")
    found = nd.scan(path, tmp_path / "found")
    assert nd.apply(found, f"{tmp_path}/{target}").written == 50
    written = tmp_path / target / "in.jsonl" if target.endswith("/") else tmp_path / target
    assert written.read_text() == "".join(line + "\n" for line in lines)
    nd.apply(found, tmp_path / "gone.jsonl", write="dropped")
    assert (tmp_path / "gone.jsonl").read_text() == f"{lines[7]}\n{lines[8]}\n"
