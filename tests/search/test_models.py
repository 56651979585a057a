"""The papers' models: their printed examples, and their limits."""

from __future__ import annotations

import doctest
import math

import pytest

from neardup.errors import ConfigError
from neardup.search import chance, models
from neardup.search.hamming.designs import bphs

ONES = models.Deltas(1.0, 1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("module", [models, chance])
def test_the_examples_run(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("radius", [1, 2, 3, 5])
@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_tables_and_keys_are_those_of_the_designs(radius: int, chosen: int) -> None:
    design = bphs(64, radius, radius + chosen, chosen)
    assert models.table_count(radius + chosen, chosen) == len(design.tables)
    assert (
        math.floor(models.bphs_key_bits(chosen, radius, 2**64)) == min(design.key_bits)
        or abs(models.bphs_key_bits(chosen, radius, 2**64) - min(design.key_bits)) < chosen
    )


def test_bphs_is_equation_14() -> None:
    d, g, h, b = 26.0, 1, 3, 64
    t = g * b / (g + h)
    assert models.bphs_seconds(ONES, g, h, 2**d) == pytest.approx(math.comb(4, 1) * (1 + t + 2 ** (d - t)))
    # The papers' buckets for 2**33 codes: 4, 32 or 256 codes and 128K.
    assert [models.bucket_size(g, 3, 2**33) for g in (1, 2)] == pytest.approx([2**17, 2 ** (33 - 25.6)])


def test_psm_is_equation_21_and_never_reads_more_than_all() -> None:
    k = 23
    assert models.psm_seconds(ONES, k, 2**26) == pytest.approx(k * (math.log2(k) + 1 + 1))
    assert models.psm_seconds(ONES, k, 2**26, 22) == pytest.approx(k * (math.log2(k) + 1 + 2**4))
    assert models.most_flips(64, 3) == 64 + 2016 + 41664


def test_batches() -> None:
    small, large = (models.psm_batch_seconds(ONES, 16, 1e9, m) for m in (1e6, 1e7))
    assert large < 1.2 * small  # so the rate grows almost as the batch does
    four = [models.bphs_batch_seconds(ONES, 1, 3, 1e9, m) for m in (1e6, 1e7)]
    assert four[1] > 4 * four[0]  # and that of BPHS almost does not
    assert models.batch_rate(10, models.disk_seconds(1e9), 1.0) == pytest.approx(10 / 8)


def test_shares() -> None:
    assert models.precision(4, 3) == 0.75 and models.recall(6, 3) == 0.5
    assert math.isnan(models.recall(0, 0))
    with pytest.raises(ConfigError, match="both"):
        models.recall(3, 4)


def test_deltas_are_measured_and_may_be_given() -> None:
    found = models.measure_deltas(1 << 14)
    assert all(0 < value < 1e-3 for value in (found.permute, found.read, found.scan, found.flip, found.sort))
    with pytest.raises(ConfigError, match="deltas"):
        models.Deltas(-1.0, 1.0, 1.0, 1.0, 1.0)
    for wrong in (math.nan, math.inf, "1", None):
        with pytest.raises(ConfigError, match="read"):
            models.Deltas(1.0, wrong, 1.0, 1.0, 1.0)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="codes"):
            models.bphs_seconds(ONES, 1, 3, wrong)  # type: ignore[arg-type]
    for wrong in (0, -1):
        with pytest.raises(ConfigError, match="codes"):
            models.psm_seconds(ONES, 4, wrong)
