"""Inputs as people have them, through the command."""

from __future__ import annotations

import json

import pytest
from support.command import run
from support.corpora import planted, read_jsonl, write_jsonl

pytestmark = pytest.mark.process
TEXT = "the quick brown fox jumps over the lazy dog and goes home again"


def scanned(*arguments: str, stdin: bytes = b"") -> dict:
    result = run("scan", *arguments, "--json", "-q", stdin=stdin)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_source_files(tmp_path):
    folder = tmp_path / "code"
    (folder / "pkg").mkdir(parents=True)
    for name in ("pkg/__init__.py", "pkg/_private.py", "pkg/main.py", "setup.cfg", "Makefile"):
        (folder / name).write_text(f"# {name}\nx = 1\n")
    (folder / "package.json").write_text('{\n  "name": "x"\n}\n')
    assert scanned(str(folder), "--preset", "source", "-o", str(tmp_path / "f"))["documents"] == 6
    every = scanned(f"{folder}/**/*.py", "--format", "text", "-o", str(tmp_path / "g"))
    assert every["documents"] == 3
    assert (
        scanned(str(folder), "--ext", "py", "--exclude", "main.py", "-o", str(tmp_path / "h"))["documents"]
        == 2
    )
    manifest = json.loads((tmp_path / "h" / "manifest.json").read_text())
    assert manifest["counts"]["passed_over"] == {"excluded": 4}


def test_hidden_and_ignored(tmp_path):
    folder = tmp_path / "in"
    for name in ("a.txt", ".b.txt", "node_modules/c.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    for number, (options, documents) in enumerate(
        ([[], 1], [["--hidden"], 2], [["--no-ignore"], 2], [["--hidden", "--no-ignore"], 3])
    ):
        assert scanned(str(folder), *options, "-o", str(tmp_path / f"f{number}"))["documents"] == documents


def test_tables_are_applied_as_they_were_scanned(tmp_path):
    """Columns, delimiter and encoding of the scan hold when the input is read again."""
    lines = ["id:title:body", f"1:A:{TEXT} für alle", f"2:A:{TEXT} für alle", "3::zwölf", "4:B:"]
    (tmp_path / "a.csv").write_bytes("\n".join(lines).encode("koi8-r", "replace"))
    out = tmp_path / "kept.jsonl"
    result = run(
        "dedup", str(tmp_path / "a.csv"), "--delimiter", ":", "--encoding", "koi8-r", "--text", "title",
        "--text", "body", "--out", str(out), "--allow-mass-removal", "-q",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert [(row["id"], row["title"], row["body"]) for row in read_jsonl(str(out))] == [
        ("1", "A", f"{TEXT} f?r alle"),
        ("3", "", "zw?lf"),
        ("4", "B", ""),
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_json_arrays_and_nulls_are_written_as_they_were(tmp_path, indent):
    rows = [{"id": 1, "text": TEXT}, {"id": 2, "text": TEXT}, {"id": 3, "text": None}, {"id": 4, "text": 5}]
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=indent))
    out = tmp_path / "kept.jsonl"
    result = run("dedup", str(tmp_path / "a.json"), "--out", str(out), "--allow-mass-removal", "-q")
    assert result.returncode == 0, result.stderr
    assert read_jsonl(str(out)) == [rows[0], *rows[2:]]


def test_standard_input(tmp_path):
    rows = planted(20)
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    with open(path, "rb") as file:
        data = file.read()
    named, piped = tmp_path / "named.jsonl", tmp_path / "piped.jsonl"
    for source, out in ((path, named), ("-", piped)):
        result = run("dedup", source, "--out", str(out), "--allow-mass-removal", "-q", stdin=data)
        assert result.returncode == 0, result.stderr
    assert named.read_bytes() == piped.read_bytes()
    found = str(piped) + ".findings"
    result = run("apply", found, "--out", str(tmp_path / "again.jsonl"), "--allow-mass-removal")
    assert result.returncode == 0 and (tmp_path / "again.jsonl").read_bytes() == piped.read_bytes()
    lines = scanned("-", "-o", str(tmp_path / "lines"), stdin=f"{TEXT}\n{TEXT}\nother\n".encode())
    assert (lines["documents"], lines["exact"]) == (3, 1)
    table = scanned("-", "--format", "csv", "-o", str(tmp_path / "csv"), stdin=b"id;text\n1;a\n2;b\n")
    assert table["documents"] == 2


def test_standard_input_that_cannot_be_read_leaves_nothing(tmp_path):
    result = run("scan", "-", "--format", "csv", "-o", str(tmp_path / "f"), stdin=b"a,b\n1,2\n")
    assert result.returncode != 0 and b"--text" in result.stderr
    assert not (tmp_path / "f").exists()
