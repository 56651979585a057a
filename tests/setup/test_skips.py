"""At the end of a run the skipped tests are counted, each reason with the command that would run them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CASES = """
import pytest
from support.skips import not_run

def test_first():
    not_run("no engine", "make engines")

def test_second():
    not_run("no engine", "make engines")

def test_a_package():
    pytest.importorskip("neardup_is_not_there")

def test_an_extra():
    pytest.importorskip("neardup_is_not_there", reason="the extra `spark` is not installed")

def test_that_passes():
    pass
"""


def run(folder: Path, *options: str, ci: str) -> str:
    (folder / "test_cases.py").write_text(CASES)
    command = [sys.executable, "-m", "pytest", "-p", "support.skips", "-p", "no:cacheprovider", *options]
    environment = os.environ | {"PYTHONPATH": str(TESTS), "CI": ci, "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        [*command, "test_cases.py"], cwd=folder, env=environment, capture_output=True, text=True
    ).stdout


@pytest.mark.process
def test_the_end_of_a_run_says_what_would_run_the_rest(tmp_path: Path) -> None:
    lines = run(tmp_path, "-q", "-n", "2", ci="").splitlines()  # two workers, as `make test` has
    title = next(number for number, line in enumerate(lines) if "not run, and what would run it" in line)
    assert lines[title + 1 : title + 4] == [
        "2 skipped: no engine (make engines)",
        "1 skipped: the extra `spark` is not installed (pip install --editable '.[test]')",
        "1 skipped: the package neardup_is_not_there is not installed (pip install --editable '.[test]')",
    ]


@pytest.mark.process
def test_in_ci_nothing_may_be_missing(tmp_path: Path) -> None:
    said = run(tmp_path, "-q", ci="true")
    assert "2 failed, 1 passed, 2 skipped" in said and "Failed: no engine (make engines)" in said


def reasons(module: Path) -> list[str]:
    """The reasons to skip that a module spells out."""
    found = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        given = [*node.args[:1]] if name == "pytest.skip" else []
        if name == "pytest.mark.skipif":
            given = [keyword.value for keyword in node.keywords if keyword.arg == "reason"]
        found += [
            ast.unparse(value).strip("f'\"")
            for value in given
            if isinstance(value, ast.Constant | ast.JoinedStr)
        ]
    return found


def test_every_reason_to_skip_has_its_remedy() -> None:
    all_reasons = {reason: module for module in TESTS.rglob("test_*.py") for reason in reasons(module)}
    assert len(all_reasons) > 5
    assert [f"{module}: {reason}" for reason, module in all_reasons.items() if not reason.endswith(")")] == []
