"""A wheel runs on any x86-64: nothing outside the CPU levels of core/cpu.hpp was compiled for more."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.skips import not_run
from tools.baseline import needing_more

pytestmark = [
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="the levels are those of x86-64 (run it on such a machine)"
    ),
    pytest.mark.skipif(
        shutil.which("objdump") is None, reason="objdump is not installed (Debian's package binutils)"
    ),
]

ROOT = Path(__file__).parents[2]
COMPILED = ROOT / "build" / Path(sys.prefix).name  # by `make build`
SOURCE = """
int sum(const int* from) { int all = 0; for (int i = 0; i < 64; ++i) all += from[i]; return all; }
[[gnu::target("avx2")]] int sum_at_avx2(const int* from) { return sum(from); }
[[gnu::target("popcnt")]] int bits(unsigned long x) { return __builtin_popcountl(x); }
"""


def test_instructions_above_the_baseline_are_found(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        not_run("no C++ compiler", "Debian's package g++")
    source, made = tmp_path / "sum.cpp", tmp_path / "sum.o"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-O3", "-c", str(source), "-o", str(made)], check=True)
    outside, inside = needing_more([made])
    assert list(outside) == ["_Z4bitsm"]
    assert "popcnt" in outside["_Z4bitsm"]
    assert inside == 1
    subprocess.run([compiler, "-O3", "-mavx2", "-c", str(source), "-o", str(made)], check=True)
    assert set(needing_more([made])[0]) == {"_Z3sumPKi", "_Z4bitsm"}


def test_the_core_needs_no_more_than_the_baseline_outside_its_levels() -> None:
    objects = sorted(COMPILED.rglob("*.o"))
    if not objects:
        not_run(f"{COMPILED} has no compiled core", "make build")
    outside, inside = needing_more(objects)
    assert outside == {}
    assert inside > 50  # fewer would mean that the levels were not compiled
