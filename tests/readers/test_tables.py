"""Tables in memory give the same documents as files."""

import pyarrow as pa
import pytest

import neardup as nd

ROWS = [
    {"id": 2**60 + 1, "body": "one", "n": 1},
    {"id": 2, "body": "zwei ß", "n": 2},
    {"id": 3, "body": "", "n": 3},
]
WANTED = [nd.Document(str(r["id"]), r["body"], {"id": r["id"], "n": r["n"]}) for r in ROWS]


def documents(source, **options):
    return list(nd.read(source, **options).documents())


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_arrow(batch):
    table = pa.Table.from_pylist(ROWS)
    assert documents(table, batch=batch) == WANTED
    assert documents(table.to_batches()[0], batch=batch) == WANTED
    assert documents(table.to_reader(), batch=batch) == WANTED


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_pandas(batch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=[5, 5, 9])
    assert documents(frame, batch=batch) == WANTED
    reader = nd.read(pandas.DataFrame({"text": ["a", None, float("nan")]}))
    assert [(d.id, d.text) for d in reader.documents()] == [("rows:1", "a"), ("rows:2", ""), ("rows:3", "")]
    assert not reader.rejects.total and reader.account.notes.total() == 2


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_polars(batch):
    polars = pytest.importorskip("polars")
    assert documents(polars.DataFrame(ROWS), batch=batch) == WANTED
    with pytest.raises(nd.ConfigError, match="collect"):
        documents(polars.DataFrame(ROWS).lazy())


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_datasets(batch):
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list(ROWS)
    assert documents(dataset, batch=batch) == WANTED
    assert documents(dataset.to_iterable_dataset(), batch=batch) == WANTED
    with pytest.raises(nd.ConfigError, match="train"):
        documents(datasets.DatasetDict({"train": dataset}))


def test_plain_rows_and_documents():
    assert documents(ROWS) == WANTED
    assert documents(iter(ROWS)) == WANTED
    again = documents(WANTED)
    assert [(d.id, d.text) for d in again] == [(d.id, d.text) for d in WANTED]
    reader = nd.read([{"text": "x"}, 5, "text", None])
    assert [d.id for d in reader.documents()] == ["rows:1"]
    assert reader.rejects.counts == {"wrong type": 3}


def test_what_is_no_table():
    for source in (5, b"bytes", {"a": 1}, None):
        with pytest.raises(nd.ConfigError):
            documents(source)
    with pytest.raises(nd.ConfigError, match="no column"):
        documents(pa.table({"a": ["x"], "b": ["y"]}), text="c")
    with pytest.raises(nd.ConfigError, match="format"):
        nd.read(ROWS, format="jsonl")
