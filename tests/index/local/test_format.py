"""Saved indexes of every format version open, answer as they did, and can be written to."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import neardup as nd
from neardup.index.local.database import VERSION

FIXTURES = Path(__file__).parents[2] / "fixtures" / "index"
SAVED = sorted(path for path in FIXTURES.glob("v*/*") if path.is_dir())


def test_every_version_is_kept():
    assert {path.parent.name for path in SAVED} == {f"v{version}" for version in range(1, VERSION + 1)}


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: f"{path.parent.name}-{path.name}")
@pytest.mark.parametrize("cache", [True, False], ids=["cache", "no cache"])
def test_an_old_index_answers_as_it_did(saved, cache, tmp_path):
    folder = tmp_path / "i"
    shutil.copytree(saved, folder, ignore=None if cache else shutil.ignore_patterns("cache"))
    known = json.loads((saved.parent / "expected.json").read_text())
    expected = known[saved.name]
    with nd.Index(folder) as index:
        assert bool(index.rebuilt) != cache
        assert index.scheme == expected["scheme"]
        assert [[e.id, e.keeper, e.meta, e.text and len(e.text)] for e in index.documents()] == expected[
            "documents"
        ]
        hits = [[[h.id, h.distance, h.similarity] for h in found] for found in index.search(known["queries"])]
        assert hits == expected["hits"] and sum(map(len, hits)) > 3
        assert index.verify().sound
        assert index.seen(known["queries"][1], id="once more").new is False
