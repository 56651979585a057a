"""Lines of bulk requests read natively: never anything else than the parser says."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("msgspec", reason="the extra `service` is not installed")

import msgspec

from neardup import _core
from neardup.http.lines import line_parts
from neardup.http.schemas import DocumentRequest, decode_document


def native(lines: bytes) -> list[tuple[str, str]] | None:
    found = _core.read_text_lines(np.frombuffer(lines, np.uint8))
    if found is None:
        return None
    ids, data, begins, ends = found
    texts = [bytes(data[a:b]).decode() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    return list(zip(ids, texts, strict=True))


def parsed(lines: bytes) -> list[tuple[str, str]] | None:
    """The same by msgspec, line by line; None if a line is anything but an id and a text."""
    if lines.endswith(b"\n"):
        lines = lines[:-1]
    documents: list[tuple[str, str]] = []
    for line in lines.split(b"\n"):
        try:
            one = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if not isinstance(one, dict) or set(one) != {"id", "text"}:
            return None
        if not all(isinstance(value, str) for value in one.values()):
            return None
        documents.append((one["id"], one["text"]))
    return documents


texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text('ab "\\\n\t/é€😀\0\x1f', max_size=100)
documents = st.lists(st.tuples(texts, texts), min_size=1, max_size=5)


@given(documents, st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_written_is_read(
    given_: list[tuple[str, str]], escaped: bool, swapped: bool, end: str, last: bool
) -> None:
    names = ("text", "id") if swapped else ("id", "text")
    lines = [
        json.dumps({name: {"id": id, "text": text}[name] for name in names}, ensure_ascii=escaped)
        for id, text in given_
    ]
    body = (end.join(lines) + (end if last else "")).encode()
    assert native(body) == given_


@given(
    documents,
    st.lists(
        st.tuples(
            st.integers(0, 10_000),
            st.sampled_from(
                [b"", b'"', b"\\", b"\n", b"{", b"}", b",", b"\\u", b"\\ud800", b"\\udc00", b"\xff"]
            )
            | st.binary(max_size=2),
            st.integers(0, 3),
        ),
        max_size=4,
    ),
)
def test_whatever_the_bytes_the_parser_reads_the_same(
    given_: list[tuple[str, str]], changes: list[tuple[int, bytes, int]]
) -> None:
    body = "\n".join(json.dumps({"id": id, "text": text}) for id, text in given_).encode()
    for at, put, cut in changes:
        at %= len(body) + 1
        body = body[:at] + put + body[at + cut :]
    found = native(body)
    assert found is None or not body or found == parsed(body)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"id": "a"}',
        b'{"text": "a"}',
        b'{"id": "a", "id": "b"}',
        b'{"id": "a", "text": null}',
        b'{"id": 1, "text": "b"}',
        b'{"id": "a", "text": "b", "ttl": 5}',
        b'{"id": "a", "text": "b"} x',
        b'{"id": "a", "text": "b"}{"id": "a", "text": "b"}',
        b'{"id": "a", "text": "b',
        b'{"id": "a", "text": "b"',
        b'{"id": "a", "text": "\\ud83d"}',
        b'{"id": "a", "text": "\\ude00\\ud83d"}',
        b'{"id": "a", "text": "\\ud83d\\u0041"}',
        b'{"id": "a", "text": "\\x"}',
        b'{"id": "a", "text": "\\u12"}',
        b'{"id": "a", "text": "\xc3"}',
        b'{"id": "a", "text": "\xed\xa0\x80"}',
        b'{"id": "a", "text": "\xc0\x80"}',
        b'{"id": "a", "text": "tab\there"}',
        b'{"i\\u0064": "a", "text": "b"}',
        b'[{"id": "a", "text": "b"}]',
        b"\n",
        b"\x00",
    ],
)
def test_anything_else_is_left_to_the_parser(line: bytes) -> None:
    good = b'{"id": "a", "text": "' + b"long " * 20 + b'"}\n'
    assert native(good) is not None
    assert native(line) is None
    assert native(good + line) is None
    assert native(line + b"\n" + good) is None


@pytest.mark.parametrize("size", range(60, 100))
def test_special_letters_at_every_place_of_a_block(size: int) -> None:
    for special in ('"', "\\", "é", "😀", "\x01", "\n"):
        text = "x" * size + special + "y" * 40
        assert native(json.dumps({"id": "i", "text": text}).encode()) == [("i", text)]
        assert native(json.dumps({"id": "i", "text": text}, ensure_ascii=False).encode()) == [("i", text)]


def test_every_level_of_the_machine_reads_the_same(cpu: object) -> None:
    given_ = [(f"{n}", "wörds 😀 and more \n" * n) for n in range(50)]
    lines = [json.dumps({"id": id, "text": text}, ensure_ascii=len(id) > 1) for id, text in given_]
    assert native("\n".join(lines).encode()) == given_


def test_parts_hold_every_line_once() -> None:
    lines = [json.dumps({"id": f"{n}", "text": "x" * (n % 7 * 100_000)}) for n in range(60)]
    parts = list(line_parts("\n".join(lines).encode(), 1000))
    assert len(parts) > 1
    ids: list[str] = []
    for part in parts:
        found = part.texts()
        assert found is not None
        ids += found[0]
    assert ids == [f"{n}" for n in range(60)]


def test_a_line_is_the_parsers_document() -> None:
    line = decode_document(b'{"id": "a", "text": "b"}')
    assert line == DocumentRequest("a", "b")
    assert line.meta is msgspec.UNSET
