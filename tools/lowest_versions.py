"""`python tools/lowest_versions.py FOLDER ...`: is each lower bound of pyproject.toml installed in one of the folders?

It lists the bounds that are not, so that none is promised untested.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.requirements import package, requirements

__all__ = ["bounds", "installed", "untested"]

# What users and tests install. `make lint` and `make docs` run with the newest versions alone.
EXTRAS = ["build", "test", "daft"]


def bounds(names: list[str]) -> dict[str, str]:
    """The lower bound of each package."""
    found = {}
    for requirement in requirements(names):
        bound = re.search(r">=([\d.]+)", requirement)
        assert bound, f"{requirement} has no lower bound"
        found[package(requirement)] = bound[1]
    return found


def installed(folders: list[str]) -> dict[str, set[str]]:
    """The versions of each package."""
    found: dict[str, set[str]] = {}
    for distribution in distributions(path=folders):
        found.setdefault(package(distribution.metadata["Name"]), set()).add(distribution.version)
    return found


def starts(version: str, bound: str) -> bool:
    """Whether the version is the bound, or has only more parts: 1.26.0 is the 1.26 that was asked for."""
    parts = version.split("+")[0].split(".")
    wanted = bound.split(".")
    return parts[: len(wanted)] == wanted


def untested(folders: list[str]) -> list[str]:
    """A sentence for each bound that no folder has."""
    there = installed(folders)
    return [
        f"{name}>={bound}: installed {', '.join(sorted(there.get(name, ()))) or 'nowhere'}"
        for name, bound in bounds(EXTRAS).items()
        if not any(starts(version, bound) for version in there.get(name, ()))
    ]


if __name__ == "__main__":
    missing = untested(sys.argv[1:])
    print("\n".join(missing) or "every lower bound of pyproject.toml is installed")
    sys.exit(bool(missing))
