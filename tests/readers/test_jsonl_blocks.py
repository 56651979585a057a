"""JSONL read in columns: the same documents, rows, ids and rejects as line by line, for any input."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup import _core
from neardup.readers import jsonl_blocks as blocks
from neardup.readers import line_blocks
from neardup.readers.rejects import Rejects

PLAIN = b'{"text": "good"}\n'
NAMED = b'{"id": "x", "text": "good"}\n'
NUMBERED = b'{"id": 7, "text": "good", "n": 1.5e-3}\n'

ODD = {
    "blank": b"\n",
    "spaces": b"  \t \n",
    "carriage return": b"\r\n",
    "CRLF": b'{"text": "a", "id": "b"}\r\n',
    "NaN": b'{"text": "a", "x": NaN}\n',
    "Inf": b'{"text": "a", "x": [1, -Inf]}\n',
    "Infinity": b'{"text": "a", "x": Infinity}\n',
    "NaN in a text": b'{"text": "NaN, Infinity", "id": "NaN"}\n',
    "the text twice": b'{"text": "a", "text": "b"}\n',
    "the id twice": b'{"text": "a", "id": "b", "id": "c"}\n',
    "another twice": b'{"text": "a", "x": 1, "x": "2"}\n',
    "an escaped name": b'{"te\\u0078t": "a", "i\\u0064": "b"}\n',
    "integer id": b'{"text": "a", "id": 12}\n',
    "text id": b'{"text": "a", "id": "12"}\n',
    "minus nought": b'{"text": "a", "id": -0}\n',
    "fractional id": b'{"text": "a", "id": 1.0}\n',
    "exponential id": b'{"text": "a", "id": 1e2}\n',
    "big id": b'{"text": "a", "id": 123456789012345678901234567890}\n',
    "id true": b'{"text": "a", "id": true}\n',
    "id null": b'{"text": "a", "id": null}\n',
    "id empty": b'{"text": "a", "id": ""}\n',
    "id a list": b'{"text": "a", "id": []}\n',
    "big number": b'{"text": "a", "x": ' + b"9" * 6000 + b"}\n",
    "big exponent": b'{"text": "a", "x": 1e999}\n',
    "leading nought": b'{"text": "a", "x": 01}\n',
    "text null": b'{"text": null, "id": "b"}\n',
    "text missing": b'{"id": "b"}\n',
    "text a number": b'{"text": 5}\n',
    "text empty": b'{"text": "", "id": "b"}\n',
    "empty object": b"{}\n",
    "not an object": b'[{"text": "a"}]\n',
    "a string": b'"text"\n',
    "bad UTF-8": b'{"text": "\xff"}\n',
    "bad UTF-8 ignored": b'{"text": "a", "x": "\xc3"}\n',
    "bad UTF-8 name": b'{"text": "a", "\xff": 1}\n',
    "bad UTF-8 id": b'{"text": "a", "id": "\xed\xa0\x80"}\n',
    "bad UTF-8 outside": b'{"text": "a"}\xa0\n',
    "high surrogate": b'{"text": "\\ud800"}\n',
    "low surrogate": b'{"text": "\\udc00"}\n',
    "high surrogate ignored": b'{"text": "a", "x": "\\ud800"}\n',
    "low surrogate ignored": b'{"text": "a", "x": "\\udc00 "}\n',
    "high surrogate id": b'{"text": "a", "id": "\\ud800x"}\n',
    "surrogate pair": b'{"text": "\\ud83d\\ude00", "id": "\\ud83d\\ude00"}\n',
    "mark inside": b'\xef\xbb\xbf{"text": "a"}\n',
    "escaped nul": b'{"text": "a\\u0000b"}\n',
    "nul": b'{"text": "a\x00b"}\n',
    "nul outside": b'{"text": "a"}\x00\n',
    "tab in a text": b'{"text": "a\tb"}\n',
    "tab in another": b'{"text": "a", "x": "a\tb"}\n',
    "bad escape": b'{"text": "a", "x": "\\q"}\n',
    "two on a line": b'{"text": "a"}{"text": "b"}\n',
    "two and a blank": b'{"text": "a"} {"text": "b"}\n \n',
    "one on two lines": b'{"text":\n"a"} {"text": "b"}\n',
    "a line end in a text": b'{"text": "a\nb"}\n{"text": "c"}{"text": "d"}\n',
    "braces over a line end": b'{"text": "a}\n{"}{"text": "b"}\n{"text": "c"}\n',
    "a quote left open": b'{"text": "a}\n',
    "cut short": b'{"text": "a"\n',
    "more behind": b'{"text": "a"} x\n',
    "a comment": b'{"text": "a"/*x*/}\n',
    "one quote": b"{'text': 'a'}\n",
    "trailing comma": b'{"text": "a",}\n',
    "vertical tab": b'{"text":\x0b"a"}\n',
    "form feed": b'{"text": "a"}\x0c\n',
    "indented": b' {"text": "a"} \n',
    "escapes": b'{"text": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\\\", "x": "\\\\\\""}\n',
    "deep": b'{"text": "a", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}\n",
    "very deep": b'{"text": "a", "x": ' + b'{"a":[' * 500_000 + b"]}" * 500_000 + b"}\n",
    "wide": b'{"text": "a", "x": [' + b"[]," * 3000 + b"1]}\n",
    "brackets in a text": b'{"text": "' + b"[{" * 3000 + b'"}\n',
    "numbers in a text": b'{"text": "' + b"9" * 6000 + b'"}\n',
}


class Collected(Rejects):
    """Rejects in a list; a file would be synced each time."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def add(self, file, row, reason, detail="", sample=""):
        self.rows.append((file, row, reason, detail))


