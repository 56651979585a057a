"""Freed memory is given back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
from pathlib import Path
from neardup.values.memory import release_unused

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

blocks = [bytes(4000) for _ in range(20_000)]
kept = blocks[::100]  # free memory between blocks that are in use
full = resident()
del blocks
release_unused()
assert resident() < full - 40_000_000, (full, resident())
assert all(block == bytes(4000) for block in kept)
"""


@pytest.mark.process
@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="the C library is not glibc (run it on Linux with glibc)"
)
def test_freed_memory_is_given_back() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
