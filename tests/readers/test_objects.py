"""Whatever kind of object holds the documents, positions are those of its rows, and no row is lost."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.errors import ConfigError, DataError, UnreadableInput, UnsupportedInput

try:  # it wants a newer pyarrow than the oldest that we allow
    import datasets
except ImportError:
    datasets = None
needs_datasets = pytest.mark.skipif(
    datasets is None, reason="the package datasets is not installed (pip install --editable '.[test]')"
)

FERRY = "the ferry leaves the north pier at eight and returns at noon"
EGGS = "whisk the eggs with the sugar until pale, then fold in the flour"
TEXTS = st.sampled_from([FERRY, FERRY.upper() + "!", EGGS, "", " ", "7", "1.5", "x\0y", "世界 你好"])
# Columns of one type, as Arrow and polars have them.
TYPED = [
    TEXTS | st.none(),
    st.sampled_from([7, 8, -1]) | st.none(),
    st.sampled_from([1.5, 7.25]) | st.none(),
    st.booleans() | st.none(),
    TEXTS.map(str.encode) | st.sampled_from([b"\xff", FERRY.encode()]) | st.none(),
]
columns = st.one_of([st.lists(kind, min_size=1, max_size=9) for kind in TYPED])
mixed = st.lists(st.one_of(TYPED), min_size=1, max_size=9)


def as_read(value):
    """The text that a value is read as; None for one that is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def as_list(values):
    """What a list of the texts gives: the positions kept, and those that are rejected."""
    texts = [as_read(value) for value in values]
    rejected = [row for row, text in enumerate(texts) if text is None]
    kept = nd.dedup([text or "" for text in texts]).kept.tolist()
    return [row for row in kept if row not in rejected], rejected


def tables(values):
    """Objects that hold values of one type, with how to read them and how long each is after `keep`."""
    body = {"n": list(range(len(values))), "body": values}
    table = pa.table(body)
    half = len(values) // 2
    yield table
    yield table.to_batches()[0]
    yield pa.concat_tables([table.slice(0, half), table.slice(half)])
    if datasets is not None:
        yield datasets.Dataset.from_dict(body)
        yield datasets.Dataset.from_dict(body).select(range(len(values)))
    yield polars.DataFrame(body)
    yield polars.from_arrow(table)
    yield from loose(values)


def loose(values):
    """Objects that hold values of any types."""
    rows = [{"n": row, "body": value} for row, value in enumerate(values)]
    yield pandas.DataFrame({"n": range(len(values)), "body": pandas.Series(values, dtype=object)})
    yield pandas.DataFrame(
        {"n": range(len(values)), "body": pandas.Series(values, dtype=object).to_numpy()},
        index=[4] * len(values),
    )
    yield rows
    yield tuple(rows)
    yield {f"id {row}": value for row, value in enumerate(rows)}


def bare(values):
    """The same without columns."""
    yield list(values)
    yield tuple(values)
    yield {f"id {row}": value for row, value in enumerate(values)}
    yield pandas.Series(values, dtype=object, index=[4] * len(values))
    array = np.empty(len(values), object)
    array[:] = values
    yield array


def typed_bare(values):
    yield pa.array(values)
    yield pa.chunked_array([values[:1], values[1:]], pa.array(values).type)
    yield polars.Series(values)
    yield from bare(values)


def length(data):
    return data.num_rows if hasattr(data, "num_rows") else len(data)


def check(source, wanted, rejected, **options):
    result = nd.dedup(source, **options)
    assert result.kept.tolist() == wanted, type(source)
    assert [one.row for one in result.rejected] == rejected
    assert len(result) == length(source) == len(result.ids)
    kept = result.keep(source)
    assert type(kept) is type(source) and length(kept) == len(wanted)
    again = nd.dedup(kept, **options) if wanted else None
    assert again is None or again.kept.tolist() == list(range(len(wanted)))
    return result


def holds_text(values):
    return all(value is None for value in values) or any(isinstance(value, str | bytes) for value in values)


@settings(max_examples=budget(40), deadline=None)
@given(columns)
def test_every_kind_of_table_and_column_gives_what_a_list_gives(values):
    wanted, rejected = as_list(values)
    for source in tables(values):
        if len(rejected) == len(values):
            with pytest.raises(UnreadableInput, match="wrong type"):
                nd.dedup(source, text="body")
        else:
            check(source, wanted, rejected, text="body")
    for source in typed_bare(values):
        if holds_text(values):
            check(source, wanted, rejected)
        else:
            with pytest.raises(UnsupportedInput, match="no text"):
                nd.dedup(source)


