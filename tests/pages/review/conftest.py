"""Tests of the review page need the extras it is served by."""

import pytest

for package in ("granian", "httpx", "rapidfuzz"):
    pytest.importorskip(package, reason="the extra `review` is not installed")
