"""`python tools/requirements.py [EXTRA ...]` prints what an installation needs by pyproject.toml, a requirement a line.

The Makefile installs these as pip does for any user, and only our own package without isolation. The name `build` means
what compiles the package. An extra that names another one of ours (`neardup[io]`) is followed.
`--only PACKAGE ...` and `--without PACKAGE ...` choose some of them.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(names: list[str]) -> list[str]:
    """The package's own requirements and those of the extras, each once, in the order of the file."""
    described = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    project = described["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    # cmake and ninja are what scikit-build-core asks for by itself where a machine has none.
    compiling = [*described["build-system"]["requires"], "cmake>=3.20", "ninja>=1.10"]
    found: dict[str, None] = dict.fromkeys(project["dependencies"])
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name != "build" and name not in extras:
            sys.exit(f"pyproject.toml has no extra {name!r}; it has: {', '.join(extras)}")
        for requirement in compiling if name == "build" else extras[name]:
            ours = re.fullmatch(rf"{project['name']}\[([^\]]+)\]", requirement)
            if ours:
                waiting += [part.strip() for part in ours[1].split(",")]
            else:
                found[requirement] = None
    return list(found)


def package(requirement: str) -> str:
    """The name of the package that a requirement asks for, as installed packages write it."""
    found = re.match(r"[\w.-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def chosen(names: list[str], only: list[str], without: list[str]) -> list[str]:
    """The requirements of these extras; `only` and `without` name packages."""
    found = {package(requirement): requirement for requirement in requirements(names)}
    if unknown := sorted({*only, *without} - set(found)):
        sys.exit(f"no extra that was named asks for {', '.join(unknown)}")
    return [
        requirement
        for name, requirement in found.items()
        if (not only or name in only) and name not in without
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("extras", nargs="*")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--without", nargs="+", default=[])
    given = parser.parse_args()
    print("\n".join(chosen(given.extras, given.only, given.without)))
