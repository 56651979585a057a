"""What was not run, why, and how to run it: reasons to skip have one form, and are counted at the end of a run.

A plugin of pytest. With pytest-xdist the reports of all workers arrive where the summary is written.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any, NoReturn

import pytest

__all__ = ["PACKAGES", "not_run", "pytest_terminal_summary"]

PACKAGES = "pip install --editable '.[test]'"


def not_run(what: str, remedy: str) -> NoReturn:
    """Skip the test for what is missing here; with CI=true, where nothing may be missing, it fails."""
    reason = f"{what} ({remedy})"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def with_remedy(reason: str) -> str:
    """A reason as the summary shows it. `pytest.importorskip` knows no remedy, but it is always the same."""
    reason = reason.removeprefix("Skipped: ")
    missing = re.match(r"could not import '([\w.]+)'|(the extra `\w+`) is not installed", reason)
    if missing:
        return f"{missing[2] or f'the package {missing[1]}'} is not installed ({PACKAGES})"
    return reason


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(
        with_remedy(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple)
    )
    if not reasons:
        return
    terminalreporter.section("not run, and what would run it")
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        terminalreporter.write_line(f"{count} skipped: {reason}")
