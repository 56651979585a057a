"""The digest of a file: as docs/format.md says, however the bytes come."""

import hashlib
import io
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup import _core
from neardup.errors import DataError
from neardup.readers.file_digest import digest_file
from neardup.storage.checked_json import read_checked, write_checked


def hashed(data):
    return [_core.hash_bytes(data, seed) for seed in (0, 1)]


def naive(data):
    numbers = [0, 0]
    for start in range(0, len(data), 16384):
        numbers = hashed(struct.pack("<4Q", *numbers, *hashed(data[start : start + 16384])))
    low, high = hashed(struct.pack("<3Q", *numbers, len(data)))
    return f"xxh3-pieces:{high:016x}{low:016x}"


@given(st.integers(0, 70_000), st.lists(st.integers(1, 40_000), max_size=6))
def test_as_documented_however_it_is_cut(size, cuts):
    data = np.random.default_rng(size).bytes(size)
    making, at = _core.StreamDigest(), 0
    for cut in [*cuts, size]:
        part = data[at : at + cut]
        making.add(np.frombuffer(part, np.uint8))
        at += len(part)
    low, high = making.value()
    assert f"xxh3-pieces:{high:016x}{low:016x}" == naive(data) == digest_file(io.BytesIO(data), False).fast


def test_sha256_if_asked_and_findings_of_earlier_versions(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"id": {i}, "text": "some words {i}"}}\n' for i in range(30)))
    found = nd.scan(path, tmp_path / "found", sha256=True)
    (entry,) = found.manifest["inputs"]
    assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert entry["digest"] == naive(path.read_bytes())
    manifest = Path(found.path) / "manifest.json"
    old, _ = read_checked(manifest, "a manifest")
    del old["inputs"][0]["digest"]
    write_checked(manifest, old)
    assert nd.apply(tmp_path / "found", tmp_path / "kept.jsonl").written == 30
    path.write_text(path.read_text().replace("words 7", "wards 7"))
    with pytest.raises(DataError, match="has changed"):
        nd.apply(tmp_path / "found", tmp_path / "kept.jsonl")
