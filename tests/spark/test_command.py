"""`neardup spark` as a user runs it; its spark-submit entry is in test_recipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.spark_runs import write_jsonl

import neardup as nd

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

ROWS = [
    {"id": 1, "text": "The ferry leaves the north pier at eight and returns at noon, except on holidays."},
    {"id": 2, "text": "THE FERRY leaves the north pier at eight and returns at noon except on holidays"},
    {"id": 3, "text": "Whisk the eggs with the sugar until pale, then fold in the flour."},
]


def call(capsys, *arguments: str) -> tuple[int, str, str]:
    from neardup.cli import main

    code = 0
    try:
        main(["spark", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_scan_and_apply(spark, tmp_path, capsys):
    path = write_jsonl(tmp_path / "pages.jsonl", ROWS)[0]
    run, out = str(tmp_path / "run"), str(tmp_path / "out")
    code, shown, _ = call(capsys, "scan", path, "--out", run, "-q")
    here = nd.scan(path, tmp_path / "here", nd.Findings(run).config)
    lines = nd.summarize(here).lines()
    assert code == 0 and shown.splitlines()[: len(lines)] == lines
    names = sorted(file.name for file in Path(run).iterdir())
    assert names == sorted([*(file.name for file in (tmp_path / "here").iterdir()), "spark.json"])
    code, shown, _ = call(capsys, "scan", path, "--out", run, "--json", "-q", "--overwrite")
    report = json.loads(shown)
    assert (report["documents"], report["kept"], report["exact"]) == (3, 2, 1)
    code, shown, _ = call(capsys, "apply", run, "--out", out)
    assert (code, shown) == (0, f"2 of 3 documents written to {out}\n")
    lines = Path(out, "pages.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [1, 3]
    code, shown, _ = call(
        capsys, "apply", run, "--out", f"{out}2", "--write", "dropped", "--json", "--allow-mass-removal"
    )
    assert json.loads(shown)["written"] == 1
    code, _, error = call(capsys, "scan", path, "--out", run, "--threshold", "0.5")
    assert code == 1 and "holds findings already" in error
    code, _, error = call(capsys, "apply", str(tmp_path / "here"), "--out", out)
    assert code == 1 and "was not scanned on Spark" in error
    code, _, error = call(capsys, "apply", str(tmp_path / "nix"), "--out", out)
    assert code == 1 and "contains no findings" in error


def test_the_library_does_not_load_spark():
    code = "import neardup, sys; assert not any(m.startswith('pyspark') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    hidden = "import sys; sys.modules['pyspark'] = None\ntry:\n import neardup.spark\nexcept ImportError as e: print(e)"
    shown = subprocess.run([sys.executable, "-c", hidden], check=True, capture_output=True, text=True).stdout
    assert "pip install 'neardup[spark]'" in shown
