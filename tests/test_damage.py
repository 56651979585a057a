"""Random damage to an index and to exports: no hang, no crash, no wrong answer, no error without words."""

from __future__ import annotations

import pytest
from support.budgets import budget
from support.damaged_files import run_damage


@pytest.mark.parametrize("part", range(4))
def test_a_damaged_index_is_reported_or_answers_as_before(part):
    count = budget(75, 1000)
    assert run_damage("index", part * count, count) == []


def test_a_damaged_export_is_refused_or_imported_as_it_was():
    assert run_damage("export", 0, budget(200, 1500)) == []
