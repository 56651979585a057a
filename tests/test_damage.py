"""Random damage to an index, to exports and to findings: no hang, no crash, no wrong answer, no error without words."""

from __future__ import annotations

import pytest
from support.budgets import budget
from support.damaged_files import run_damage


@pytest.mark.parametrize("part", range(4))
def test_a_damaged_index_is_reported_or_answers_as_before(part):
    count = budget(50, 600)
    assert run_damage("index", part * count, count) == []


def test_a_damaged_export_is_refused_or_imported_as_it_was():
    assert run_damage("export", 0, budget(100, 1200)) == []


def test_damaged_findings_are_refused_or_answer_as_before():
    assert run_damage("findings", 0, budget(200, 1400)) == []


def test_damaged_values_of_a_shared_index_are_refused_in_words(redis_server):
    assert run_damage("shared index", 0, budget(30, 300)) == []


@pytest.mark.parametrize("case", [1_000_038, 1_001_649])
def test_damaged_counts_of_a_shared_index_are_refused_in_words(case, redis_server):
    """Cases that a soak found: a negative row, and a number of rows that is no number."""
    assert run_damage("shared index", case, 1) == []
