"""Records taken out of chunks: the same rows, documents and rejects as by the csv module alone, for any file."""

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.readers import lines, plain_records
from neardup.readers.limits import Limits
from neardup.readers.rejects import Rejects

PIECES = st.sampled_from(
    ['"', '""', ",", ";", "\n", "\r\n", "\r", "'", "a", "some words", "é", "\\", "\ufeff", " "]
)
CELLS = st.text(alphabet="ab é,\"\n\r;'", max_size=12)


class Recorded(Rejects):
    """Rejects that remember all they were given."""

    def __init__(self):
        super().__init__()
        self.added = []

    def add(self, file, row, reason, detail="", sample=""):
        self.added.append((file, row, reason, detail, sample))
        super().add(file, row, reason, detail, sample)


def outcome(path: Path, widest: int, monkeypatch, limits: Limits | None = None):
    monkeypatch.setattr(plain_records, "_WIDEST", widest)
    rejects = Recorded()
    reader = nd.read(path, text="text", id="id", limits=limits or Limits()).with_rejects(rejects)
    found = [
        (row, document.id, document.text)
        for batch in reader
        for document, row in zip(batch, batch.rows, strict=True)
    ]
    return found, rejects.added, reader.account.rows


@pytest.fixture(params=[(1 << 18, 1 << 16), (7, 20), (1, 1)], ids=str)
def chunks(request, monkeypatch):
    """How much is read at a time, and how much is at hand for a record."""
    monkeypatch.setattr(lines, "CHUNK", request.param[0])
    monkeypatch.setattr(plain_records, "_ROOM", request.param[1])


@settings(max_examples=budget(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=40).map("".join), st.integers(20, 200))
@example('"a","b\nc ""d"""\r\n5" pipe,x\n"e"f,g\n"never closed\n', 100)
@example("a,b\r\r\n\n\r\nc,\n,\n", 100)
def test_any_file(tmp_path, monkeypatch, chunks, text, limit):
    path = tmp_path / "a.csv"
    path.write_bytes(f"id,text\nfirst,row\n{text}".encode())
    for limits in (None, Limits(line_bytes=limit), Limits(document_bytes=limit)):
        assert outcome(path, 16, monkeypatch, limits) == outcome(path, 0, monkeypatch, limits)


@settings(max_examples=budget(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=9), st.sampled_from(["\n", "\r\n"]))
def test_what_python_writes(tmp_path, monkeypatch, chunks, rows, end):
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=end)
        writer.writerow(["id", "text"])
        writer.writerows((f"{number} {id}", text) for number, (id, text) in enumerate(rows))
    assert outcome(path, 16, monkeypatch) == outcome(path, 0, monkeypatch)


def test_plain_records_do_not_go_through_the_csv_module(tmp_path, monkeypatch):
    """Long texts of many lines, with quotes in them, are taken out at once; an odd row is not."""
    seen = []
    plain = plain_records.PlainRecords.line
    monkeypatch.setattr(plain_records.PlainRecords, "line", lambda self: seen.append(plain(self)) or seen[-1])
    path = tmp_path / "a.csv"
    long = 'a,"one\ntwo ""three""\n' + "more\n" * 1000
    path.write_text(f'id,text\n{long}"\n"b"odd,c\nd,"e\nf"\n')
    assert [document.id for document in nd.read(path).documents()] == ["a", "bodd", "d"]
    assert seen == [(b"id,text", True), (b'"b"odd,c', True)]


def test_bytes_that_are_no_text(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\na,"caf\xe9\nx"\nb,good\n\xff,bad\n')
    assert outcome(path, 16, monkeypatch) == outcome(path, 0, monkeypatch)
