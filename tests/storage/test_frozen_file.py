"""The frozen file: what was written comes back, and damage is always noticed."""

import random

import numpy as np
import pytest

from neardup.errors import FormatError
from neardup.storage.frozen_file import read_frozen, write_frozen

COLUMNS = {
    "hashes": np.arange(50, dtype=np.uint64),
    "values": np.linspace(0, 1, 9, dtype=np.float32),
    "none": np.empty(0, np.uint8),
}


@pytest.fixture
def path(tmp_path):
    write_frozen(tmp_path / "file", "test", {"documents": 3, "features": "words"}, COLUMNS)
    return tmp_path / "file"


def test_round_trip(path):
    facts, columns = read_frozen(path, "test")
    assert facts == {"documents": 3, "features": "words"}
    assert all(np.array_equal(columns[name], COLUMNS[name]) for name in COLUMNS)
    assert [p.name for p in path.parent.iterdir()] == ["file"]


def test_another_kind_is_refused(path):
    with pytest.raises(FormatError, match="kind"):
        read_frozen(path, "other")


def test_every_truncation_is_noticed(path):
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            read_frozen(path, "test")


def test_every_flipped_bit_is_noticed(path):
    whole, rng = path.read_bytes(), random.Random(1)
    for _ in range(400):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(FormatError):
            read_frozen(path, "test")


def test_a_newer_version_is_named(path):
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(data)
    with pytest.raises(FormatError, match="version 9"):
        read_frozen(path, "test")
