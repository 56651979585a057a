"""Settings for the tests of this folder."""

from __future__ import annotations

import pytest

from neardup.index.local import session


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache files are written even for few rows."""
    monkeypatch.setattr(session, "FEW_ROWS", 1)
