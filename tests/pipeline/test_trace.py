"""Texts through every stage: what is laid open agrees with what the stages themselves say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.pipeline.trace import BITS, FLIPS, HEADER, RADIUS, trial
from neardup.search.psm.vosh import vosh

PAGE = (
    "The harbour ferry leaves the north pier at eight in the morning and returns at noon. Tickets are sold at the "
    "kiosk beside the lifeboat station, and dogs travel free on all sailings. In rough weather the crossing is "
    "cancelled; a red flag on the pier tells so an hour before. Bicycles are carried on the lower deck."
)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60), st.integers(0, 59))
def test_the_measures_are_the_explanations(words, at):
    left = " ".join(words)
    right = " ".join([*words[: at % len(words)], "new", *words[at % len(words) :]])
    pair, made = trial(left, right).pair, nd.explain(left, right)
    assert (pair.jaccard, pair.containment, pair.cosine) == (
        made.jaccard,
        list(made.containment),
        made.cosine,
    )
    assert (pair.verdict, pair.duplicate, pair.edit) == (made.verdict, made.duplicate, made.edit)
    assert pair.distance == made.simhash_distance == len(pair.differing)


def test_bits_and_margins_are_the_codes():
    made = trial(PAGE).left
    codes = nd.Simhash().compute(nd.Words(weights="count").extract([PAGE]))
    assert made.code == f"{int(codes.codes[0, 0]):016x}" and int(made.bits, 2) == int(made.code, 16)
    assert made.margins[::-1] == pytest.approx(codes.margins[0].tolist())
    # A bit is 1 where the votes for it are no fewer than those against it.
    assert [bit == "1" for bit in made.bits] == [margin >= 0 for margin in made.margins]
    sizes = np.abs(codes.margins[0])[made.weakest]
    assert len(set(made.weakest)) == BITS and (np.diff(sizes) >= 0).all()


def test_probes_come_in_the_order_of_the_heap():
    made = trial(PAGE)
    sizes = np.abs(made.left.margins[::-1])[BITS - HEADER :]
    expected = [tuple(BITS - HEADER + bit for bit in bits) for bits in vosh(sizes, FLIPS, RADIUS)]
    assert made.flips[0].bits == [] and [tuple(flip.bits) for flip in made.flips[1:]] == expected
    costs = [flip.cost for flip in made.flips]
    assert costs == sorted(costs) and len(costs) == FLIPS + 1


def test_the_probe_that_reaches_is_the_one_that_flips_the_headers_difference():
    reached = set()
    for at in range(40):
        words = PAGE.split()
        words[at] = "changed"
        made = trial(PAGE, " ".join(words))
        apart = [bit for bit in made.pair.differing if bit >= BITS - HEADER]
        found = [number for number, flip in enumerate(made.flips) if sorted(flip.bits, reverse=True) == apart]
        assert made.pair.reached_by == (found[0] if found else None)
        assert [flip.reaches for flip in made.flips] == [number in found for number in range(len(made.flips))]
        reached.add(made.pair.reached_by)
    assert 0 in reached and len(reached) > 2  # the header itself, and some flips


@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.8, 0.95, 1.0])
def test_sketch_and_bands_are_those_of_a_scan(threshold):
    other = PAGE.replace("at eight", "at nine")
    made = trial(PAGE, other, threshold=threshold)
    bands = nd.Config(verify=nd.Jaccard(max(threshold, 0.4))).bands
    sketches = nd.MinHash(bands.values).compute(nd.Shingles().extract([PAGE, other]))
    assert (made.bands, made.rows) == (bands.bands, bands.rows)
    assert [int(value, 16) for value in made.right.sketch] == sketches.values[1].tolist()
    keys = bands.band_keys(sketches)
    assert [band.whole for band in made.pair.bands] == (keys[:, 0] == keys[:, 1]).tolist()
    assert made.pair.equal == (sketches.values[0] == sketches.values[1]).sum()
    assert made.pair.estimate == pytest.approx(made.pair.equal / bands.values)
    assert made.pair.duplicate == (made.pair.jaccard >= threshold)


def test_texts_without_words_and_single_ones():
    assert trial("").left.code == "" and trial("").flips == [] and trial("", PAGE).pair is None
    assert trial(PAGE, "...").right.code == "" and trial(PAGE, "...").pair is None
    assert (
        trial(PAGE).right is None
        and trial(PAGE).pair is None
        and trial(PAGE).left.tokens == len(PAGE.split())
    )
    for threshold in (0, -1, 1.1, float("nan")):
        with pytest.raises(nd.ConfigError, match="threshold"):
            trial(PAGE, threshold=threshold)


def test_reasons_say_what_happened():
    assert "same, character by character" in trial(PAGE, PAGE).pair.reasons[0]
    assert "same words in the same order" in trial(PAGE, PAGE.upper()).pair.reasons[0]
    half = " ".join(PAGE.split()[:27])
    reported = trial(half, PAGE).pair
    assert any("of the first text occurs in the second one" in reason for reason in reported.reasons)
    assert any("never look at this pair" in reason for reason in trial(PAGE, "beans " * 3).pair.reasons)


def test_long_texts_give_short_answers():
    words = [f"w{i % 977}" for i in range(9000)]
    made = trial(" ".join(words), " ".join(words[::-1]))
    assert made.pair.diff is None or sum(len(part) for _, part in made.pair.diff) < 300_000
    assert len(made.pair.shared) <= 8
