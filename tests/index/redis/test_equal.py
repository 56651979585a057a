"""Used by one worker, a shared index answers as a local one does: any history of batches, updates and removals."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd

IDS = [f"page {i}" for i in range(14)]
TEXT = "the old mill by river turns slowly while rain falls on quiet roofs and nobody comes to look at it now"
WORDS = TEXT.split()
_numbers = itertools.count()
ONCE = settings(max_examples=budget(4), deadline=None, phases=[Phase.explicit, Phase.generate])


def codes(words: list[int | None]) -> nd.fingerprints.Codes:
    column = np.array([[0 if word is None else word] for word in words], np.uint64).reshape(-1, 1)
    return nd.fingerprints.Codes("bare64", np.array([word is None for word in words], bool), 64, column)


def code(rng: np.random.Generator) -> int | None:
    if rng.random() < 0.05:
        return None
    centre = [0x0123456789ABCDEF, 0x0123456789ABCDE0 ^ 0b111, 2**64 - 1][rng.integers(3)]
    for bit in rng.integers(0, 12, rng.integers(0, 5)):
        centre ^= 1 << int(bit)
    return centre


def text(rng: np.random.Generator) -> str:
    if rng.random() < 0.05:
        return ""
    words = list(WORDS)
    for _ in range(rng.integers(0, 5)):
        words[rng.integers(len(words))] = WORDS[rng.integers(len(WORDS))]
    return " ".join(words)


SHINGLES = nd.Shingles(2)
KINDS: dict[str, dict[str, Any]] = {
    "codes": {
        "config": nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3)),
        "scheme": "bare64",
    },
    "bits": {
        "config": nd.Config(
            features=SHINGLES,
            fingerprint=nd.BitMinHash(),
            search=nd.search.Compact(6),
            verify=nd.Jaccard(0.6),
        )
    },
    "features": {
        "config": nd.Config(
            features=SHINGLES,
            fingerprint=nd.BitMinHash(),
            search=nd.search.Compact(10),
            verify=nd.Jaccard(0.6),
        ),
        "store": "features",
    },
    "exact": {"config": nd.Config(near=False), "store": "none"},
    "sketches": {
        "config": nd.Config(
            features=SHINGLES,
            fingerprint=nd.MinHash(32),
            search=nd.LSH(bands=16, rows=2),
            verify=nd.Jaccard(0.6),
        ),
        "store": "none",
    },
    "minhash": {"config": nd.Config.of("minhash", threshold=0.6)},
}


def history(local: nd.Index, shared: nd.Index, kind: str, seed: int) -> None:
    """Random operations on both, and all that can be asked of them."""
    rng = np.random.default_rng(seed)
    bare = kind == "codes"
    for _ in range(14):
        what = rng.choice(["seen", "seen", "seen", "remove", "keeper", "search"])
        if what == "seen":
            many = int(rng.choice([1, 2, 5, 12]))
            ids = [IDS[at] for at in rng.integers(0, len(IDS), many)]
            if bare:
                prints = codes([code(rng) for _ in ids])
                one, two = local.seen_prints(ids, prints), shared.seen_prints(ids, prints)
            else:
                texts = [text(rng) if kind != "exact" else " ".join(WORDS[: rng.integers(0, 5)]) for _ in ids]
                documents = [nd.Document(i, t, {"n": len(t)}) for i, t in zip(ids, texts, strict=True)]
                one, two = local.seen(documents), shared.seen(documents)
            assert list(one) == list(two)
            assert one.row.tolist() == two.row.tolist()
        elif what == "remove":
            ids = [IDS[at] for at in rng.integers(0, len(IDS), rng.integers(1, 4))]
            assert local.remove(ids) == shared.remove(ids)
        elif what == "keeper":
            keepers = sorted({entry.keeper for entry in local.documents()})
            if keepers:
                assert local.remove(keepers[0]) == shared.remove(keepers[0]) == 1
        elif bare:
            asked = codes([code(rng) for _ in range(3)])
            assert local.search_prints(asked) == shared.search_prints(asked)
        else:
            asked = [text(rng), nd.Document(IDS[0], text(rng))]
            assert local.search(asked) == shared.search(asked)
        agree(local, shared)


def agree(local: nd.Index, shared: nd.Index) -> None:
    mine, theirs = list(local.documents()), list(shared.documents())
    assert [entry._replace(added=0) for entry in mine] == [entry._replace(added=0) for entry in theirs]
    assert len(local) == len(shared) == len(mine)
    assert local.stats().keepers == shared.stats().keepers
    assert shared.get_all(IDS) == [{e.id: e for e in theirs}.get(id) for id in IDS]
    for id in IDS:
        assert local.cluster(id) == shared.cluster(id)


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp())
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("kind", list(KINDS))
def test_any_history_on_one_server(kind: str, folder: Path, address: Callable[..., str]) -> None:
    @ONCE
    @given(seed=st.integers(0, 2**32 - 1), expected=st.sampled_from([1, 1000, 10**6]))
    def run(seed: int, expected: int) -> None:
        path = folder / str(next(_numbers))
        where = address(expected=expected)
        with nd.Index(path, seed=7, **KINDS[kind]) as local, nd.Index(where, seed=7, **KINDS[kind]) as shared:
            history(local, shared, kind, seed)
            assert shared.verify().problems == ()

    run()


def test_many_batches_under_way(
    folder: Path, address: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One batch is written while the one before it is settled; nothing shows of that, updates and copies included."""
    monkeypatch.setattr("neardup.index.redis.writes.AT_ONCE", 7)
    monkeypatch.setattr("neardup.index.api.AT_ONCE", 7)
    monkeypatch.setattr("neardup.index.local.writes.AT_ONCE", 7)
    rng = np.random.default_rng(3)
    kind = KINDS["codes"]
    with nd.Index(folder / "i", seed=7, **kind) as local, nd.Index(address(), seed=7, **kind) as shared:
        for _ in range(3):
            ids = [IDS[at] for at in rng.integers(0, len(IDS), 60)]
            prints = codes([code(rng) for _ in ids])
            assert list(local.seen_prints(ids, prints)) == list(shared.seen_prints(ids, prints))
            agree(local, shared)
        assert shared.verify().problems == ()
