"""Curves against exact sums, enumerated edits, and codes that were really made."""

import json
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import scores as naive

import neardup as nd
from neardup import sample
from neardup.evaluate.curves import _bins
from neardup.evaluate.edits import edited, expected_jaccard, intact_shingles
from neardup.evaluate.plot import plot_curve


def tail(p: Fraction, of: int, needed: int) -> float:
    return float(sum(math.comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(needed, of + 1)))


@pytest.fixture(scope="module")
def pages():
    return [document.text for document in nd.read(sample.path()).documents()]


def test_the_sketch_curve_has_the_right_numbers():
    """Those printed in the notes, but for two: p(.9) is .5832 (.9885 is p(.95)), p(.5) is 1.53e-17."""
    made = nd.evaluate.curve_sketch(100, 90, at=[0.5, 0.8, 0.9, 0.95, 0.96])
    y = made.lines[0].y
    assert y[1:] == pytest.approx([0.005696, 0.583156, 0.988528, 0.997761], abs=5e-7)
    assert y[0] == pytest.approx(1.53e-17, rel=0.01)
    exact = [tail(Fraction(str(r)), 100, 90) for r in made.x.tolist()]
    assert y == pytest.approx(exact, rel=1e-10)


@given(values=st.integers(1, 60), data=st.data(), r=st.fractions(0, 1, max_denominator=50))
def test_the_sketch_curve_is_the_exact_tail(values, data, r):
    needed = data.draw(st.integers(0, values))
    y = nd.evaluate.curve_sketch(values, needed, at=[float(r)]).lines[0].y[0]
    assert y == pytest.approx(tail(Fraction(float(r)), values, needed), rel=1e-9, abs=1e-300)


def test_bands_and_radius_by_their_formulas():
    made = nd.evaluate.curve_bands(nd.LSH(20, 5), nd.LSH(9, 14), at=[0.3, 0.8])
    for line, (bands, rows) in zip(made.lines, ((20, 5), (9, 14)), strict=True):
        assert line.y == pytest.approx([1 - (1 - s**rows) ** bands for s in (0.3, 0.8)])
    made = nd.evaluate.curve_radius(3, at=[0.9, 0.98, 0.99])
    assert made.lines[0].y == pytest.approx([0.0130, 0.4109, 0.6740], abs=5e-5)
    q = 1 - math.acos(0.9) / math.pi
    exact = sum(math.comb(128, h) * (1 - q) ** h * q ** (128 - h) for h in range(9))
    assert nd.evaluate.curve_radius(8, bits=128, at=[0.9]).lines[0].y[0] == pytest.approx(exact)


@given(rate=st.floats(0, 1), words=st.integers(1, 9), data=st.data())
def test_surviving_shingles_are_those_of_all_sets_of_edits(rate, words, data):
    width = data.draw(st.integers(1, words))
    chance = intact_shingles(rate, words, width)
    assert chance == pytest.approx(naive.intact(rate, words, width), abs=1e-12)
    assert (chance * np.arange(len(chance))).sum() == pytest.approx((words - width + 1) * (1 - rate) ** width)


def test_edits_change_as_many_words_as_they_should(pages):
    words = nd.features.tokens(pages)
    assert [copy.split() for copy in edited(pages, 0)] == words
    copies = edited(pages, 0.2, seed=4)
    assert copies == edited(pages, 0.2, seed=4) != edited(pages, 0.2, seed=5)
    changed = sum(
        a != b
        for row, copy in zip(words, copies, strict=True)
        for a, b in zip(row, copy.split(), strict=True)
    )
    assert changed / sum(map(len, words)) == pytest.approx(0.2, abs=0.01)