@settings(max_examples=budget(60), deadline=None)
@given(mixed)
def test_values_of_mixed_types_keep_their_rows(values):
    wanted, rejected = as_list(values)
    for source in loose(values):
        if len(rejected) < len(values):
            check(source, wanted, rejected, text="body")
    for source in bare(values):
        if holds_text(values):
            check(source, wanted, rejected)


@needs_datasets
@settings(max_examples=budget(20), deadline=None)
@given(
    st.lists(TEXTS | st.none(), min_size=2, max_size=9), st.integers(0, 9), st.sampled_from(["20MB", None])
)
def test_splits_are_counted_through(values, cut, memory):
    wanted, _ = as_list(values)
    parts = {"train": values[:cut], "test": values[cut:]}
    kind = datasets.Features({"text": datasets.Value("string")})
    sets = {name: datasets.Dataset.from_dict({"text": part}, kind) for name, part in parts.items()}
    for source in (datasets.DatasetDict(sets), {name: one.to_pandas() for name, one in sets.items()}):
        result = nd.dedup(source, memory=memory)
        assert result.kept.tolist() == wanted
        assert list(result.ids) == [
            f"{name}:{row}" for name, part in parts.items() for row in range(len(part))
        ]
        kept = result.keep(source)
        assert type(kept) is type(source) and list(kept) == ["train", "test"]
        texts = [text for part in kept.values() for text in list(part["text"])]
        assert [text or None for text in texts] == [values[row] or None for row in wanted]


def test_splits_are_sources():
    """So that the documents of one split can be preferred."""
    table = pandas.DataFrame({"text": [FERRY], "id": ["a"]})
    splits = {"train": table, "test": table}
    result = nd.dedup(splits, keep=nd.Keep(prefer=("test",)))
    assert result.kept_ids == ["test:a"]


def test_ids_of_every_kind():
    rows = [{"id": 5, "body": FERRY}, {"id": None, "body": EGGS}, {"id": "x", "body": ""}]
    frame = pandas.DataFrame(rows)
    for source in (rows, iter(rows), frame, polars.DataFrame(rows[:2])):
        assert (
            nd.dedup(source).ids == ("5", "rows:2", "x")[: 2 if isinstance(source, polars.DataFrame) else 3]
        )
    floats = pandas.DataFrame({"id": [5, None], "body": [FERRY, EGGS]})
    assert nd.dedup(floats).ids == ("5", "rows:2")
    assert nd.dedup({"a": FERRY, 7: EGGS}).ids == ("a", "7")
    assert nd.dedup(frame, id="body").ids[0] == FERRY
    assert nd.dedup([nd.Document("d", FERRY), EGGS, {"body": "x", "id": "y"}]).ids == ("d", "rows:2", "y")


def test_several_columns_are_the_text():
    frame = pandas.DataFrame({"title": ["the ferry", "the", None], "rest": ["leaves", "ferry leaves", 5]})
    result = nd.dedup(frame, text=["title", "rest"])
    assert result.kept.tolist() == [0, 2]
    assert result.account["notes"] == {"numbers in a text column, read as text": 1}
    assert "read as text: 1" in result.summary()
    with pytest.raises(ConfigError, match="no column 'no'"):
        nd.dedup(frame, text=["title", "no"])


def test_fields_and_pages_of_tables(tmp_path):
    frame = pandas.DataFrame({"text": [FERRY, FERRY, True], "score": [1, 2, 3]})
    result = nd.dedup(frame, keep=nd.Keep("score", score="score"))
    assert result.kept.tolist() == [1] and [one.row for one in result.rejected] == [2]
    assert result.write(tmp_path / "out.jsonl") == 1
    assert [d.meta["score"] for d in nd.read(tmp_path / "out.jsonl").documents()] == [2]
    pytest.importorskip("resiliparse")
    page = "<html><body><p>" + FERRY + "</p></body></html>"
    pages = pandas.DataFrame({"html": [page + "<!-- " + "x" * (17 << 20) + " -->", page, None, page]})
    result = nd.dedup(pages)
    assert result.kept.tolist()[0] == 1 and 3 not in result.kept and result.failed >= 1
    assert result.rejected[0].row == 0 and result.rejected[0].reason == "no text"


