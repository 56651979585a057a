"""Workers that add, update and remove the same few documents at once, lose replies and die: what is left is sound."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support.redis_workers import CONFIG

import neardup as nd
from neardup.index.redis import SharedIndexError, writes
from neardup.index.redis.connection import Connection

WORKERS, STEPS, IDS = 3, 14, 7
CENTRES = np.random.default_rng(3).integers(0, 2**64, 3, dtype=np.uint64)


class Died(BaseException):
    """A worker ended between two of its commands, or between a command and its reply."""


def codes(rng: random.Random, count: int) -> nd.fingerprints.Codes:
    """Codes within 6 bits of three centres: chains of similar documents whose ends are not similar."""
    words = [
        int(CENTRES[rng.randrange(3)]) ^ sum(1 << bit for bit in rng.sample(range(6), rng.randrange(4)))
        for _ in range(count)
    ]
    return nd.fingerprints.Codes(
        "bare64", np.zeros(count, bool), 64, np.array(words, np.uint64).reshape(-1, 1)
    )


def troubled(index: nd.Index, rng: random.Random, lost: float, death: float) -> None:
    """Of the pipelines of a worker some lose their replies, though they were done, and some are its last."""
    connection: Connection = index._store._connection
    sent = connection._asked

    def asked(client: Any, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        if rng.random() < death:
            if rng.random() < 0.5:
                sent(client, commands)
            raise Died
        found = sent(client, commands)
        if rng.random() < lost:
            raise connection._errors.ConnectionError("the reply was lost")
        return found

    connection._asked = asked  # type: ignore[method-assign]


def work(address: str, seed: int, lost: float, death: float, errors: list[BaseException]) -> None:
    rng = random.Random(seed)
    index = None
    try:
        for _ in range(STEPS):
            if index is None:
                index = nd.Index(address, CONFIG, scheme="bare64")
                troubled(index, rng, lost, death)
            try:
                if rng.random() < 0.25:
                    index.remove([f"d{rng.randrange(IDS)}" for _ in range(rng.randrange(1, 3))])
                else:
                    ids = [f"d{rng.randrange(IDS)}" for _ in range(rng.randrange(1, 5))]
                    index.seen_prints(ids, codes(rng, len(ids)))
            except Died:
                index.close()
                index = None  # another worker takes its place
            except SharedIndexError:
                continue  # removed between a command and its repetition: the batch may be sent again, or not
    except BaseException as error:
        errors.append(error)
    finally:
        if index is not None:
            index.close()


def run(address: str, seed: int, lost: float = 0.0, death: float = 0.0) -> None:
    errors: list[BaseException] = []
    threads = [
        threading.Thread(target=work, args=(address, WORKERS * seed + worker, lost, death, errors))
        for worker in range(WORKERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def check(index: nd.Index) -> None:
    """Keepers are unlike each other, followers like their keeper, ids are there once, and the counts are right."""
    assert index.verify().problems == ()
    found = list(index.documents())
    words = {d.id: int.from_bytes(d.fingerprint or b"", "little") for d in found}
    assert len(words) == len(found)
    keepers = [d.id for d in found if d.keeper == d.id]
    near = [(a, b) for a in keepers for b in keepers if a < b and (words[a] ^ words[b]).bit_count() <= 3]
    assert near == []
    assert all((words[d.id] ^ words[d.keeper]).bit_count() <= 3 for d in found)
    assert all(d.keeper in keepers for d in found)
    for document in found:
        cluster = index.cluster(document.id)
        assert cluster is not None
        assert sorted(hit.id for hit in cluster.members) == sorted(
            d.id for d in found if d.keeper == cluster.keeper
        )
    assert all((got := index.get(d.id)) is not None and got.row == d.row for d in found)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that one is written while the one before is settled."""
    monkeypatch.setattr(writes, "AT_ONCE", 2)


@pytest.mark.parametrize("seed", range(6))
def test_sound_after_everything(address: Callable[..., str], seed: int) -> None:
    where = address(expected=1000, patience=3)
    run(where, seed)
    with nd.Index(where) as index:
        check(index)
        documents = list(index.documents())
        assert len(index) == len(documents)
        assert index.stats().keepers == sum(d.keeper == d.id for d in documents)


@pytest.mark.parametrize("seed", range(6))
def test_replies_lost(address: Callable[..., str], seed: int) -> None:
    where = address(expected=1000, patience=1)
    run(where, 100 + seed, lost=0.1)
    with nd.Index(where) as index:
        index.compact()  # an entry or version that came back with a repeated command is taken out
        check(index)


@pytest.mark.parametrize("seed", range(6))
def test_sound_after_deaths_and_repair(address: Callable[..., str], seed: int) -> None:
    where = address(expected=1000, patience=0.1)
    run(where, 200 + seed, lost=0.05, death=0.02)
    with nd.Index(where) as index:
        index.compact()
        check(index)
        assert len(index) == len(list(index.documents()))
