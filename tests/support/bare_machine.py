"""A machine with a few programs only: what the set-up scripts see of it is its PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASIC = ("sh", "cat", "cp", "find", "grep", "id", "mkdir", "rm", "tail", "touch", "tr")


class Machine:
    """Programs are added one by one; `run` finds no others."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "programs"
        self.programs.mkdir()
        for name in BASIC:
            self.link(name)

    def link(self, name: str) -> None:
        """This machine's own program."""
        found = shutil.which(name)
        assert found, name
        (self.programs / name).symlink_to(found)

    def script(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def python(self, name: str = "python3", before: str = "") -> None:
        """The running Python; `before` is run in it ahead of every program given with -c."""
        self.script(
            name,
            f'[ "$1" = -c ] && exec \'{sys.executable}\' -c "{before}\n$2"\nexec \'{sys.executable}\' "$@"',
        )

    def compiler(self, name: str = "g++", options: str = "") -> None:
        """This machine's compiler, with options."""
        found = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        assert found, "the tests were set up with a compiler"
        self.script(name, f"PATH='{os.environ['PATH']}' exec '{found}' {options} \"$@\"")

    def run(self, *command: str, folder: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.programs), "HOME": str(self.programs), **variables}
        return subprocess.run(
            [str(self.programs / command[0]), *command[1:]],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
