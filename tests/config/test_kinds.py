"""Names of strategies in a config: built in, registered in this process, or of an installed package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import neardup as nd
from neardup.config import register
from neardup.config.kinds import class_of, kind_of, kinds
from neardup.errors import ConfigError

SOURCE = """
from dataclasses import dataclass
import numpy as np
import neardup as nd
from neardup.search import Keyed, KeyMethod

@dataclass(frozen=True)
class SmallestValue(KeyMethod):
    takes = (nd.fingerprints.Sketches,)

    def fingerprint(self):
        return nd.MinHash(1)

    def keys(self, prints):
        rows = np.flatnonzero(~prints.empty)
        return Keyed(rows, np.zeros(len(rows), np.int32), prints.values[rows, 0].astype(np.uint64))
"""


@dataclass(frozen=True)
class Bands(nd.LSH):
    """A method of this test."""


def test_every_name_leads_to_a_strategy_and_back():
    for kind in kinds():
        found = class_of(kind)
        assert found is not None and kind_of(found) == kind
    assert class_of("nothing") is None and kind_of(dict) is None


def test_a_strategy_is_registered_once():
    bands = nd.Config(search=Bands(20, 5))
    with pytest.raises(ConfigError, match=r'register\("...", Bands\)'):
        bands.to_toml()
    with pytest.raises(ConfigError, match="taken"):
        register("lsh", Bands)
    register("test-bands", Bands)
    register("test-bands", Bands)
    with pytest.raises(ConfigError, match="taken"):
        register("test-bands", nd.LSH)
    assert nd.Config.from_plain(bands.to_plain()) == bands
    plain = nd.Config(search=nd.LSH(20, 5)).to_plain()["search"]
    assert bands.to_plain()["search"] == plain | {"kind": "test-bands"}


def installed(folder: Path) -> dict[str, str]:
    """A package with a method in a folder, and the environment in which Python finds it."""
    (folder / "own_method.py").write_text(SOURCE, encoding="utf-8")
    about = folder / "own_method-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-method\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[neardup.methods]\nsmallest-value = own_method:SmallestValue\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}


def test_the_command_finds_methods_of_installed_packages(tmp_path):
    texts = ["the ferry leaves the pier at nine every morning of the week"] * 2 + [
        "a gull sits on the mast of a ship"
    ]
    texts[1] += " today"
    lines = [json.dumps({"id": str(row), "text": text}) for row, text in enumerate(texts)]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines), encoding="utf-8")
    config = tmp_path / "own.toml"
    config.write_text(
        'short = 0\n[search]\nkind = "smallest-value"\n[features]\nwidth = 1\n', encoding="utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "neardup",
        "scan",
        "pages.jsonl",
        "--config",
        "own.toml",
        "--out",
        "out",
        "--json",
    ]
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert alone.returncode == 1 and "there is no kind 'smallest-value'" in alone.stderr
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=installed(tmp_path))
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["counts"]["pairs"] == 1 and manifest["config"]["search"] == {"kind": "smallest-value"}


def test_a_config_file_names_no_code(tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    with pytest.raises(ConfigError, match="there is no kind 'evil:Method'"):
        nd.Config.from_plain({"search": {"kind": "evil:Method"}})