def outcome(path: Path, fast: bool, **options):
    """Documents with file, row and id; and the rejects, or the error that ended it."""
    sink = Collected()
    reader = nd.read(path if path.is_file() else sorted(path.iterdir()), rejects=sink, **options)
    found = []
    try:
        for part in reader.blocks() if fast else reader:
            if isinstance(part, blocks.TextBlock):
                assert len(part) == len(part.rows) == len(part.offsets) - 1 > 0
                documents, files, rows = part.documents(), [part.file] * len(part), part.rows.tolist()
            else:
                documents, files, rows = part.documents, part.files, part.rows
            found += [(f, row, d.id, d.text) for f, row, d in zip(files, rows, documents, strict=True)]
    except nd.ConfigError as error:
        return str(error)
    # The line reader parses some lines before it looks into the first, so the order of its rejects depends on how many.
    return found, sorted(sink.rows, key=lambda reject: reject[1])


def agree(path: Path, **options):
    slow = outcome(path, False, **options)
    assert outcome(path, True, **options) == slow
    return slow


@pytest.fixture
def parsed(monkeypatch):
    """Counts the documents that the native parser took, and the lines that it left to others."""
    taken = []

    def spy(*given):
        found = parse(*given)
        taken.append((len(found.ids), len(found.odd[0])))
        return found

    parse = blocks._parse
    monkeypatch.setattr(blocks, "_parse", spy)
    return taken


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("usual", [PLAIN, NAMED, NUMBERED], ids=["no ids", "ids", "numbers"])
def test_odd_lines(tmp_path, monkeypatch, parsed, name, usual):
    """Among good lines, at the beginning, and at the end; where the odd one is in the block of the good ones."""
    monkeypatch.setattr(line_blocks, "_BLOCK", 1000)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    path = tmp_path / "a.jsonl"
    for lines in (usual * 200 + ODD[name] + usual * 200, ODD[name] + usual * 100, usual * 100 + ODD[name]):
        path.write_bytes(lines)
        found = agree(path)
        assert isinstance(found, str) or len(found[0]) >= 100
    assert sum(count for count, _ in parsed) > 200


def test_good_lines_are_parsed_many_at_a_time(tmp_path, monkeypatch, parsed):
    monkeypatch.setattr(line_blocks, "_BLOCK", 10_000)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    line = '{"text": "ü 😀 \\"{[ \\\\", "id": "%d", "meta": {"a": [1, -2.5e-3, null, true, "}"]}}\r\n'
    (tmp_path / "a.jsonl").write_text("".join(line % i for i in range(2000)), newline="")
    found, rejects = agree(tmp_path / "a.jsonl")
    assert [row for _, row, _, _ in found] == list(range(1, 2001)) and not rejects
    assert found[1999][2:] == ("1999", 'ü 😀 "{[ \\')
    assert len(parsed) > 10 and sum(count for count, _ in parsed) == 2000


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 64, 1 << 22])
@pytest.mark.parametrize("limit", [1 << 20, 60, 17])
def test_any_block_size(tmp_path, monkeypatch, size, limit):
    monkeypatch.setattr(line_blocks, "_BLOCK", size)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    long = b'{"text": "' + b"long " * 20 + b'"}\n'
    lines = [b"\xef\xbb\xbf", PLAIN, long, b"\n", b"bad\n", long, long, NAMED, PLAIN, b'{"text": "no end"}']
    limits = nd.readers.Limits(line_bytes=limit)
    for file in (
        b"".join(lines),
        b"".join(lines) + b"\n",
        b"",
        b"\n",
        b"\xef\xbb\xbf",
        b"\xef",
        long,
        long[:-1],
    ):
        (tmp_path / "a.jsonl").write_bytes(file)
        slow = outcome(tmp_path / "a.jsonl", False, text="text", limits=limits)
        assert outcome(tmp_path / "a.jsonl", True, text="text", limits=limits) == slow


