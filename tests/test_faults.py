"""A system call that fails: a clear error and the old state, or success; and the next run works."""

from __future__ import annotations

import sys

import pytest
from support.budgets import budget
from support.faults import WORK, build_shim, run_faults
from support.skips import not_run


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    made = build_shim(tmp_path_factory.mktemp("shim")) if sys.platform == "linux" else None
    if made is None:
        not_run("no C compiler for the library that makes system calls fail", "Debian's package gcc")
    return made


@pytest.mark.parametrize("name", WORK)
def test_a_failing_call_leaves_the_old_state_or_the_new(name, shim, tmp_path):
    calls, wrong = run_faults(shim, tmp_path, name, budget(2, 1000))
    assert calls > 0 and wrong == []
