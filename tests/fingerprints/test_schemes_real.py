"""What docs/concepts/schemes.md says of the schemes, on real sets: recall, precision, exact counts."""

import gzip
import json

import numpy as np
import pytest

import neardup as nd

schemes = pytest.importorskip("benchmarks.schemes")


def rows_of(data, monkeypatch, name, names):
    """The rows of the table for the named schemes."""
    monkeypatch.setattr(schemes, "data", lambda: data)
    wanted = [scheme for scheme in schemes.SCHEMES if scheme.name.startswith(names)]
    ids, texts = schemes.load(name, sorted({scheme.source for scheme in wanted}))
    similar, clusters = schemes.truths(name, ids)
    chosen = [scheme for scheme in wanted if scheme.source in texts]
    assert len(chosen) >= len(names)
    return {s.name.split(",")[0]: schemes.measure(s, texts, similar, clusters) for s in reversed(chosen)}


def test_short_texts(data, monkeypatch):
    rows = rows_of(data, monkeypatch, "tldr_short", ("MinHash", "sketch, 160", "super", "bucket"))
    assert rows["MinHash"]["verified_recall"] >= 0.99
    assert rows["sketch"]["recall"] >= 0.9 and rows["sketch"]["precision"] >= 0.9
    assert rows["super-fingerprints"]["precision"] >= 0.9
    assert rows["bucket checksums"]["recall"] < 0.5  # most buckets of a short text are empty


@pytest.mark.process
def test_pages_under_one_template(data, monkeypatch):
    pytest.importorskip("resiliparse")
    rows = rows_of(
        data,
        monkeypatch,
        "wiki_html_variants",
        ("MinHash", "super", "I-Match", "bucket", "HTML tags", "link URLs"),
    )
    assert rows["MinHash"]["verified_recall"] >= 0.99
    for name in ("super-fingerprints", "I-Match", "bucket checksums", "link URLs"):
        assert rows[name]["label_precision"] >= 0.95
    assert (
        rows["I-Match"]["recall"]
        < 0.5
        < rows["super-fingerprints"]["recall"]
        < rows["bucket checksums"]["recall"]
    )
    assert rows["HTML tags"]["label_precision"] < 0.5


@pytest.mark.slow
@pytest.mark.process
def test_versions_of_manuals(data, monkeypatch):
    pytest.importorskip("resiliparse")
    rows = rows_of(data, monkeypatch, "pydoc_html_versions", ("MinHash", "sketch, 90", "super", "I-Match, 3"))
    assert rows["MinHash"]["verified_recall"] >= 0.99
    for name in ("sketch", "super-fingerprints", "I-Match"):
        assert rows[name]["label_precision"] >= 0.95 and 0.3 <= rows[name]["recall"] < 0.6


def test_agreement_on_licences_is_exact(data):
    """Every pair of 1,200 real sketches, counted place by place."""
    with gzip.open(data / "licenses" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line, _ in zip(file, range(1200), strict=False)]
    sketches = nd.MinHash(100).compute(nd.Shingles().extract(texts))
    found = nd.search.Agree(90).candidates(sketches)
    equal = np.array([(sketches.values == row).sum(axis=1) for row in sketches.values])
    equal[sketches.empty] = equal[:, sketches.empty] = 0
    left, right = np.nonzero(np.triu(equal >= 90, 1))
    assert len(left) > 100
    assert np.array_equal(found.left, left) and np.array_equal(found.right, right)
    assert np.array_equal(found.distance, 100 - equal[left, right])


def test_the_corpus_preset_on_short_pages(data):
    with gzip.open(data / "tldr_short" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [nd.Document(row["id"], row["text"]) for row in map(json.loads, file)]
    result = nd.dedup(documents, nd.preset("corpus"))
    assert all(d.similarity >= 0.8 for d in result.dropped) and len(result.dropped) > 50