def test_recall_at_an_edit_rate_is_what_the_model_says(pages):
    lsh = nd.LSH(20, 6)
    made = nd.evaluate.curve_edits(pages, rates=[0, 0.02, 0.05, 0.1], bands=[lsh], radii=[3, 8])
    lines = {line.name: line for line in made.lines}
    assert list(lines) == [
        "expected Jaccard",
        "bands 20 x 6, model",
        "bands 20 x 6, measured",
        "simhash H <= 3, measured",
        "simhash H <= 8, measured",
    ]
    model, measured = lines["bands 20 x 6, model"].y, lines["bands 20 x 6, measured"]
    assert model[0] == pytest.approx(1) and measured.y[0] == 1
    assert measured.y == pytest.approx(model, abs=0.07)
    assert ((measured.low <= measured.y) & (measured.y <= measured.high)).all()
    assert (lines["simhash H <= 3, measured"].y <= lines["simhash H <= 8, measured"].y).all()
    assert lines["expected Jaccard"].y[2] == pytest.approx(
        expected_jaccard(0.05, int(made.notes[0].split()[1]))
    )
    again = nd.evaluate.curve_edits(pages, rates=[0, 0.02, 0.05, 0.1], bands=[lsh], radii=[3, 8], threads=2)
    assert again.to_json() == made.to_json()


def test_measured_beside_the_model(manuals):
    made = nd.evaluate.curve_radius(3, 8, corpus=manuals[:400], at=[0.9, 0.95, 0.98, 1.0])
    model, measured = made.lines[2], made.lines[3]
    assert measured.name == "H <= 8, measured" and (measured.cases[1:] > 30).all()
    # At cosine 0.98 and radius 8 nearly all pairs are found; at 0.9 fewer than half, whatever corpus it is.
    assert measured.y[2] > 0.85 and model.y[2] > 0.95 and measured.y[0] < 0.8
    assert (
        made.to_json()
        == nd.evaluate.curve_radius(
            3, 8, corpus=manuals[:400], at=[0.9, 0.95, 0.98, 1.0], threads=2
        ).to_json()
    )


def test_bins_are_narrow():
    x = np.array([0.5, 0.9, 0.94, 1.0])
    assert _bins(x, np.array([0.492, 0.491, 0.52, 0.905, 0.92, 0.985, 0.995, 1.0])).tolist() == [
        0,
        0,
        -1,
        1,
        -1,
        -1,
        3,
        3,
    ]


def test_mistakes(pages):
    for wrong in (
        lambda: nd.evaluate.curve_sketch(10, 11),
        lambda: nd.evaluate.curve_sketch(at=[1.5]),
        lambda: nd.evaluate.curve_bands(),
        lambda: nd.evaluate.curve_radius(),
        lambda: nd.evaluate.curve_radius(65),
        lambda: nd.evaluate.curve_radius(3, at=[2.0]),
        lambda: nd.evaluate.curve_edits(pages, rates=[-0.1]),
        lambda: nd.evaluate.curve_edits(["", ""]),
        lambda: nd.evaluate.curve_radius(3, corpus=["only one"]),
        lambda: intact_shingles(0.1, 3, 5),
    ):
        with pytest.raises(nd.NeardupError):
            wrong()


@pytest.mark.parametrize("name", ["curve.svg", "curve.png"])
def test_plots_are_the_same_bytes_each_time(tmp_path, name):
    pytest.importorskip("matplotlib")
    made = nd.evaluate.curve_bands(nd.LSH(20, 5), nd.LSH(9, 14))
    plot_curve(made, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    plot_curve(made, tmp_path / name)
    assert first == (tmp_path / name).read_bytes() and len(first) > 5000
    assert b"2026" not in first and sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_a_missing_extra_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(nd.errors.MissingExtra, match=r"neardup\[eval\]"):
        plot_curve(nd.evaluate.curve_sketch(), tmp_path / "x.svg")
    with pytest.raises(nd.ConfigError, match=r"\.svg or \.png"):
        plot_curve(nd.evaluate.curve_sketch(), tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())


def test_json_has_no_nan(manuals):
    made = nd.evaluate.curve_radius(3, corpus=manuals[:60], at=[-0.9, 1.0])
    assert math.isnan(made.lines[1].y[0]) and made.to_json()["lines"][1]["y"][0] is None
    json.dumps(made.to_json(), allow_nan=False)
