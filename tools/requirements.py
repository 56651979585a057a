"""`python tools/requirements.py [EXTRA ...]` prints what an installation needs by pyproject.toml, a requirement a line.

The Makefile installs these as pip does for any user, and only our own package without isolation. The name `build` means
what compiles the package. An extra that names another one of ours (`neardup[io]`) is followed.
"""

from __future__ import annotations

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


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
