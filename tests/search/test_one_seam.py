"""A near-duplicate method written here alone runs everywhere, and finds the same everywhere: it is one object, its
key the first eight bytes of a digest."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import neardup as nd
from neardup.cli import main
from neardup.config import register
from neardup.fingerprints import Digests, Printer
from neardup.search import Keyed, KeyMethod


@dataclass(frozen=True)
class FirstEight(KeyMethod, Printer):
    """Documents whose `many` smallest features are the same: the first eight bytes of their digest are the key."""

    many: int = 3

    makes = Digests
    takes = (Digests,)

    def fingerprint(self) -> Printer:
        return self

    def scheme(self, features: str) -> str:
        return f"first8/{self.many} | {features}"

    def compute(self, features: Any, threads: int = 1) -> Digests:
        rows = zip(features.offsets[:-1].tolist(), features.offsets[1:].tolist(), strict=True)
        smallest = (np.sort(features.hashes[a:b])[: self.many].tobytes() for a, b in rows)
        digests = b"".join(hashlib.sha256(one).digest() for one in smallest)
        column = np.frombuffer(digests, np.uint8).reshape(-1, 32)
        return Digests(self.scheme(features.scheme), features.sizes == 0, digests=column)

    def keys(self, prints: Digests) -> Keyed:
        rows = np.flatnonzero(~prints.empty)
        first = np.ascontiguousarray(prints.digests[rows, :8]).view(np.uint64).reshape(-1)
        return Keyed(rows, np.zeros(len(rows), np.int32), first)


@dataclass(frozen=True)
class Neighbours(FirstEight):
    """The same with probes, tables and a check: a row has a key of 4 bits in one of two tables, asks for the four that
    differ in one bit too, and counts if the next 4 bits are equal."""

    def keys(self, prints: Digests) -> Keyed:
        rows = np.flatnonzero(~prints.empty)
        key = (prints.digests[rows, 0] & 15).astype(np.uint64)
        return Keyed(rows, (prints.digests[rows, 1] & 1).astype(np.int32), key)

    def key_tables(self, prints: Digests) -> int:
        return 2

    def probes(self, prints: Digests) -> Keyed:
        own = self.keys(prints)
        flips = np.array([0, 1, 2, 4, 8], np.uint64)
        key = (own.key[:, None] ^ flips).reshape(-1)
        return Keyed(np.repeat(own.row, 5), np.repeat(own.table, 5), key)

    def check(self, prints: Digests, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(prints.digests[left, 0] >> 4 == prints.digests[right, 0] >> 4)


register("first8", FirstEight)
register("neighbours", Neighbours)
METHODS = {"first8": FirstEight(), "neighbours": Neighbours()}
WORDS = ["harbour", "ferry", "pier", "noon", "captain", "rope", "lamp", "gull", "storm", "mast"]


def corpus() -> list[str]:
    """Sixty families of pages: each a text and three versions of it with words changed here and there."""
    draw = np.random.default_rng(3)
    texts = []
    for _ in range(60):
        words = [f"{WORDS[draw.integers(10)]}{draw.integers(400)}" for _ in range(60)]
        texts.append(" ".join(words))
        for _ in range(3):
            changed = list(words)
            changed[draw.integers(60)] = f"change{draw.integers(10**6)}"
            texts.append(" ".join(changed))
    return texts


TEXTS = corpus()
IDS = [f"{row:04}" for row in range(len(TEXTS))]


def config_of(kind: str) -> nd.Config:
    return nd.Config(search=METHODS[kind], verify=nd.Jaccard(0.6), short=0, seed=nd.fingerprints.DEFAULT_SEED)


def by_hand(kind: str) -> set[tuple[str, str]]:
    """The pairs a method must find, from its keys, probes and check one by one, and the similarity of the texts."""
    config, method = config_of(kind), METHODS[kind]
    features = config.features.extract(TEXTS)
    prints = method.compute(features)
    keys, probes = method.keys(prints), method.probes(prints)
    stored: dict[tuple[int, int], list[int]] = {}
    for row, table, key in zip(keys.row.tolist(), keys.table.tolist(), keys.key.tolist(), strict=True):
        stored.setdefault((table, key), []).append(row)
    found = set()
    for row, table, key in zip(probes.row.tolist(), probes.table.tolist(), probes.key.tolist(), strict=True):
        found |= {
            (min(row, other), max(row, other)) for other in stored.get((table, key), ()) if other != row
        }
    pairs = sorted(found)
    left, right = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    counts = method.check(prints, left, right)
    counts = np.ones(len(left), bool) if counts is None else counts
    sets = [
        set(features.hashes[a:b].tolist())
        for a, b in zip(features.offsets, features.offsets[1:], strict=False)
    ]
    return {
        (IDS[a], IDS[b])
        for a, b, count in zip(left.tolist(), right.tolist(), counts.tolist(), strict=True)
        if count and len(sets[a] & sets[b]) >= 0.6 * len(sets[a] | sets[b])
    }


def kept_by_hand(pairs: set[tuple[str, str]]) -> list[str]:
    """First come, first kept: who is paired with a document that is kept is dropped."""
    kept: list[str] = []
    for one in IDS:
        if not any((other, one) in pairs for other in kept):
            kept.append(one)
    return kept


def documents() -> list[nd.Document]:
    return [nd.Document(name, text) for name, text in zip(IDS, TEXTS, strict=True)]


def first_kept(kind: str) -> nd.Config:
    return replace(config_of(kind), keep=nd.Keep("first"))


def written(folder: Path) -> Path:
    path = folder / "pages.jsonl"
    lines = [json.dumps({"id": name, "text": text}) for name, text in zip(IDS, TEXTS, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", METHODS)
def test_dedup(kind):
    pairs = by_hand(kind)
    assert 30 < len(pairs) < 360, "some pairs are found, and some are not"
    result = nd.dedup(documents(), first_kept(kind))
    found = {(IDS[a], IDS[b]) for a, b in zip(result.pairs.left, result.pairs.right, strict=True)}
    assert found == pairs
    assert [IDS[row] for row in result.kept] == kept_by_hand(pairs)


@pytest.mark.parametrize("kind", METHODS)
def test_scan_by_the_name_in_a_config_file(kind, tmp_path):
    config = tmp_path / "own.toml"
    config.write_text(first_kept(kind).to_toml(), encoding="utf-8")
    assert f'kind = "{kind}"' in config.read_text(encoding="utf-8")
    out = tmp_path / "out"
    given = [
        "scan",
        str(written(tmp_path)),
        "--config",
        str(config),
        "--out",
        str(out),
        "--memory",
        "1MB",
        "-q",
    ]
    main(given)
    findings = nd.Findings(out)
    pairs = findings.pairs.at_least(0.6)
    found = zip(findings.ids(pairs.left), findings.ids(pairs.right), strict=True)
    assert set(found) == by_hand(kind)


def indexed(place: str | Path, kind: str) -> None:
    """What an index says of all documents as they come, and of each when it is asked for."""
    pairs, seed = by_hand(kind), nd.Seed(nd.fingerprints.DEFAULT_SEED)
    with nd.Index(place, config_of(kind), seed=seed) as index:
        answers = [index.seen(document) for document in documents()]
        assert [answer.id for answer in answers if answer.new] == kept_by_hand(pairs)
        assert all((answer.duplicate_of, answer.id) in pairs for answer in answers if not answer.new)
        hits = zip(IDS, index.search(TEXTS), strict=True)
        found = {(min(one, hit.id), max(one, hit.id)) for one, mine in hits for hit in mine if hit.id != one}
        assert found == pairs
        assert index.remove(IDS[:100]) == 100
    with nd.Index(place) as index:  # read back from where it is stored
        later = {pair for pair in pairs if min(pair) >= IDS[100]}
        hits = zip(IDS, index.search(TEXTS), strict=True)
        found = {(one, hit.id) for one, mine in hits for hit in mine if IDS[100] <= one < hit.id}
        assert found == later
        together = index.seen(
            nd.Document(f"again {name}", text) for name, text in zip(IDS, TEXTS, strict=True)
        )
        assert not any(answer.new for answer in together[100:])


@pytest.mark.parametrize("kind", METHODS)
def test_a_live_index(kind, tmp_path):
    indexed(tmp_path / "pages.nd", kind)


@pytest.fixture(scope="module")
def server(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    from reference.redis import Server

    made = Server(redis_server, tmp_path_factory.mktemp("redis")).start()
    yield made
    made.kill()


@pytest.mark.parametrize("kind", METHODS)
def test_a_shared_index(kind, server):
    indexed(f"{server.url}?name={kind}", kind)


@pytest.mark.process
@pytest.mark.parametrize("kind", METHODS)
def test_spark(kind, spark, tmp_path):
    from pyspark import cloudpickle

    from neardup.spark.run import dedup, frame_stages

    pairs = by_hand(kind)
    frame = spark.createDataFrame(list(zip(IDS, TEXTS, strict=True)), "id string, text string")
    # This module is in no worker's path; a package of methods is installed there, or sent with addPyFile.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        stages = frame_stages(frame, first_kept(kind), id="id", text="text", run=str(tmp_path / "run"))
        found = {(IDS[row["left"]], IDS[row["right"]]) for row in stages.pairs().collect()}
        kept = dedup(frame, first_kept(kind), id="id", text="text", run=str(tmp_path / "run"))
        ids = sorted(row["id"] for row in kept.select("id").collect())
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert found == pairs
    assert ids == kept_by_hand(pairs)
