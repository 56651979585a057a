"""PSM against brute force: a part of it, all of it once the flips cover everything, and the recall it
promises."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.engine import brute, uniform
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.scan import Scan
from neardup.search.psm.psm import PSM
from neardup.search.psm.vosh import FlipModel, vosh


def signs(margins: NDArray[np.float32], scheme: str = "test") -> Codes:
    """Codes with these margins, as simhash makes them."""
    rows, bits = margins.shape
    packed = np.zeros((rows, 16), np.uint8)
    packed[:, : bits // 8] = np.packbits(margins >= 0, axis=1, bitorder="little")
    words = np.ascontiguousarray(packed.view(np.uint64)[:, : max(1, bits // 64)])
    return Codes(scheme, np.zeros(rows, bool), bits, words, margins)


def edited(rng: np.random.Generator, count: int, bits: int, scale: float = 0.08) -> tuple[Codes, Codes]:
    """Codes and versions of them whose margins have moved a little: most are a few bits apart."""
    margins = rng.laplace(size=(count, bits)).astype(np.float32)
    moves = rng.laplace(scale=scale, size=(count, bits)).astype(np.float32)
    return signs(margins), signs(margins + moves)


def pairs(hits: object) -> set[tuple[int, int, int]]:
    return set(zip(hits.query.tolist(), hits.row.tolist(), hits.distance.tolist(), strict=True))


def naive(
    method: PSM, stored: Codes, asked: Codes, header: int, order: list[list[int]]
) -> set[tuple[int, int, int]]:
    """What the flip sets of each query, given as header masks, must find: whatever is in the radius and in a
    header asked."""
    found = set()
    top = (32 if method.bits == 32 else 64) - header
    for q, r, d in zip(*brute(stored.codes, asked.codes, method.radius), strict=True):
        flipped = int(stored.codes[r, -1] ^ asked.codes[q, -1]) >> top
        if flipped == 0 or flipped in order[q]:
            found.add((int(q), int(r), int(d)))
    return found


@pytest.mark.parametrize(("bits", "radius"), [(32, 2), (64, 3), (128, 4)])
@pytest.mark.parametrize("flips", [0, 1, 7, 40])
def test_heap_finds_what_its_flip_sets_reach(bits: int, radius: int, flips: int) -> None:
    stored, asked = edited(np.random.default_rng(bits), 400, bits)
    method = PSM(radius, flips=flips, order="heap", bits=bits, header_bits=8)
    assert asked.margins is not None
    costs = np.abs(asked.margins[:, bits - 8 :])
    order = [[sum(1 << j for j in s) for s in vosh(row, flips, radius)] for row in costs]
    got = pairs(method.index(stored).search(asked))
    assert got == naive(method, stored, asked, 8, order)


@pytest.mark.parametrize("flips", [1, 7, 40])
def test_template_flips_the_same_ranks_for_all(flips: int) -> None:
    stored, asked = edited(np.random.default_rng(1), 400, 64)
    method = PSM(3, flips=flips, header_bits=9)
    index = method.index(stored)
    assert asked.margins is not None
    sets = vosh(index.expected, flips, 3)
    ranking = np.argsort(np.abs(asked.margins[:, 55:]), axis=1)
    order = [[sum(1 << int(ranks[r]) for r in s) for s in sets] for ranks in ranking]
    want = naive(method, stored, asked, 9, order)
    assert pairs(index.search(asked)) == want
    weakest = np.argsort(np.abs(asked.margins), axis=1).astype(np.uint8)
    assert pairs(index.search(replace(asked, margins=None), ranks=weakest)) == want
    # Few ranks name few header bits: fewer probes, never wrong ones.
    assert pairs(index.search(asked, ranks=np.ascontiguousarray(weakest[:, :12]))) <= want


@pytest.mark.parametrize("order", ["template", "heap"])
@pytest.mark.parametrize(("bits", "radius"), [(32, 3), (64, 0), (64, 3), (64, 8), (128, 5)])
def test_enough_flips_find_everything(bits: int, radius: int, order: str) -> None:
    rng = np.random.default_rng(radius)
    stored, asked = edited(rng, 300, bits, 0.2)
    every = sum(comb(8, size) for size in range(1, min(radius, 8) + 1))
    method = PSM(radius, flips=every, header_bits=8, order=order, bits=bits)
    hits = method.index(stored).search(asked)
    want = brute(stored.codes, asked.codes, radius)
    for got, column in zip((hits.query, hits.row, hits.distance), want, strict=True):
        np.testing.assert_array_equal(got, column)


@settings(max_examples=budget(30), deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["template", "heap"]), st.integers(0, 30), st.integers(0, 5)
)
def test_a_part_of_the_exact_answer(seed: int, order: str, flips: int, radius: int) -> None:
    rng = np.random.default_rng(seed)
    stored, asked = edited(rng, 200, 64, float(rng.uniform(0.01, 0.5)))
    asked.margins[rng.random(asked.margins.shape) < 0.01] = np.nan
    index = PSM(radius, flips=flips, order=order).index(stored)
    exact = brute(stored.codes, asked.codes, radius)
    found = pairs(index.search(asked))
    assert found <= set(zip(*(column.tolist() for column in exact), strict=True))
    first = index.search(asked, mode="first")
    assert pairs(first) <= found
    assert first.query.tolist() == sorted({query for query, _, _ in found})


def test_same_bytes_for_any_threads(cpu: _core.Cpu) -> None:
    stored, asked = edited(np.random.default_rng(6), 5000, 64)
    for order in ("template", "heap"):
        method = PSM(3, flips=12, order=order)
        one, two = method.index(stored), method.index(stored, threads=2)
        assert one.table.header_bits == 12 and one.bytes == two.bytes
        for mode in ("all", "first"):
            a, b = one.search(asked, mode=mode), two.search(asked, mode=mode, threads=2)
            assert pairs(a) == pairs(b) and a.row.tolist() == b.row.tolist()
        if order == "template":
            digest = (one.search(asked).row.sum(), len(one.search(asked)))
            _core.force_cpu(_core.best_cpu())
            assert digest == (one.search(asked).row.sum(), len(one.search(asked)))


def test_keys_and_probes_join_to_what_the_index_finds() -> None:
    stored, asked = edited(np.random.default_rng(2), 500, 64)
    method = PSM(3, flips=9, header_bits=7)
    method = replace(method, expected=tuple(method.expected_for(stored, 7).tolist()))
    keys, probes = method.keys(stored), method.probes(asked)
    held: dict[int, list[int]] = {}
    for row, key in zip(keys.row.tolist(), keys.key.tolist(), strict=True):
        held.setdefault(key, []).append(row)
    sharing = {
        (q, row)
        for q, key in zip(probes.row.tolist(), probes.key.tolist(), strict=True)
        for row in held.get(key, [])
    }
    query, row, distance = brute(stored.codes, asked.codes, 3)
    near = set(zip(query.tolist(), row.tolist(), distance.tolist(), strict=True))
    assert {hit for hit in near if hit[:2] in sharing} == pairs(method.index(stored).search(asked))


@pytest.mark.parametrize("order", ["template", "heap"])
@pytest.mark.parametrize("mode", ["all", "first"])
def test_calibrated_recall_holds_on_other_queries(order: str, mode: str) -> None:
    rng = np.random.default_rng(3)
    margins = rng.laplace(size=(6000, 64)).astype(np.float32)
    versions = [margins + rng.laplace(scale=0.06, size=margins.shape).astype(np.float32) for _ in range(2)]
    stored = signs(np.concatenate([margins, versions[0]]))
    method = PSM(3, recall=0.9, order=order)
    calibration = method.calibrate(stored, mode=mode)
    assert 0.9 <= calibration.low == calibration.recall
    assert calibration.counted > 500 and calibration.header_bits == 13
    assert (np.diff(calibration.curve) >= 0).all() and calibration.curve[calibration.flips] > 0.88
    assert str(calibration.flips) in str(calibration)
    asked = signs(versions[1])
    hits = replace(method, flips=calibration.flips).index(stored).search(asked, mode=mode)
    query, _, distance = brute(stored.codes, asked.codes, 3)
    query, some = query[distance > 0], hits.distance > 0
    want = len(query) if mode == "all" else len(np.unique(query))
    found = int(some.sum()) if mode == "all" else len(np.intersect1d(hits.query, query))
    assert found / want > 0.86


def test_index_calibrates_by_itself() -> None:
    stored, _ = edited(np.random.default_rng(8), 3000, 64)
    again = signs(np.concatenate([stored.margins, stored.margins * np.float32(1) + np.float32(0.03)]))
    index = PSM(3, recall=0.9).index(again)
    assert index.calibration is not None and index.method.flips == index.calibration.flips
    assert index.calibration.recall > 0.85


def test_a_model_of_flips_orders_them() -> None:
    stored, asked = edited(np.random.default_rng(4), 2000, 64)
    assert stored.margins is not None and asked.margins is not None
    model = FlipModel.fit(stored.margins, asked.margins)
    for order in ("template", "heap"):
        plain = PSM(3, flips=10, order=order).index(stored).search(asked)
        weighed = PSM(3, flips=10, order=order, model=model).index(stored).search(asked)
        assert len(weighed) >= 0.97 * len(plain)


def test_empty_rows_neither_ask_nor_answer() -> None:
    stored, asked = edited(np.random.default_rng(5), 200, 64)
    empty = np.arange(200) % 3 == 0
    some = (
        PSM(3, flips=20).index(replace(stored, empty=empty)).search(replace(asked, empty=np.roll(empty, 1)))
    )
    assert len(some) and not empty[some.row].any() and not np.roll(empty, 1)[some.query].any()
    none = PSM(3, flips=20).index(replace(stored, empty=np.ones(200, bool)))
    assert len(none.search(asked)) == 0


def test_mistakes() -> None:
    stored, asked = edited(np.random.default_rng(7), 100, 64)
    bare = replace(stored, margins=None)
    with pytest.raises(DataError, match="margins"):
        PSM().index(bare)
    with pytest.raises(DataError, match="margins"):
        PSM(flips=3).index(bare).search(replace(asked, margins=None))
    with pytest.raises(DataError, match="too few"):
        PSM().calibrate(signs(np.random.default_rng(0).laplace(size=(50, 64)).astype(np.float32)))
    with pytest.raises(SchemeError):
        PSM(flips=3).index(stored).search(replace(asked, scheme="other"))
    with pytest.raises(ConfigError):
        PSM(recall=1.0)
    with pytest.raises(ConfigError):
        PSM(radius=17)
    with pytest.raises(ConfigError):
        PSM(header_bits=33)
    with pytest.raises(ConfigError):
        PSM(flips=20_000)
    with pytest.raises(ConfigError, match="calibrate"):
        PSM().probes(asked)
    with pytest.raises(ConfigError, match="expected"):
        PSM(flips=3, expected=(1.0, 2.0)).index(stored)
    with pytest.raises(DataError, match="ranks"):
        PSM(flips=3).index(stored).search(asked, ranks=np.zeros((3, 3), np.uint8))
    codes = uniform(np.random.default_rng(0), 10, 64)
    table = _core.PsmTable(codes, 64, 3)
    with pytest.raises(ValueError, match="expected"):
        table.search_template(codes, np.zeros((10, 64), np.float32), np.zeros(2, np.float32), 5)
    with pytest.raises(ValueError, match="float32"):
        table.search_heap(codes, np.zeros((9, 64), np.float32), 5)


def other_forms(codes: Codes, ranks: int) -> tuple[Codes, Codes]:
    """The same codes with margins as bytes, and with the ranks of the weakest bits alone."""
    sizes = np.abs(codes.margins)
    scales = (sizes.max(axis=1) / 255).astype(np.float32)
    small = np.rint(sizes / scales[:, None]).astype(np.uint8)
    weakest = np.argsort(sizes, axis=1, kind="stable")[:, :ranks].astype(np.uint8)
    bare = replace(codes, margins=None)
    return replace(bare, margin_bytes=small, margin_scales=scales), replace(bare, ranks=weakest)


def test_margins_in_any_form_will_do() -> None:
    stored, asked = edited(np.random.default_rng(8), 3_000, 64)
    small, ranked = other_forms(asked, 64)
    index = PSM(radius=6, flips=30).index(stored)
    want = pairs(index.search(asked))
    assert (
        pairs(index.search(ranked))
        == pairs(index.search(replace(asked, margins=None), ranks=ranked.ranks))
        == want
    )
    # A byte cannot separate margins that differ by less than 1/255 of the largest.
    found = pairs(index.search(small))
    assert len(found ^ want) < 0.02 * len(want) and found <= brute_pairs(stored, asked, 6)
    few = pairs(index.search(other_forms(asked, 8)[1]))
    assert few < want
    heap = replace(index.method, order="heap").index(stored)
    assert len(pairs(heap.search(small)) ^ pairs(heap.search(asked))) < 0.02 * len(want)


def test_byte_margins_calibrate_and_ranks_say_that_they_cannot() -> None:
    stored, asked = edited(np.random.default_rng(9), 3_000, 64)
    margins = np.concatenate([stored.margins, asked.margins])
    both = signs(margins)
    small, ranked = other_forms(both, 16)
    full, coarse = PSM(radius=6).index(both), PSM(radius=6).index(small)
    assert abs(full.calibration.flips - coarse.calibration.flips) <= 0.2 * full.calibration.flips
    assert full.expected == pytest.approx(coarse.expected, rel=0.05)
    assert np.array_equal(coarse.search(small).query[:9], coarse.search(both).query[:9])
    with pytest.raises(DataError, match=r'full or byte margins.* only ranks.* flips.*margins="full"'):
        PSM(radius=6).index(ranked)
    assert len(PSM(radius=6, flips=8).candidates(ranked)) > 0
    bare = replace(both, margins=None)
    for wrong in (
        lambda: PSM(flips=8).index(bare).search(bare),
        lambda: PSM(flips=8, order="heap").candidates(bare),
    ):
        with pytest.raises(DataError, match=r'have none.*Simhash\(margins="full"\)'):
            wrong()
    with pytest.raises(ConfigError, match="heap needs margins"):
        PSM(flips=8, order="heap").index(both).search(ranked)
    with pytest.raises(DataError, match="margin_scales"):
        PSM(flips=8).index(replace(small, margin_scales=None)).search(small)


def brute_pairs(stored: Codes, asked: Codes, radius: int) -> set[tuple[int, int, int]]:
    return pairs(Scan(radius).index(stored).search(asked))