@pytest.mark.parametrize(
    "source, why",
    [
        (FERRY, "put|list"),
        ("news.jsonl", r"nd\.read\('news\.jsonl'\)"),
        ("folder/*.txt", r"nd\.read"),
        (b"bytes", "list"),
        (nd.Document("a", "b"), "list"),
        (5, "not int"),
        (None, "not NoneType"),
        (object(), "not object"),
        ({"a", "b"}, "order"),
        ([1, 2.5], "holds int"),
        ([("a", "b")], "holds tuple"),
        ([[1.0], [2.0]], "holds list"),
        ({"text": ["a", "b"]}, "dict of columns"),
        (np.zeros((2, 2)), "2 dimensions"),
        (np.zeros(2), "holds float"),
        (np.zeros(2, [("a", "i4")]), "fields"),
        (polars.LazyFrame({"text": ["a"]}), "collect"),
        (pa.array([[1], [2]]), "holds list"),
        (pandas.Series([1, 2]), "holds int"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_holds_no_documents_is_a_type_error(source, why):
    with pytest.raises(TypeError, match=why) as error:
        nd.dedup(source)
    assert isinstance(error.value, UnsupportedInput)


def test_columns_of_which_none_is_clearly_the_text():
    for source in (pandas.DataFrame({"a": ["x"], "b": ["y"]}), [{"a": "x", "b": "y"}]):
        with pytest.raises(ConfigError, match=r"text=.*a, b"):
            nd.dedup(source)
    with pytest.raises(ConfigError, match="text="):
        nd.dedup(pandas.DataFrame({"number": [1, 2]}))
    with pytest.raises(ConfigError, match="leave them out"):
        nd.dedup(["x"], text="body")
    with pytest.raises(ConfigError, match=r"nd\.read"):
        nd.dedup(nd.read(pandas.DataFrame({"text": ["x"]})), text="text")


def test_paths_take_names_of_columns(tmp_path):
    (tmp_path / "a.csv").write_text(f"name,words\na,{FERRY}\nb,{FERRY}\n")
    result = nd.dedup(tmp_path / "a.csv", text="words", id="name")
    assert result.kept_ids == ["a"]


def test_rows_of_files_that_cannot_be_read_are_in_the_summary(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": [1]}\n{"text": "two"}\n')
    result = nd.dedup(tmp_path / "a.jsonl")
    assert result.account["rows"]["rejected"] == {"wrong type": 1}
    assert "3 rows read: 2 documents, 1 rejected\n    wrong type: 1 (a.jsonl, row 2)" in result.summary()


def test_keep_takes_what_has_as_many_rows():
    result = nd.dedup([FERRY, FERRY, EGGS])
    assert result.keep(pandas.DataFrame({"other": [1, 2, 3]}))["other"].tolist() == [1, 3]
    assert result.keep(("a", "b", "c")) == ("a", "c")
    for other in ([FERRY], pa.table({"text": ["x"]}), {"train": pandas.DataFrame({"text": ["x"]})}):
        with pytest.raises(DataError, match="3 rows and this has 1"):
            result.keep(other)
    for other in (iter([1, 2, 3]), nd.read(pandas.DataFrame({"text": ["x"]})), 5):
        with pytest.raises(TypeError, match="keep takes"):
            result.keep(other)


def test_streams_and_other_libraries_of_arrow():
    table = pa.table({"text": [FERRY, FERRY, EGGS]})

    class Exported:
        """As every table that speaks the Arrow interface."""

        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    streams = [] if datasets is None else [datasets.Dataset(table).to_iterable_dataset()]
    rows = (row for row in table.to_pylist())
    for source in (Exported(), table.to_reader(), *streams, rows, table["text"]):
        assert nd.dedup(source).kept.tolist() == [0, 2]


@needs_datasets
def test_splits_that_cannot_be_counted_are_a_type_error():
    table = datasets.Dataset.from_dict({"text": [FERRY, EGGS]})
    streams = datasets.IterableDatasetDict({"train": table.to_iterable_dataset()})
    with pytest.raises(TypeError, match="these splits are streams"):
        nd.dedup(streams)
    splits = datasets.DatasetDict({"train": table})
    with pytest.raises(TypeError, match="a split holds splits itself"):
        nd.dedup({"a": splits, "b": splits})
