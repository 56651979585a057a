"""What a result must say about where it came from, and what memory alone would allow."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from neardup.search.planner.machine import measure_access

__all__ = ["describe", "memory_bound", "release_freed_memory", "resident_bytes"]


def describe() -> dict[str, object]:
    """Machine, versions and commit."""
    names = {}
    for name in ("neardup", "numpy", "faiss-cpu", "gaoya", "simhash-pybind"):
        try:
            names[name] = version(name)
        except PackageNotFoundError:
            names[name] = "not installed"
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": names,
        "load": [round(load, 1) for load in os.getloadavg()],
        "commit": _run("git", "rev-parse", "HEAD"),
        "changed": bool(_run("git", "status", "--porcelain", "--untracked-files=no", "--", "src", "core")),
        "access_ns": [[size, round(cost, 2)] for size, cost in measure_access(2**30)],
    }


def memory_bound(reads: float, size: float) -> float:
    """Queries a second if a query were `reads` overlapped random reads in `size` bytes and nothing else."""
    sizes, costs = zip(*measure_access(2**30), strict=True)
    return 1e9 / (reads * float(np.interp(np.log2(size), np.log2(sizes), costs)))


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def release_freed_memory() -> None:
    """Give memory that was freed back to the system, so that what an engine takes next can be seen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return platform.processor()


def _run(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
