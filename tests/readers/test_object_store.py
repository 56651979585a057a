"""Addresses of S3 are read through fsspec, from a real store."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path

import pytest
from support.object_store import KEY, SECRET, stored_objects
from support.skips import PACKAGES, not_run

import neardup as nd

FERRY = "The ferry leaves the north pier at eight and returns at noon, except on public holidays"


def test_a_bucket_is_read_as_a_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("s3fs") is None:
        not_run("the package s3fs is not installed", PACKAGES)
    folder = tmp_path / "pages"
    (folder / "more é").mkdir(parents=True)
    lines = [
        json.dumps({"id": f"d{n}", "text": f"{FERRY}{' and in fog' * (n % 3)}"}) + "\n" for n in range(9)
    ]
    (folder / "a.jsonl").write_text("".join(lines[:5]))
    (folder / "more é" / "b.jsonl.gz").write_bytes(gzip.compress("".join(lines[5:]).encode()))
    (folder / "more é" / ".hidden.jsonl").write_text(lines[0])
    with stored_objects(tmp_path / "store") as store:
        store.copy(folder, "pages")
        settings = {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": store.endpoint,
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        place = f"s3://{store.bucket}/pages"
        there, here = nd.read(place), nd.read(folder)
        assert list(there.documents()) == list(here.documents())
        assert list(there.account.lines()) == list(here.account.lines())
        assert [d.id for d in nd.read(f"{place}/*.jsonl").documents()] == [f"d{n}" for n in range(5)]
        found = {name: nd.scan(one, tmp_path / name) for name, one in (("there", place), ("here", folder))}
        for name, one in found.items():
            nd.apply(one, tmp_path / f"{name}.jsonl", allow_mass_removal=True)
        assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
        assert 0 < (tmp_path / "here.jsonl").read_bytes().count(b"\n") < 9
        with pytest.raises(nd.DataError, match="no such file or folder"):
            nd.read(f"{place}/none.jsonl")
