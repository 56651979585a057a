"""The format of a file by its first bytes, if its name does not say it."""

from __future__ import annotations

import codecs
import json
import os
import re
from typing import BinaryIO

from neardup.errors import NeardupError
from neardup.readers.compression import COMPRESSIONS, Stream
from neardup.readers.limits import Limits

__all__ = ["ANY_MARK", "HEAD", "MARKS", "is_binary", "recognise"]

HEAD = 8192
# UTF-32 before UTF-16: the mark of one begins with that of the other.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
ANY_MARK = tuple(mark for mark, _ in MARKS)
# Formats that may have no zero byte near their beginning; all others do, or have many control characters.
_MAGIC = (b"%PDF-", b"PK\x03\x04", b"GIF8", b"\xff\xd8\xff", b"ID3", b"Rar!", b"\x7fELF", b"!<arch>\n")
_CONTROLS = bytes({*range(1, 9), *range(14, 27), *range(28, 32), 127})
_PAGE = re.compile(rb"\s*(<\?xml[^>]{0,200}>\s*)?(<!doctype html|<html[\s>])", re.IGNORECASE)
_MAIL = re.compile(rb"From \S+@?\S* .{0,60}\d\d:\d\d.{0,30}\r?\n")
# Endings that say nothing about what is inside.
_VAGUE = {"", ".data", ".dat", ".part", ".out", ".dump", ".jl", ".jsonlines", ".ldjson"}


def recognise(name: str, file: BinaryIO) -> str:
    """The format of a file whose name says none: "text" for anything readable of no other format, or "binary"."""
    try:
        with Stream(file, Limits()) as stream:
            head = b""
            while len(head) < HEAD and (data := stream.read(HEAD)):
                head += data
            if stream.damage and not head:
                return "binary"
    except NeardupError:  # compressed in a way that an extra reads
        return "binary"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    if re.match(rb"WARC/\d\.\d\r?\n", head):
        return "warc"
    if is_binary(head):
        return "binary"
    stem, suffix = os.path.splitext(name.lower())
    vague = (os.path.splitext(stem)[1] if suffix in COMPRESSIONS else suffix) in _VAGUE
    if _is_jsonl(head.removeprefix(codecs.BOM_UTF8), vague):
        return "jsonl"
    if vague and _PAGE.match(head.removeprefix(codecs.BOM_UTF8)):
        return "html"
    return "mbox" if vague and _MAIL.match(head) else "text"


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are not text in any encoding."""
    if head.startswith(ANY_MARK):
        return False
    if b"\0" in head or head.startswith(_MAGIC):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > 2 and controls * 50 > len(head)


def _is_jsonl(head: bytes, vague: bool) -> bool:
    """Whether two lines are JSON objects; one is enough for a file that has no other and no name for something else."""
    if not head.lstrip().startswith(b"{"):
        return False
    lines = [line for line in head.split(b"\n") if line.strip()]
    cut = len(head) >= HEAD
    if len(lines) == 1 and cut:  # a line longer than what is seen
        return vague and re.match(rb'\s*\{\s*"[^"\n]{0,100}"\s*:', head) is not None
    if len(lines) > 1 and cut:
        lines = lines[: max(1, len(lines) - 1)]
    if len(lines) == 1 and not vague:
        return False
    return all(_is_object(line) for line in lines[:2])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
