"""Near pairs of real documents: the margins of one and the bits in which the other differs."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features import Idf, Normalize, Words
from neardup.fingerprints import Simhash

__all__ = ["real_pairs"]

SETS = ("electron_i18n_rev", "k8s_docs_rev", "licenses", "tldr_short")
PER_DOCUMENT = 4  # licences come in families of thousands of near pairs: no document may speak for many


def real_pairs(folder: Path, radius: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """(margins float32[p, 64], differing bits bool[p, 64]) of the pairs at distance 1 to radius, both ways
    round.

    Codes are simhashes of words but stop words with TF x IDF, fitted on the same documents.
    """
    texts: list[str] = []
    for name in SETS:
        with gzip.open(folder / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in lines]
    plain = Words(normalize=Normalize(stopwords=("en",)))
    features = replace(plain, weights=Idf.fit(texts, plain))
    prints = Simhash(bits=64).compute(features.extract(texts))
    assert prints.margins is not None
    query, row, distance = _core.scan(prints.codes, prints.codes, 64, radius)
    near = (distance > 0) & ~prints.empty[query] & ~prints.empty[row]
    query, row = query[near], row[near]
    order = np.random.default_rng(5).permutation(len(query))
    query, row = query[order], row[order]
    # The first few of each document, in the shuffled order.
    by_document = np.argsort(query, kind="stable")
    starts = np.searchsorted(query[by_document], query[by_document])
    kept = by_document[np.arange(len(query)) - starts < PER_DOCUMENT]
    query, row = query[kept], row[kept]
    bits = np.arange(64, dtype=np.uint64)
    differing = ((prints.codes[query] ^ prints.codes[row]) >> bits & np.uint64(1)).astype(bool)
    return prints.margins[query], differing
