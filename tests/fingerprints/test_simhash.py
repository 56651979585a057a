"""Simhash against its naive twin, the worked example, and its own margins."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import prints as reference
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError
from neardup.features import Features
from neardup.fingerprints import Simhash

HASHES = st.integers(0, 2**64 - 1)
WEIGHTS = st.one_of(
    st.sampled_from([1.0, -1.0, 0.5, 0.0, 1e-45, -3.4028234663852886e38, 2.0**-126]),
    st.floats(-1e6, 1e6, width=32),
)
ROWS = st.lists(st.dictionaries(HASHES, WEIGHTS, max_size=20), max_size=6)


def check(rows: list[dict[int, float]], bits: int, tie: str, gaussian: bool) -> None:
    features = reference.features_of(rows)
    full = reference.same_everywhere(
        lambda threads: Simhash(bits=bits, tie=tie, gaussian=gaussian).compute(features, threads)
    )
    assert full.margins is not None and full.margins.shape == (len(rows), bits)
    for i, row in enumerate(rows):
        words, margins, _ = reference.simhash(row, bits, tie, gaussian)
        assert full.codes[i].tolist() == words
        assert full.margins[i].tobytes() == np.array(margins, dtype=np.float32).tobytes()
        assert full.empty[i] == (not any(row.values()))


@given(rows=ROWS, bits=st.sampled_from([32, 64, 128]), tie=st.sampled_from(["ge", "gt"]))
@settings(deadline=None)
def test_equals_its_twin(rows: list[dict[int, float]], bits: int, tie: str) -> None:
    check(rows, bits, tie, gaussian=False)


@given(rows=ROWS, bits=st.sampled_from([32, 64, 128]), tie=st.sampled_from(["ge", "gt"]))
@settings(deadline=None, max_examples=budget(30))
def test_gaussian_equals_its_twin(rows: list[dict[int, float]], bits: int, tie: str) -> None:
    check(rows, bits, tie, gaussian=True)


@pytest.mark.parametrize("size", [1, 3, 4, 5, 127, 128, 129, 255, 256, 257, 1000])
def test_rows_of_every_length(size: int) -> None:
    rng = np.random.default_rng(size)
    row = {
        int(h): float(w)
        for h, w in zip(
            rng.integers(0, 2**64, size, dtype=np.uint64),
            rng.normal(size=size).astype(np.float32),
            strict=True,
        )
    }
    check([row, {}, row], 128, "ge", gaussian=False)


def test_largest_weights_do_not_overflow() -> None:
    # Every feature votes the same way with the largest scaled weight there is, which rounds up to 2**23.
    heaviest = float(np.nextafter(np.float32(1), np.float32(0)))
    row = {i << 32 | 0xFFFFFFFF: heaviest for i in range(70_000)}
    code = Simhash(bits=32).compute(reference.features_of([row]))
    assert code.codes[0, 0] == 0xFFFFFFFF
    np.testing.assert_allclose(code.margins[0], 70_000 * heaviest, rtol=1e-6)
    # Beyond float32 a margin is the largest float, not infinity.
    huge = Simhash(bits=32).compute(reference.features_of([{0xFFFFFFFF | i << 40: 3e38 for i in range(9)}]))
    assert huge.margins[0, 0] == np.finfo(np.float32).max


@given(st.dictionaries(HASHES, st.floats(-100, 100, width=32), min_size=2, max_size=40), st.randoms())
@settings(deadline=None)
def test_order_of_features_never_matters(row: dict[int, float], random: object) -> None:
    ordered = reference.features_of([row])
    mixed = list(row.items())
    random.shuffle(mixed)  # type: ignore[attr-defined]
    shuffled = Features(
        np.array([h for h, _ in mixed], dtype=np.uint64),
        np.array([w for _, w in mixed], dtype=np.float32),
        ordered.offsets,
        ordered.scheme,
    )
    for gaussian in (False, True):
        made = [Simhash(gaussian=gaussian).compute(features) for features in (ordered, shuffled)]
        assert reference.as_bytes(made[0]) == reference.as_bytes(made[1])


def test_ties() -> None:
    # Two features with opposite hashes and one weight: no bit has a majority.
    features = reference.features_of([{0: 1.0, 2**64 - 1: 1.0}])
    assert Simhash(tie="ge").compute(features).codes[0, 0] == 2**64 - 1
    assert Simhash(tie="gt").compute(features).codes[0, 0] == 0
    assert Simhash(tie="ge").compute(features).scheme != Simhash(tie="gt").compute(features).scheme


def test_empty_rows_are_flagged_and_zero() -> None:
    made = Simhash(margins="bytes").compute(reference.features_of([{}, {1: 1.0}, {}]))
    assert made.empty.tolist() == [True, False, True]
    assert made.codes[[0, 2]].tolist() == [[0], [0]]
    nothing = Simhash().compute(reference.features_of([]))
    assert len(nothing) == 0 and nothing.codes.shape == (0, 1)


@given(rows=ROWS, bits=st.sampled_from([32, 64, 128]), count=st.integers(1, 32))
@settings(deadline=None, max_examples=budget(50))
def test_the_three_forms_of_margins(rows: list[dict[int, float]], bits: int, count: int) -> None:
    features = reference.features_of(rows)
    full = Simhash(bits=bits).compute(features)
    coarse = reference.same_everywhere(lambda t: Simhash(bits=bits, margins="bytes").compute(features, t))
    ranked = reference.same_everywhere(
        lambda t: Simhash(bits=bits, margins="ranks", ranks=count).compute(features, t)
    )
    bare = Simhash(bits=bits, margins="none").compute(features)
    assert full.margins is not None
    for other in (coarse, ranked, bare):
        assert other.margins is None and other.scheme == full.scheme
        assert np.array_equal(other.codes, full.codes)
    assert ranked.ranks.shape == (len(rows), count)
    for i in range(len(rows)):
        sizes = np.abs(full.margins[i].astype(np.float64))
        assert ranked.ranks[i].tolist() == reference.weakest_bits(sizes.tolist(), count)
        in_order = coarse.margin_bytes[i][np.argsort(sizes, kind="stable")].astype(int)
        assert np.all(np.diff(in_order) >= 0)
        step = float(sizes.max()) / 255
        assert np.all(np.abs(coarse.margin_bytes[i] * step - sizes) <= step * 0.501)
        assert coarse.margin_scales[i] == pytest.approx(step, rel=1e-6, abs=1e-44)


def test_worked_example() -> None:
    example = reference.known_answers()["simhash4"]
    hashes = [int(bits[::-1], 2) for bits, _ in example["features"]]  # bit 1 of the slides is our bit 0
    weights = [weight for _, weight in example["features"]]

    def code(left_out: tuple[int, ...] = (), tie: str = "ge") -> tuple[str, np.ndarray]:
        row = {h: w for i, (h, w) in enumerate(zip(hashes, weights, strict=True)) if i + 1 not in left_out}
        made = Simhash(bits=32, tie=tie).compute(reference.features_of([row]))
        return format(int(made.codes[0, 0]) & 15, "04b")[::-1], made.margins[0, :4]

    bits, margins = code()
    assert bits == example["hash"]
    np.testing.assert_allclose(margins, example["W"], atol=1e-7)
    assert code((2, 3))[0] == example["minus_w2_w3"]
    assert code((1, 5))[0] == example["minus_w1_w5"]
    order = [j + 1 for j in reference.weakest_bits(np.abs(margins).tolist(), 4)]
    assert order == example["volatility_order_bits_1based"]


def test_ties_on_all_bits_follow_the_worked_example() -> None:
    # What the example says of an empty document is what the rule does to a document without votes.
    features = reference.features_of([{5: 0.0}])
    for tie in ("ge", "gt"):
        made = Simhash(bits=32, tie=tie).compute(features)
        bits = format(int(made.codes[0, 0]) & 15, "04b")
        assert bits == reference.known_answers()["simhash4"][f"empty_{tie}"]


def test_gaussian_table_is_the_same_on_every_platform() -> None:
    table = _core.gaussian_quantiles()
    exact = np.array(reference.exact_quantiles())
    assert np.abs(exact - np.floor(exact) - 0.5).min() > 1e-6
    upper = np.floor(exact + 0.5).astype(np.int16)
    assert np.array_equal(table[32768:], upper)
    assert np.array_equal(table[:32768], -upper[::-1])
    assert hashlib.sha256(table.astype("<i2").tobytes()).hexdigest()[:16] == "1ea009ce409dac97"


def test_margins_of_gaussian_are_normal() -> None:
    rng = np.random.default_rng(1)
    rows = [{int(h): 1.0 for h in rng.integers(0, 2**64, 50, dtype=np.uint64)} for _ in range(300)]
    margins = Simhash(gaussian=True).compute(reference.features_of(rows)).margins
    assert margins is not None
    values = margins.ravel() / np.sqrt(50)
    assert abs(values.mean()) < 0.03 and abs(values.std() - 1) < 0.03


@pytest.mark.parametrize(
    "settings_", [{"bits": 16}, {"tie": "eq"}, {"margins": "some"}, {"ranks": 0}, {"bits": 32, "ranks": 33}]
)
def test_wrong_settings(settings_: dict) -> None:
    with pytest.raises(ConfigError):
        Simhash(**settings_)


def test_hostile_arrays_end_in_value_error() -> None:
    u, f, i = np.uint64, np.float32, np.int64
    arguments = (64, _core.Tie.ge, False, _core.Margins.full, 8, 1)
    good = np.zeros(3, u), np.ones(3, f), np.array([0, 3], i)
    _core.simhash(*good, *arguments)
    for bad in (
        (good[0], np.ones(2, f), good[2]),
        (good[0], np.array([1, np.nan, 1], f), good[2]),
        (good[0], np.array([1, np.inf, 1], f), good[2]),
        (good[0], good[1], np.array([0, 4], i)),
        (good[0], good[1], np.array([0, 5, 3], i)),
        (good[0], good[1], np.array([1, 3], i)),
        (good[0], good[1], np.array([-1, 3], i)),
        (good[0], good[1], np.zeros(0, i)),
    ):
        with pytest.raises(ValueError):
            _core.simhash(*bad, *arguments)
    for wrong in ((good[0].astype(np.int64), good[1], good[2]), (np.zeros(6, u)[::2], good[1], good[2])):
        with pytest.raises(TypeError):
            _core.simhash(*wrong, *arguments)
