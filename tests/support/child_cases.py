"""Runs numbered cases in child processes: a case that kills its process is noted, and the next process continues after
it. A child prints the number of each case before it runs it, what it raised behind the number, and "end"."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["run_cases"]


def run_cases(module: str, kind: str, first: int, count: int) -> list[str]:
    """What went wrong, a line for each case that did: how the child died, or what it raised. The module is called with
    the kind, the first case and the number of cases."""
    wrong, last = [], first + count
    here = str(Path(__file__).parents[1])
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    while first < last:
        command = [sys.executable, "-m", module, kind, str(first), str(last - first)]
        ended = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONPATH": path})
        lines = [line for line in ended.stdout.decode(errors="replace").split("\n") if line]
        wrong += [f"{kind} {line}" for line in lines if " " in line]
        if lines and lines[-1] == "end":
            break
        if not lines:
            return [*wrong, f"{kind}: no case was run: {ended.stderr.decode(errors='replace')[-600:]}"]
        wrong.append(f"{kind} {lines[-1]}: the process ended with {ended.returncode}")
        first = int(lines[-1].split()[0]) + 1
    return wrong
