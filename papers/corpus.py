"""The documents all experiments share: the labelled sets, generated text for scale, and edited real documents.

Features follow Sood and Loguinov, section 8.1: words but stop words, stemmed, 64-bit MurmurHash, TF-IDF scaled to
length 1, document frequencies of the collection itself. Their filters by size and language are not applied.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from benchmarks.corpus import data, documents
from numpy.typing import NDArray

from neardup.features import Features, Idf, Normalize, Words
from neardup.fingerprints import Codes, Simhash

__all__ = ["SETS", "VERSIONS", "Collection", "edited", "generated", "real"]

SEED = 20111024
VERSIONS = ("electron_i18n_rev", "k8s_docs_rev", "pydoc_html_versions", "tldr_short", "wiki_html_variants")
"""Sets whose labels say which pages are versions of one another."""
SETS = (
    "electron_i18n_rev",
    "gov2_human",
    "k8s_docs_rev",
    "licenses",
    *VERSIONS[2:4],
    "udhr_multilingual",
    VERSIONS[4],
)
KINDS, RATES = ("token", "block", "append"), (0.002, 0.005, 0.01, 0.02, 0.05)
PLAIN = Words(normalize=Normalize(stopwords=("en",), stem="english"), hash="murmur64a")
CACHE = Path(__file__).parent / ".data"


@dataclass(frozen=True)
class Collection:
    """Documents as TF-IDF features and 64-bit codes with full margins; `source[i]` is the set of row i, a place in
    `sources`. Rows without features are empty and never compared."""

    name: str
    sources: tuple[str, ...]
    source: NDArray[np.int64]
    ids: list[str]
    texts: list[str]
    words: Words
    features: Features
    codes: Codes

    def __len__(self) -> int:
        return len(self.source)

    def of(self, *sources: str) -> NDArray[np.int64]:
        """The rows of some sets that have a code."""
        wanted = np.isin(self.source, [self.sources.index(name) for name in sources])
        return np.flatnonzero(wanted & ~self.codes.empty)


def _collection(name: str, parts: dict[str, list[tuple[str, str]]]) -> Collection:
    texts = [text for rows in parts.values() for _, text in rows]
    words = replace(PLAIN, weights=Idf.fit(texts, PLAIN))
    features = words.extract(texts)
    source = np.repeat(np.arange(len(parts)), [len(rows) for rows in parts.values()])
    ids = [identifier for rows in parts.values() for identifier, _ in rows]
    return Collection(name, tuple(parts), source, ids, texts, words, features, Simhash().compute(features))


@lru_cache(maxsize=1)
def real() -> Collection:
    """All labelled sets, tags stripped from HTML."""
    return _collection("real text", {name: list(documents(name)) for name in SETS})


@lru_cache(maxsize=1)
def generated(count: int) -> Collection:
    """`count` documents of gen_corpus.py, a fifth of them edited copies of others: text by an order-2 model of the
    English sets. The texts are cached, for making them takes longer than all that is done with them."""
    inputs = [
        str(data() / name / "docs.jsonl.gz")
        for name in ("k8s_docs_rev", "licenses", *VERSIONS[2:3], VERSIONS[4])
    ]
    script = data() / "gen_corpus.py"
    key = hashlib.sha256(script.read_bytes() + f"{count} {SEED} {len(inputs)} giant 0".encode()).hexdigest()[
        :12
    ]
    cached = CACHE / f"generated-{count}-{key}.jsonl.gz"
    if not cached.exists():
        CACHE.mkdir(exist_ok=True)
        partial = cached.with_suffix(".partial")
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                str(script),
                "--in",
                *inputs,
                "--docs",
                str(count),
                "--seed",
                str(SEED),
            ]
            subprocess.run([*command, "--out", folder, "--jobs", "2", "--giant", "0"], check=True)
            with gzip.open(partial, "wb", compresslevel=1) as out:
                for part in sorted(Path(folder).glob("part-*.jsonl")):
                    out.write(part.read_bytes())
        partial.replace(cached)
    return _collection("generated text", {"generated": list(_lines(cached))})


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["id"], row["text"]


@lru_cache(maxsize=1)
def edited() -> tuple[NDArray[np.int64], Codes]:
    """(rows of `real()`, codes of an edited copy of each): words replaced, deleted and inserted, blocks replaced, text
    added or cut at an end, 0.2 to 5 words in a hundred, by the generator's own edits on real documents of 40 words
    or more. Weights are those of the real collection. Moved sentences are left out: to a bag of words they are none."""
    collection, module = real(), _generator()
    numbers: dict[str, int] = {}
    spelled = [[numbers.setdefault(word, len(numbers)) for word in text.split()] for text in collection.texts]
    words = np.array(list(numbers), object)
    model = SimpleNamespace(seq=np.concatenate([np.array(row, np.int64) for row in spelled]), V=len(words))
    rows, texts = [], []
    for row in np.flatnonzero(~collection.codes.empty).tolist():
        if len(spelled[row]) < 40:
            continue
        generator = np.random.default_rng([SEED, row])
        kind, rate = KINDS[row % len(KINDS)], RATES[row // len(KINDS) % len(RATES)]
        changed = module.edit(np.array(spelled[row]), generator, kind, rate, model)
        texts.append(" ".join(words[changed]))
        rows.append(row)
    return np.array(rows), Simhash().compute(collection.words.extract(texts))


def _generator() -> Any:
    spec = importlib.util.spec_from_file_location("gen_corpus", data() / "gen_corpus.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
