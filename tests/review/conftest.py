"""Tests of the review page need the extras it is served by."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

for package in ("litestar", "granian", "httpx", "rapidfuzz"):
    pytest.importorskip(package, reason="the extra `review` is not installed")
