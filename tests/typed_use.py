"""The public interface as a typed program uses it. `test_types.py` runs it, and has mypy and pyright check it.

`assert_type` is checked by them, and does nothing when this runs. Lines that must be refused say `type: ignore`; an
unused one is an error too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

import neardup as nd
from neardup.compare import Pairs
from neardup.findings import Applied, Summary
from neardup.fingerprints import Codes, Sketches
from neardup.index import Answers, Seen
from neardup.readers import Batch
from neardup.result import Dropped, Rejected

FERRY = "the ferry leaves the north pier at eight and returns at noon"
TEXTS = [FERRY, FERRY.upper(), "whisk the eggs with the sugar until pale"]


def documents() -> None:
    """Everything that holds documents is taken, and `keep` gives it back."""
    result = nd.dedup(TEXTS)
    assert_type(result, nd.Result)
    assert_type(result.keep(TEXTS), list[str])
    by_id = {"a": TEXTS[0], "b": None, "c": TEXTS[2]}
    assert_type(nd.dedup(by_id).keep(by_id), dict[str, str | None])
    rows = [{"body": text, "title": text[:9]} for text in TEXTS]
    assert_type(nd.dedup(rows, text=["title", "body"]).keep(rows), list[dict[str, str]])
    table = pl.DataFrame({"body": TEXTS})
    assert_type(nd.dedup(table, text=["body"]).keep(table), pl.DataFrame)
    assert_type(nd.dedup(table["body"]).keep(table["body"]), pl.Series)
    frame = pd.DataFrame({"body": TEXTS, "name": ["a", "b", "c"]})
    nd.dedup(frame, text="body", id="name").keep(frame)
    nd.dedup(pd.Series(TEXTS))
    nd.dedup(pa.table({"body": TEXTS}))
    nd.dedup(pa.array(TEXTS))
    nd.dedup({"train": table, "test": table})
    array: NDArray[np.str_] = np.array(TEXTS)
    assert_type(nd.dedup(array).keep(array), NDArray[np.str_])
    nd.dedup(text for text in TEXTS)
    nd.dedup([nd.Document("a", FERRY), b"bytes", None, {"text": "x"}])
    nd.dedup((nd.Document(str(row), text) for row, text in enumerate(TEXTS)), keep="longest")


def refused() -> None:
    """What is no document, no policy and no feature."""
    nd.dedup(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nd.dedup([1, 2])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    nd.dedup(TEXTS, keep="shortest")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nd.dedup(TEXTS, keep=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nd.dedup(TEXTS, features="words")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nd.Config.of("magic")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nd.Config.of("simhash", speed=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    nd.read(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nd.dedup(TEXTS).to_polars("clusters")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def results() -> None:
    result = nd.dedup(TEXTS, features=nd.Words(), threshold=0.6, keep=nd.Keep("first"), memory="50MB")
    assert_type(result.kept, NDArray[np.int64])
    assert_type(result.kept_ids, list[str])
    assert_type(result.dropped, list[Dropped])
    assert_type(result.rejected, tuple[Rejected, ...])
    assert_type(result.pairs, Pairs)
    assert_type(result.pairs.similarity, NDArray[np.float64])
    assert_type(result.clusters.keeper, NDArray[np.int64])
    assert_type(result.summary(), str)
    assert_type(result.to_polars(), pl.DataFrame)
    assert_type(result.to_polars("pairs"), pl.DataFrame)
    result.to_pandas()
    result.to_arrow("pairs")


def reading(folder: Path) -> None:
    (folder / "a.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    reader = nd.read(folder / "a.jsonl", text="text")
    assert_type(reader, nd.Reader)
    assert_type(reader.documents(), Iterator[nd.Document])
    for batch in reader:
        assert_type(batch, Batch)
        assert_type(batch[0], nd.Document)
        assert_type(batch[:1], list[nd.Document])
        assert_type(batch[0].text, str)
    nd.read([folder / "a.jsonl"], batch=10)
    nd.read([str(folder / "a.jsonl")])
    nd.read(pl.DataFrame({"text": TEXTS}))
    nd.read({"text": text} for text in TEXTS)
    assert_type(nd.dedup(reader).write(folder / "kept.jsonl"), int)


def stages() -> None:
    features = nd.Shingles(2).extract(TEXTS)
    assert_type(features, nd.features.Features)
    assert_type(nd.fingerprint(TEXTS, nd.Shingles(), nd.MinHash(32)), Sketches)
    assert_type(nd.fingerprint(TEXTS, nd.Words(), nd.Simhash()), Codes)
    assert_type(nd.Idf.fit(TEXTS), nd.Idf)
    config = nd.Config.of("simhash", threshold=0.7, keep=nd.Keep("last"), near=True)
    assert_type(config, nd.Config)
    assert_type(nd.preset("news"), nd.Config)
    assert_type(nd.explain(TEXTS[0], TEXTS[1]), nd.compare.Explanation)


def findings(folder: Path) -> None:
    (folder / "b.jsonl").write_text("".join(f'{{"text": "{text}"}}\n' for text in TEXTS))
    found = nd.scan(folder / "b.jsonl", folder / "b.findings")
    assert_type(found, nd.Findings)
    summary = nd.summarize(found)
    assert_type(summary, Summary)
    assert_type(summary.dropped, int)
    assert_type(nd.apply(found, folder / "kept.csv", keep=nd.Keep("first")), Applied)


def live(folder: Path) -> None:
    with nd.Index(folder / "live.nd") as index:
        assert_type(index, nd.Index)
        assert_type(index.seen(FERRY, id="a"), Seen)
        assert_type(index.seen(nd.Document("b", FERRY)), Seen)
        assert_type(index.seen([nd.Document("c", TEXTS[2])]), Answers)
        (folder / "d.jsonl").write_text('{"text": "one"}\n')
        assert_type(index.seen(nd.read(folder / "d.jsonl")), Answers)
        assert_type(index.add(nd.read(folder / "d.jsonl")), int)


def main() -> None:
    documents()
    results()
    stages()
    with tempfile.TemporaryDirectory() as name:
        reading(Path(name))
        findings(Path(name))
        live(Path(name))


if __name__ == "__main__":
    main()
