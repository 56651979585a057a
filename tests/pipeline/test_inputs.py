"""Lists and columns of texts go to the native calls as they are, and give what documents of the same texts give."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import DataError
from neardup.pipeline import inputs
from neardup.pipeline.batches import TextColumn

ODD = st.sampled_from(
    [
        "",
        "a b c",
        "a  B c!",
        "é à",
        "世界 你好",
        "x\ud800y",
        "\ud83d\ude00 z",
        "\U0001f600 z",
        "\x80\xff",
        "\0",
    ]
)
items = st.lists(
    ODD | ODD.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.none() | st.binary(max_size=6),
    max_size=12,
)
# Where the config asks for a field, documents are made of the texts.
FIELDS = nd.Keep(source="site")


def columns(batches, config):
    """All that the pipeline reads of batches: texts, sizes, digests, tokens and places."""
    from neardup.pipeline.fit import Prepared
    from neardup.pipeline.sharder import Sharder

    shards = Sharder(config, Prepared.untaught(config)).shards(batches)
    rows = [np.arange(shard.count) for shard in shards]
    names = ("sizes", "digests", "empty", "tokens", "places")
    return (
        [text for shard, every in zip(shards, rows, strict=True) for text in shard.text_bytes(every)],
        [name for shard, every in zip(shards, rows, strict=True) for name in shard.ids(every)],
        *([value for shard in shards for value in shard.column(name).tolist()] for name in names),
    )


@settings(max_examples=60)
@given(items)
def test_texts_are_read_as_documents_are(items):
    plain, fields = nd.Config(), nd.Config(keep=FIELDS)
    read = inputs.incoming(items, plain)
    assert columns(read.batches(), plain) == columns(inputs.incoming(items, fields).batches(), fields)
    documents = list(read.documents())
    assert [d.id for d in documents] == [str(row) for row in range(len(items))]
    assert columns(inputs.incoming(documents, plain).batches(), plain) == columns(
        inputs.incoming(items, plain).batches(), plain
    )


def test_well_formed_texts_are_not_copied():
    texts = ("plain words", "café", "世界", b"bytes", None)
    column = TextColumn.of(texts, ["a", "b", "c", "d", "e"], np.arange(5))
    assert column.sizes.tolist() == [11, 5, 6, 5, 0]
    data, ends = column.texts.take(np.array([2, 0])).utf8()
    assert data.tobytes() == "世界plain words".encode() and ends.tolist() == [6, 17]
    with pytest.raises(ValueError, match="no such row"):
        column.texts.take(np.array([5]))


TEXTS = [
    "the ferry leaves the north pier at eight and returns at noon",
    "The FERRY leaves the north pier at eight, and returns at noon.",
    None,
    "whisk the eggs with the sugar until pale, then fold in the flour",
    "",
    "whisk the eggs with the sugar until pale, then fold in the fine flour",
]


def test_columns_of_every_library(tmp_path, monkeypatch):
    import pandas
    import polars

    wanted = nd.dedup(TEXTS, threshold=0.6)
    assert len(wanted.kept) == 4
    chunked = pa.chunked_array([TEXTS[:2], [], TEXTS[2:]], pa.string())
    given = [
        pa.array(TEXTS),
        pa.array(["sliced off", *TEXTS])[1:],
        pa.array(TEXTS, pa.large_string()),
        chunked,
        chunked.dictionary_encode(),
        pandas.Series(TEXTS, dtype=object),
        polars.Series(TEXTS),
        (text for text in TEXTS),
        [text and text.encode() for text in TEXTS],
    ]
    for batch in (1 << 16, 2):
        monkeypatch.setattr(inputs, "_BATCH", batch)
        for column in given:
            if not hasattr(column, "__len__") and batch == 2:
                continue  # a generator is empty now
            for memory in (None, "20MB") if hasattr(column, "__len__") else (None,):
                result = nd.dedup(column, threshold=0.6, memory=memory)
                assert result.kept.tolist() == wanted.kept.tolist() and result.ids == wanted.ids
                assert result.pairs.similarity.tolist() == wanted.pairs.similarity.tolist()
                result.write(tmp_path / "kept.jsonl")
                lines = (tmp_path / "kept.jsonl").read_text().splitlines()
                assert [json.loads(line)["text"] for line in lines] == [
                    TEXTS[row] or "" for row in wanted.kept
                ]


def test_what_is_no_column_of_texts_is_refused():
    for column, why in (
        ([5, 6], "no text in this list: it holds int"),
        (pa.array([1, 2]), "it holds int"),
        (b"bytes", "got one text"),
        (nd.Document("a", "b"), "got one text"),
    ):
        with pytest.raises(DataError, match=why):
            nd.dedup(column)
