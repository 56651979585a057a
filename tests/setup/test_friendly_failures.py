"""On a machine that lacks something, one sentence says what to install."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from support.bare_machine import ROOT, Machine

pytestmark = pytest.mark.process


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


def refusals(machine: Machine, *arguments: str, **variables: str) -> list[str]:
    """The sentences of a refusal, a line each."""
    done = machine.run("sh", "tools/check_machine.sh", *arguments, **variables)
    assert done.stdout == ""
    assert done.returncode == (1 if done.stderr else 0), done.stderr
    return done.stderr.splitlines()


def test_a_machine_with_everything_passes(machine):
    machine.python()
    machine.compiler()
    assert refusals(machine) == []


def test_nothing_at_all(machine):
    python, compiler = refusals(machine)
    assert "no program 'python3'" in python and "apt install python3 python3-venv python3-dev" in python
    assert "no C++ compiler" in compiler and "apt install g++" in compiler


def test_a_compiler_that_is_named_and_not_there(machine):
    machine.python()
    (sentence,) = refusals(machine, CXX="g++-99 -m64")
    assert "(CXX is 'g++-99 -m64')" in sentence and "CXX=/path/to/g++" in sentence


@pytest.mark.parametrize("name", ["c++", "g++", "clang++"])
def test_an_old_compiler(machine, name):
    machine.python()
    machine.compiler(name, "-U__GNUC__ -D__GNUC__=9 -U__clang_major__ -D__clang_major__=9")
    (sentence,) = refusals(machine)
    assert (
        f"'{name}' is " in sentence
        and " 9, which is too old" in sentence
        and "GCC 12 or Clang 14" in sentence
    )


def test_a_compiler_without_its_library(machine):
    machine.python()
    machine.compiler("g++", "-nostdinc++")
    (sentence,) = refusals(machine)
    assert "standard library" in sentence and "apt install g++" in sentence


def test_a_launcher_before_the_compiler(machine):
    machine.python()
    machine.compiler("compile")
    machine.script("launcher", 'exec "$@"')
    assert refusals(machine, CXX="launcher compile -m64") == []


def test_an_old_python(machine):
    machine.python(before="import sys; sys.version_info = (3, 8, 18)")
    machine.compiler()
    (sentence,) = refusals(machine)
    assert "Python 3.8, which is too old" in sentence and "3.11 or newer" in sentence


def test_a_python_that_does_not_start(machine):
    machine.script("python3", "exit 1")
    machine.compiler()
    (sentence,) = refusals(machine)
    assert "'python3' does not start" in sentence


def test_no_venv_module(machine):
    machine.python("python3.11", before="import sys; sys.modules['ensurepip'] = None")
    machine.compiler()
    (sentence,) = refusals(machine, "python3.11")
    assert "virtual environments" in sentence
    assert f"apt install python{sys.version_info.major}.{sys.version_info.minor}-venv" in sentence


def test_no_headers_of_python(machine):
    machine.python(before="import sysconfig; sysconfig.get_path = lambda name: '/nowhere'")
    machine.compiler()
    (sentence,) = refusals(machine)
    assert "Python.h" in sentence and "-dev" in sentence


def test_no_java(machine):
    for name in ("redis-server", "chromium"):
        machine.script(name, "exit 0")
    done = machine.run("sh", "tools/engines.sh")
    assert (done.returncode, done.stdout) == (0, "")
    (sentence,) = done.stderr.splitlines()
    assert "are skipped" in sentence and "apt install openjdk-17-jre-headless)" in sentence


def test_spark_without_java(machine, tmp_path):
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"id": 1, "text": "one two three"}\n')
    for name in ("bash", "dirname", "env"):
        machine.link(name)
    machine.python()
    command = ("python3", "-m", "neardup", "spark", "scan", str(texts), "--out", str(tmp_path / "run"))
    done = machine.run(*command, PYTHONPATH=os.environ.get("PYTHONPATH", ""))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "needs Java 17 or newer" in done.stderr and "apt install openjdk-17-jre-headless" in done.stderr


def test_no_network(machine, tmp_path):
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    machine.python()
    (environment / "bin" / "python").symlink_to(machine.programs / "python3")
    # Nothing listens on port 9 of this machine.
    unreachable = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
        "PIP_CONFIG_FILE": "/dev/null",
    }
    unreachable |= {"no_proxy": "127.0.0.1"}
    done = machine.run("sh", "tools/pip_install.sh", str(environment), "not-there-neardup", **unreachable)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "no network" in last and "PIP_INDEX_URL" in last
    assert not (environment / ".busy").exists()  # nothing was changed, so the next make continues from here


def test_an_interrupted_installation_is_remembered(machine, tmp_path):
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    machine.script("python3", "kill -KILL $$")
    (environment / "bin" / "python").symlink_to(machine.programs / "python3")
    done = machine.run("sh", "tools/pip_install.sh", str(environment), "not-there-neardup")
    assert done.returncode == 1 and (environment / ".busy").exists()


@pytest.fixture
def tree(tmp_path) -> Path:
    """The parts of the source tree that make needs before anything is compiled."""
    folder = tmp_path / "trée with spaces"
    (folder / "core").mkdir(parents=True)
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "pyproject.toml", "CMakeLists.txt", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def test_make_stops_before_anything_is_made(machine, tree):
    machine.link("make")
    machine.python()
    done = machine.run("make", "demo", folder=tree)
    assert done.returncode == 2 and "no C++ compiler was found" in done.stderr
    assert not (tree / ".venv").exists()


def test_make_leaves_the_environment_of_another_alone(machine, tree):
    (tree / ".venv" / "bin").mkdir(parents=True)
    machine.link("make")
    machine.python()
    machine.compiler()
    done = machine.run("make", "demo", folder=tree)
    assert done.returncode == 2 and "was not made by make" in done.stderr and "VENV=" in done.stderr
    assert (tree / ".venv" / "bin").is_dir()


@pytest.mark.parametrize("made", ["elsewhere", "interrupted", "python gone"])
def test_an_environment_that_cannot_be_used_is_made_again(machine, tree, made):
    environment = tree / ".venv"
    (environment / "bin").mkdir(parents=True)
    machine.link("make")
    machine.python()
    if made != "python gone":
        (environment / "bin" / "python").symlink_to(machine.programs / "python3")
    if made == "interrupted":
        (environment / ".busy").touch()
    (environment / ".made").write_text("/elsewhere\n" if made == "elsewhere" else f"{tree}\n")
    for stamp in (".tools", ".installed", ".test"):
        (environment / stamp).touch()
    done = machine.run("make", "--dry-run", "test", folder=tree)
    assert done.returncode == 0 and "tools/make_environment.sh .venv" in done.stdout, done.stderr


def test_an_environment_that_can_be_used_is_kept(machine, tree):
    environment = tree / ".venv"
    (environment / "bin").mkdir(parents=True)
    machine.link("make")
    machine.python()
    (environment / "bin" / "python").symlink_to(machine.programs / "python3")
    for stamp in (".made", ".tools", ".installed"):
        (environment / stamp).write_text(f"{tree}\n")
    done = machine.run("make", "--dry-run", "demo", folder=tree)
    assert done.returncode == 0 and done.stdout.split() == [".venv/bin/python", "examples/demo.py"], (
        done.stderr
    )


def test_make_clean_removes_everything_that_git_ignores(machine, tree):
    """Except secrets: a person has written those."""
    (tree / "deploy" / "secrets").mkdir(parents=True)
    before = sorted(tree.rglob("*"))
    made = []
    for pattern in set((tree / ".gitignore").read_text().split()) - {"deploy/secrets/"}:
        path = tree / pattern.replace("*", "x")
        path.mkdir(parents=True)
        made.append(path)
    for path in ("src/neardup/_core.cpython-311.so", "tests/io/__pycache__/x.pyc", ".venv-3.12/.made"):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).touch()
        made.append(tree / path)
    machine.link("make")
    done = machine.run("make", "clean", folder=tree)
    assert done.returncode == 0, done.stderr
    assert [path for path in made if path.exists()] == []
    assert all(path.exists() for path in before)