def test_limits_of_texts_and_of_what_is_not_text(tmp_path, monkeypatch):
    monkeypatch.setattr(line_blocks, "_BLOCK", 2000)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    lines = (
        PLAIN * 100
        + b'{"text": "'
        + "é".encode() * 30
        + b'"}\n'
        + b'{"text": "x", "n": [1'
        + b",1" * 200
        + b"]}\n"
    )
    (tmp_path / "a.jsonl").write_bytes(lines + PLAIN * 100)
    for limits, rejected in (
        (nd.readers.Limits(document_bytes=60), 0),
        (nd.readers.Limits(document_bytes=59), 1),
        (nd.readers.Limits(meta_bytes=300), 1),
        (nd.readers.Limits(meta_bytes=1000), 0),
    ):
        assert len(agree(tmp_path / "a.jsonl", limits=limits)[1]) == rejected


def test_a_column_that_shows_late(tmp_path, monkeypatch):
    """The layout is that of the first hundred lines, however many blocks they fill."""
    monkeypatch.setattr(line_blocks, "_BLOCK", 64)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    path = tmp_path / "a.jsonl"
    path.write_bytes(PLAIN * 50 + NAMED * 100)
    assert agree(path)[0][60][2] == "x"
    path.write_bytes(b'{"a": 1, "b": 2}\n' * 50 + NAMED * 100)
    assert len(agree(path)[1]) == 50
    path.write_bytes(PLAIN * 150 + NAMED * 100)
    assert agree(path)[0][-1][2] == "a.jsonl:250"
    path.write_bytes(b'{"a": 1, "b": 2}\n' * 150 + NAMED)
    assert "which column is the text" in agree(path)


def test_the_layout_of_the_file_before(tmp_path):
    (tmp_path / "in").mkdir()
    files = {
        "a": b'{"body": "x", "key": "1"}\n',
        "b": b'{"body": null}\n{"other": 1, "more": 2}\n',
        "c": b'{"one": 1, "two": 2}\n',
        "d": b'{"text": "y"}\n{"one": 1, "two": 2}\n',
        "e": b'{"three": "3", "four": "4"}\n',
    }
    for name, lines in files.items():
        (tmp_path / "in" / f"{name}.jsonl").write_bytes(lines)
    found, rejects = agree(tmp_path / "in")
    assert [d[3] for d in found] == ["x", "", "y"] and len(rejects) == 4
    (tmp_path / "in" / "a.jsonl").write_bytes(b'{"one": 1, "two": 2}\n')
    assert "which column is the text" in agree(tmp_path / "in")


@pytest.mark.parametrize(
    ("text", "id"), [("b", "b"), ("b", None), (None, "b"), ("a", "b"), ("a", "none"), ("none", None)]
)
def test_columns_as_named(tmp_path, monkeypatch, text, id):
    monkeypatch.setattr(line_blocks, "_BLOCK", 100)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    (tmp_path / "a.jsonl").write_bytes(b'{"a": "1", "b": "2", "c.d": "3"}\n' * 20)
    agree(tmp_path / "a.jsonl", text=text, id=id)
    agree(tmp_path / "a.jsonl", text="c.d")


def test_compressed_and_damaged(tmp_path):
    """Of a damaged file both give the same, in blocks of the usual size."""
    random = np.random.default_rng(1)
    lines = b"".join(b'{"text": "%s"}\n' % random.bytes(500).hex().encode() for _ in range(6000))
    packed = gzip.compress(lines, 1)
    path = tmp_path / "a.jsonl.gz"
    middle = len(packed) // 2
    for data in (
        packed,
        packed[:middle],
        packed[:12],
        packed[:middle] + b"\xff" * 10 + packed[middle:],
        packed[:-8] + b"\0" * 8,
    ):
        path.write_bytes(data)
        found, rejects = agree(path)
        assert data == packed or rejects[-1][2] == "damaged file"
        assert len(data) < middle or len(found) > 2000


