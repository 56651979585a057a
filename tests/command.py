"""Runs the neardup command as a user would, and insists that no traceback ever reaches them."""

import os
import subprocess
import sys


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess:
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "neardup", *arguments]
    result = subprocess.run(command, capture_output=True, input=stdin, env=environment, timeout=60)
    assert b"Traceback" not in result.stderr
    return result
