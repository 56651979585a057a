"""Written files are whole or absent, and the same bytes each time."""

import datetime
import gzip
import json
import sys

import pyarrow.parquet
import pytest

import neardup as nd

NAMES = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv.bz2", "a.tsv.xz", "a.parquet", "a.ids", "a.ids.gz"]


@pytest.mark.parametrize("name", NAMES)
def test_an_error_leaves_nothing(tmp_path, name):
    (tmp_path / name).write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), nd.readers.open_writer(tmp_path / name) as writer:
        for i in range(20_000):
            writer.write({"id": i, "text": "x"})
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"before"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_seen_before_the_end(tmp_path, name):
    with nd.readers.open_writer(tmp_path / name) as writer:
        writer.write({"id": "1", "text": "x"})
        assert not (tmp_path / name).exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert writer.rows == 1
    writer.close()
    writer.discard()
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("name", NAMES)
def test_no_rows(tmp_path, name):
    with nd.readers.open_writer(tmp_path / name):
        pass
    assert (tmp_path / name).exists()
    if not name.startswith("a.ids"):
        assert list(nd.read(tmp_path / name, text="text").documents()) == [] if name != "a.parquet" else True


def test_a_failing_finish_leaves_nothing(tmp_path):
    with pytest.raises(nd.DataError, match="types"), nd.readers.open_writer(tmp_path / "a.parquet") as writer:
        writer.write({"text": "x", "n": 1})
        writer.write({"text": "x", "n": "not a number"})
    assert list(tmp_path.iterdir()) == []


def test_ids(tmp_path):
    with nd.readers.open_writer(tmp_path / "drop.ids.gz") as writer:
        writer.write_all([nd.Document("a", "x"), "b", {"id": 5}])
    assert gzip.decompress((tmp_path / "drop.ids.gz").read_bytes()) == b"a\nb\n5\n"
    with (
        pytest.raises(nd.DataError, match="line break"),
        nd.readers.open_writer(tmp_path / "x.ids") as writer,
    ):
        writer.write("a\nb")
    with (
        pytest.raises(nd.ConfigError, match="mapping"),
        nd.readers.open_writer(tmp_path / "x.jsonl") as writer,
    ):
        writer.write("a")


def test_values_json_has_no_type_for(tmp_path):
    with nd.readers.open_writer(tmp_path / "a.jsonl") as writer:
        writer.write(
            {"nan": [float("nan"), {"x": float("inf")}], "at": datetime.date(2026, 1, 2), "b": b"\xff"}
        )
        writer.write(nd.Document("i", "é", {"k": 1}))
    first, second = (tmp_path / "a.jsonl").read_text().splitlines()
    assert json.loads(first) == {"nan": [None, {"x": None}], "at": "2026-01-02", "b": "/w=="}
    assert second == '{"id":"i","text":"é","k":1}'


def test_bytes_do_not_depend_on_what_is_installed(tmp_path, monkeypatch):
    every = "".join(chr(c) for c in range(0x3100) if not 0xD800 <= c < 0xE000) + "\U0001f642\uffff"
    rows = [
        {
            "text": every,
            every: every,
            "n": 2**70,
            "f": [1e16, 1e-7, 0.1, -0.0],
            "deep": {"x": [every, None, True]},
        }
    ]
    for name in ("with.jsonl", "without.jsonl"):
        with nd.readers.open_writer(tmp_path / name) as writer:
            writer.write_all(rows)
        monkeypatch.setitem(sys.modules, "msgspec", None)
    assert (tmp_path / "with.jsonl").read_bytes() == (tmp_path / "without.jsonl").read_bytes()
    assert json.loads((tmp_path / "with.jsonl").read_bytes()) == rows[0]


def test_ill_formed_text_is_an_error(tmp_path):
    for row in ({"text": "\ud800"}, {"text": ["\ud800"]}):
        with (
            pytest.raises(nd.DataError, match="Unicode"),
            nd.readers.open_writer(tmp_path / "a.jsonl") as writer,
        ):
            writer.write(row)
    assert list(tmp_path.iterdir()) == []


def test_csv_columns_are_fixed_by_the_first_row(tmp_path):
    with nd.readers.open_writer(tmp_path / "a.csv") as writer:
        writer.write({"id": 1, "text": "x", "tags": ["p", "q"]})
        writer.write({"id": 2, "text": None})
        with pytest.raises(nd.DataError, match="more"):
            writer.write({"id": 2, "text": "y", "more": 1})
    assert (tmp_path / "a.csv").read_text() == 'id,text,tags\n1,x,"[""p"", ""q""]"\n2,,\n'


def test_parquet_takes_columns_of_its_first_rows(tmp_path):
    with nd.readers.open_writer(tmp_path / "a.parquet") as writer:
        writer.write({"text": "x"})
        writer.write({"text": "y", "n": 1})
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist() == [
        {"text": "x", "n": None},
        {"text": "y", "n": 1},
    ]


def test_names_that_cannot_be_written(tmp_path):
    for name, message in (("a.docx", "format="), ("a.parquet.gz", "inside"), ("a", "format=")):
        with pytest.raises(nd.ConfigError, match=message):
            nd.readers.open_writer(tmp_path / name)
    with pytest.raises(nd.ConfigError, match="local"):
        nd.readers.open_writer("memory://x/a.jsonl")
    with pytest.raises(nd.ConfigError, match="compression"):
        nd.readers.open_writer(tmp_path / "a.jsonl", compression="rar")
    with pytest.raises(nd.DataError, match="folder"):
        nd.readers.open_writer(tmp_path, format="jsonl")
    with pytest.raises(nd.DataError, match="does not exist"):
        nd.readers.open_writer(tmp_path / "none" / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_spreadsheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    with nd.readers.open_writer(tmp_path / "pairs.xlsx") as writer:
        writer.write({"left": "=1+1", "right": "b\x00c", "similarity": 0.5, "more": ["x"]})
    header, row = openpyxl.load_workbook(tmp_path / "pairs.xlsx").active.values
    assert header == ("left", "right", "similarity", "more") and row[1:] == (
        "b\N{REPLACEMENT CHARACTER}c",
        0.5,
        '["x"]',
    )
    assert openpyxl.load_workbook(tmp_path / "pairs.xlsx").active["A2"].data_type == "s"
    with (
        pytest.raises(nd.DataError, match="32,767"),
        nd.readers.open_writer(tmp_path / "long.xlsx") as writer,
    ):
        writer.write({"text": "x" * 40_000})
    assert not (tmp_path / "long.xlsx").exists()


def test_rows_without_ids_or_texts_need_a_table(tmp_path):
    for name in ("pairs.ids", "pairs.txt", "pairs.md"):
        with pytest.raises(nd.ConfigError, match="table"), nd.readers.open_writer(tmp_path / name) as writer:
            writer.write({"left": "a", "right": "b"})
    assert list(tmp_path.iterdir()) == []