def test_pyarrow_is_not_needed(tmp_path, monkeypatch, parsed):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "a.jsonl").write_bytes(NAMED * 50)
    assert len(agree(tmp_path / "a.jsonl")[0]) == 50 and parsed == [(50, 0)]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
objects = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=9) | values,
        "id": st.text(max_size=3) | st.integers() | values,
        "x": values,
    },
)
lines = st.one_of(
    st.builds(lambda o, a: json.dumps(o, ensure_ascii=a).encode("utf-8", "replace"), objects, st.booleans()),
    st.builds(lambda o: json.dumps({"text": "t", "id": "i", **o}).encode(), objects),
    st.sampled_from([PLAIN[:-1], NAMED[:-1], NUMBERED[:-1]] * 3),
    st.binary(max_size=12),
    st.sampled_from([line for line in ODD.values() if len(line) < 100]),
)


@settings(max_examples=budget(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines, max_size=12), st.sampled_from([b"\n", b"\r\n"]), st.integers(30, 400), st.booleans())
@example([b'{"text": "good"}', b"{}", b"\0"], b"\n", 30, True)  # two reasons in one part of the file
def test_any_lines(tmp_path, monkeypatch, many, end, size, ended):
    monkeypatch.setattr(line_blocks, "_BLOCK", size)
    monkeypatch.setattr(line_blocks, "_SPARE", 1)
    (tmp_path / "a.jsonl").write_bytes(end.join(many) + (end if ended else b""))
    agree(tmp_path / "a.jsonl", text="text")


def test_cpu_levels_read_the_same(cpu):
    """Strings of every length around a step, each kind of character at each place in it."""
    texts = [
        "x" * at + sign + "y" * (130 - at)
        for at in range(130)
        for sign in ('"', "\\", "\n", "\x00", "\x7f", "é", "😀", "/")
    ] + ["z" * length for length in range(200)]
    lines = [
        json.dumps({"n": "é\n", "text": text, "id": i}, ensure_ascii=i % 2 == 0)
        for i, text in enumerate(texts)
    ]
    block = np.frombuffer("\n".join(lines).encode() + b"\n", np.uint8)
    count, (data, ends), (ids, id_ends), _, odd = _core.read_documents(block, "text", "id", 1 << 20, 1 << 20)
    assert count == len(texts) == len(ends) == len(id_ends) and not len(odd[0])
    assert data.tobytes() == "".join(texts).encode()
    assert ids.tobytes() == "".join(map(str, range(len(texts)))).encode()
    for at in (0, 31, 32, 63, 64, 100):
        for bad in (b"\x1f", b"\xff", b"\xed\xa0\x80", b"\\x", b"\\ud800"):
            line = b'{"id": 1, "text": "' + b"x" * at + bad + b"y" * 80 + b'"}\n'
            found = _core.read_documents(np.frombuffer(line, np.uint8), "text", "id", 1 << 20, 1 << 20)
            assert found[4][0].tolist() == [0] and not len(found[1][1]), (at, bad)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_a_wrong_byte_anywhere_in_a_text_at_every_level(cpu):
    """Texts of every script with one byte changed: read if they are UTF-8 all the same, odd if not."""
    rng = random.Random(3)
    edges = (
        0x7F,
        0x80,
        0x8F,
        0x90,
        0x9F,
        0xA0,
        0xBF,
        0xC0,
        0xC1,
        0xC2,
        0xDF,
        0xE0,
        0xED,
        0xF0,
        0xF4,
        0xF5,
        0xFF,
    )
    lines, sound = [], []
    for letters in ("é", "аб", "ࠀ中\ud7ff\ue000", "𐀀😀\U0010ffff", "aé中😀"):
        for at in range(150):
            text = bytearray("".join(rng.choices(letters + " x", k=150)).encode()[:200])
            text[at] = rng.choice(edges)
            sound.append(is_utf8(bytes(text)))
            lines.append(b'{"id": 1, "text": "' + bytes(text) + b'"}')
    lines.append(b'{"id": 1, "text": "' + b" " * 200 + b'"}')
    block = np.frombuffer(b"\n".join(lines) + b"\n", np.uint8)
    _, (data, _), _, documents, odd = _core.read_documents(block, "text", "id", 1 << 20, 1 << 20)
    assert documents[0].tolist() == [i for i, good in enumerate([*sound, True]) if good]
    assert odd[0].tolist() == [i for i, good in enumerate(sound) if not good]
    assert 0 < sum(sound) < len(sound)
    kept = [line[19:-2] for line, good in zip(lines, [*sound, True], strict=True) if good]
    assert data.tobytes() == b"".join(kept)
