"""Time that memory adds to a search is not corrected by factors that were found in a cache."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neardup.search.hamming.designs import covering
from neardup.search.planner.cost import LINE_CODES, psm_cost, tables_cost
from neardup.search.planner.machine import REFERENCE
from neardup.search.planner.measure import LEAST, _factor

CODES = 30_000_000


@pytest.mark.parametrize("kind", ["psm", "covering"])
def test_a_factor_corrects_the_work_alone(kind):
    def cost(machine):
        if kind == "psm":
            return psm_cost(machine, 64, CODES, 21, 100)
        return tables_cost(machine, covering(64, 3, 6), CODES, kind=kind)

    halved = REFERENCE.scaled({kind: [(1e6, 0.5)], f"{kind} first": [(1e6, 0.5)]}, {kind: [(1e6, 0.5)]})
    for part in ("all", "first", "build"):
        whole, work = getattr(cost(REFERENCE), part), getattr(cost(REFERENCE.in_cache), part)
        assert whole > work > 0
        assert getattr(cost(halved), part) == pytest.approx(whole - work / 2)


def test_a_bucket_that_covers_more_lines_costs_more_memory():
    far = replace(REFERENCE, per_run=0.0, per_line=0.0)
    missed = [psm_cost(far, 64, CODES, bits, 100, matched=0).all for bits in (22, 21, 20)]
    assert missed == sorted(missed)
    near = far.in_cache
    lines = CODES / 2.0**20 / LINE_CODES
    assert lines > 1 and psm_cost(near, 64, CODES, 22, 100, matched=0) != psm_cost(
        far, 64, CODES, 22, 100, matched=0
    )


def test_the_factor_is_of_the_work():
    assert _factor(measured=130.0, whole=150.0, work=100.0) == pytest.approx(0.8)
    assert _factor(measured=10.0, whole=150.0, work=100.0) == LEAST
