"""Delimiters, quotes and encodings are found out, with samples cut anywhere."""

import csv
import io
import random

import pytest

from neardup.readers.compression import Stream
from neardup.readers.dialects import Dialect, sniff
from neardup.readers.encodings import as_utf8, decode_text, detect
from neardup.readers.limits import Limits

WORDS = [
    "the;",
    "quick,",
    '"brown"',
    "fox's",
    "|",
    "jumps",
    "over,",
    "and",
    "company",
    "said:",
    "it",
    "not;",
    "so",
]


def table(delimiter, words, quoting, doubled):
    chance = random.Random(words)
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=delimiter,
        quoting=quoting,
        lineterminator="\n",
        doublequote=doubled,
        escapechar=None if doubled else "\\",
    )
    rows = [["id", "text", "date"]]
    for number in range(40):
        text = " ".join(chance.choice(WORDS) for _ in range(words))
        rows.append([str(number), f"{text}\n\n{text}" if number % 3 == 0 else text, "2024-01-02"])
    writer.writerows(rows)
    return out.getvalue(), rows


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("words", [1, 8, 80, 800])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("doubled", [True, False])
def test_tables_of_texts(delimiter, words, quoting, doubled):
    text, rows = table(delimiter, words, quoting, doubled)
    for size in (4_000, 16_000, 65_536):
        dialect = sniff(text[:size], "csv", None, size >= len(text))
        assert list(csv.reader(io.StringIO(text, newline=""), **dialect.settings)) == rows, (size, dialect)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("text\none, two\nthree\n", Dialect(",")),
        ("", Dialect(",")),
        ("id;text, all of it\n1;a, b, c\n2;d\n", Dialect(";")),
        ('id\ttext\n1\t"x\n2\ty z\n3\tv\n', Dialect("\t", quoted=False)),
        ("id,text\n'1','a, b'\n'2','c, d'\n'3','e'\n", Dialect(",", quote="'")),
        ('id,path\n1,"C:\\dir\\"\n2,"D:\\a, b\\"\n', Dialect(",")),
    ],
)
def test_odd_tables(text, dialect):
    assert sniff(text, "csv", None, True) == dialect


def test_a_delimiter_that_is_given():
    assert sniff("a,b;c\n1,2;3\n", "csv", ";", True).delimiter == ";"


SENTENCES = {
    "cp1252": "L\u2019été dernier, les élèves ont été reçus à l\u2019école",
    "cp1250": "Zażółć gęślą jaźń, proszę bardzo, książka leży na stole",
    "cp1251": "Быстрая коричневая лиса прыгает через ленивую собаку",
    "koi8-r": "Быстрая коричневая лиса прыгает через ленивую собаку",
    "shift_jis": "日本語の文章をここに書きます。東京は日本の首都です。",
    "gb18030": "这是一个中文句子,用于测试。北京是中国的首都。",
    "utf-16": "für alle",
    "utf-32": "für alle",
    "utf-8-sig": "für alle",
    "utf-8": "für alle",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_encodings(encoding):
    data = SENTENCES[encoding].encode(encoding)
    assert decode_text(data, None)[0] == SENTENCES[encoding]
    lines = "\n".join([SENTENCES[encoding]] * 50_000)
    with Stream(io.BytesIO(lines.encode(encoding)), Limits()) as stream:
        content, head = as_utf8(stream, None, guess=True)
        assert lines.startswith(head.decode("utf-8", "ignore")[:100_000])
        whole = b""
        while piece := content.read(1 << 18):
            whole += piece
    assert whole.removeprefix(b"\xef\xbb\xbf").decode() == lines


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_mark_in_two_pieces(encoding):
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(1)

    with Stream(Slow("für".encode(encoding)), Limits()) as stream:
        content, _ = as_utf8(stream, None, guess=True)
        assert (
            b"".join(iter(lambda: content.read(1 << 18), b"")).removeprefix(b"\xef\xbb\xbf").decode() == "für"
        )


def test_utf8_with_damaged_bytes_is_utf8():
    assert detect("für alle, überall".encode() + b"\xff") == "utf-8"
    assert detect("für".encode("latin-1")) != "utf-8"


def test_without_the_detector_it_is_windows_1252(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "resiliparse.parse.encoding", None)
    assert decode_text("für \u201ealle\u201c".encode("cp1252"), None) == ("für \u201ealle\u201c", "cp1252")
    assert decode_text(b"\x81", None) == (None, "cp1252")
