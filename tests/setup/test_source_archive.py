"""The source archive, from which every other installation can be made."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tools.package_contents import faults

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    pytest.importorskip("scikit_build_core", reason="`make build` installs what archives are made with")
    folder = tmp_path_factory.mktemp("archive")
    command = [sys.executable, "-c", BUILD, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.mark.process
def test_it_holds_what_is_needed_and_nothing_that_was_made(archive):
    assert faults(archive) == []


@pytest.mark.process
def test_it_holds_every_source_of_the_core(archive):
    with tarfile.open(archive) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "core").rglob("*.?pp")} <= names


def test_faults_are_found(tmp_path):
    """Of an archive with a leftover and nothing else."""
    (tmp_path / "left.pyc").touch()
    bad = tmp_path / "neardup-0.tar.gz"
    with tarfile.open(bad, "w:gz") as source:
        source.add(tmp_path / "left.pyc", "neardup-0/src/neardup/__pycache__/left.pyc")
    found = faults(bad)
    assert "neardup-0.tar.gz lacks LICENSE" in found
    assert "neardup-0.tar.gz holds src/neardup/__pycache__/left.pyc" in found
