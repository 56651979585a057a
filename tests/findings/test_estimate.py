"""The share of a finite population from a stratified and clustered sample: its interval holds as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.evaluate.metrics import wilson
from neardup.findings.estimate import JudgedCase, estimate


def cases(right: int, wrong: int, stratum: int = 0) -> list[JudgedCase]:
    return [JudgedCase(stratum, place, place < right) for place in range(right + wrong)]


def test_the_interval_narrows_and_ends() -> None:
    many, some = estimate({0: 1_000_000}, cases(18, 2)), estimate({0: 40}, cases(18, 2))
    assert many is not None and some is not None
    assert many.value == some.value == pytest.approx(0.9)
    assert (many.low, many.high) == pytest.approx(wilson(0.9, 20), abs=1e-3)
    assert many.low < some.low < 0.9 < some.high < many.high
    whole = estimate({0: 20}, cases(18, 2))
    assert whole is not None and (whole.low, whole.high) == (0.9, 0.9)
    assert estimate({0: 20}, []) is None


def test_strata_count_by_their_size_and_clusters_as_one() -> None:
    found = estimate({0: 900, 1: 100}, [*cases(10, 0), *cases(0, 10, stratum=1)])
    assert found is not None and found.value == pytest.approx(0.9)
    apart, together = (
        estimate({0: 1000}, [JudgedCase(0, at if alone else at // 5, at >= 10) for at in range(20)])
        for alone in (True, False)
    )
    assert apart is not None and together is not None
    assert together.cases < apart.cases / 3  # four clusters, each right or wrong as a whole
    agreed = estimate({0: 1000}, [JudgedCase(0, at // 5, True) for at in range(20)])
    assert agreed is not None and agreed.cases == pytest.approx(4, rel=0.05) and agreed.low < 0.6


@pytest.mark.parametrize("shared", [False, True])
def test_the_truth_is_inside_as_often_as_it_says(shared: bool) -> None:
    random = np.random.default_rng(5)
    strata = np.repeat([0, 1, 2], [600, 300, 100])
    clusters = np.arange(1000) // 4
    wrong_cluster = random.random(250) < 0.15
    right = ~wrong_cluster[clusters] if shared else random.random(1000) >= np.choose(strata, [0.02, 0.1, 0.5])
    sizes = {0: 600, 1: 300, 2: 100}
    inside = 0
    for _ in range(300):
        chosen = np.concatenate(
            [
                random.permutation(np.flatnonzero(strata == stratum))[: size // 10]
                for stratum, size in sizes.items()
            ]
        )
        found = estimate(
            sizes, [JudgedCase(int(strata[at]), int(clusters[at]), bool(right[at])) for at in chosen.tolist()]
        )
        assert found is not None
        inside += found.low <= right.mean() <= found.high
    assert inside / 300 >= 0.93
