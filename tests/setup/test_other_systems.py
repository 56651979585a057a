"""What is POSIX alone is asked for where it is used, with a sentence, and never at import."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

WITHOUT = "import sys\nfor name in ('fcntl', 'resource'): sys.modules[name] = None\n"


def run_without(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program in a Python that has neither fcntl nor resource, as on Windows."""
    quiet = ["-W", "ignore:only soft file lock"]  # of a package that one of ours imports
    return subprocess.run(
        [sys.executable, *quiet, "-c", WITHOUT + program, *arguments], capture_output=True, text=True
    )


def test_every_module_can_be_imported():
    program = """
import importlib, pkgutil, neardup
from neardup.errors import MissingExtra
for module in pkgutil.walk_packages(neardup.__path__, "neardup."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except MissingExtra:
            pass
        except ModuleNotFoundError as error:
            assert error.name not in ("fcntl", "resource"), module.name
print("imported")
"""
    done = run_without(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "imported\n", "")


def test_what_needs_no_lock_works():
    program = (
        "import neardup as nd; print(nd.dedup(['one two three', 'one two three', 'four five six']).summary())"
    )
    done = run_without(program)
    assert done.returncode == 0 and "3 documents: 2 kept" in done.stdout, done.stderr


def test_an_index_says_what_is_missing(tmp_path):
    program = """
import neardup as nd
try:
    nd.Index(sys.argv[1])
except nd.NeardupError as error:
    print(error)
"""
    done = run_without(program, str(tmp_path / "i.nd"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "needs POSIX file locks" in done.stdout and "WSL on Windows" in done.stdout


def test_parts_that_need_more_of_the_system_say_so(tmp_path):
    program = """
import os, signal
del os.preadv, signal.setitimer
import neardup as nd
from neardup.storage.column_file import ColumnFile
from neardup.web.html_workers import Worker
for use in (lambda: ColumnFile(sys.argv[1], b"magic"), lambda: Worker([])):
    try:
        use()
    except nd.NeardupError as error:
        print(error)
"""
    done = run_without(program, str(tmp_path / "segment"))
    assert (done.returncode, done.stderr) == (0, "")
    segments, pages = done.stdout.splitlines()
    assert "segment files needs Python's os.preadv" in segments and "Linux or macOS" in segments
    assert "HTML pages" in pages and "signal.setitimer" in pages


def test_the_command_says_what_is_missing(tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"id": 1, "text": "one two three"}\n')
    program = "from neardup.cli import main; sys.argv[0] = 'neardup'; main()"
    done = run_without(program, "scan", str(texts), "--out", str(tmp_path / "f"))
    assert done.returncode == 1 and "needs POSIX file locks" in done.stderr and "Traceback" not in done.stderr
