"""Exit codes that scripts can trust: too little could be read, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest
from support.command import run

from neardup.cli import cli

GOOD = '{"id": "%s", "text": "one two three four five six seven %s"}\n'


def rows(good: int, bad: int) -> str:
    return "".join(GOOD % (n, n) for n in range(good)) + "{broken\n" * bad


@pytest.fixture
def few(tmp_path):
    path = tmp_path / "few.jsonl"
    path.write_text(rows(8, 2))
    return path


def test_nothing_readable_ends_with_2_and_writes_nothing(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "kept.jsonl"
    path.write_text(rows(0, 5))
    done = run("dedup", str(path), "--out", str(out))
    listed = tmp_path / "kept.jsonl.findings.rejects.jsonl"
    assert done.returncode == 2 and not out.exists() and not (tmp_path / "kept.jsonl.findings").exists()
    assert str(listed).encode() in done.stderr and b"5 of 5 rows" in done.stderr
    assert len(listed.read_text().splitlines()) == 5
    assert done.stderr.count(b"in.jsonl, row") == 3, "the first three reasons"


def test_an_output_that_is_there_survives(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "kept.jsonl"
    path.write_text(rows(0, 5))
    out.write_text("precious\n")
    assert run("dedup", str(path), "--out", str(out)).returncode != 0
    assert out.read_text() == "precious\n"


def test_more_than_a_tenth(few, tmp_path):
    stopped = run("scan", str(few), "--out", str(tmp_path / "a"))
    assert stopped.returncode == 2 and b"--allow-rejects" in stopped.stderr
    assert run("scan", str(few), "--out", str(tmp_path / "a"), "--allow-rejects", "0.2").returncode == 0


def test_strict_makes_any_reject_fatal(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(rows(99, 1))
    assert run("scan", str(path), "--out", str(tmp_path / "a")).returncode == 0
    assert run("scan", str(path), "--out", str(tmp_path / "b"), "--strict").returncode == 2


def test_the_account_adds_up(few, tmp_path):
    run("scan", str(few), "--out", str(tmp_path / "a"), "--allow-rejects", "1", "--json")
    account = json.loads((tmp_path / "a" / "manifest.json").read_text())["account"]
    read = account["rows"]
    assert read["read"] == read["documents"] + sum(read["rejected"].values()) == 10
    assert account["files"] == {"found": 1, "read": 1, "skipped": {}, "examples": {}}


def commands(
    group: click.Group, before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


WRITES = {
    ("dedup",): "dedup IN --out OUT.jsonl",
    ("scan",): "scan IN --out OUT",
    ("repeats",): "repeats IN --out OUT.jsonl",
    ("copies",): "copies IN",
    ("find",): "find words IN",
    ("calibrate",): "calibrate IN --plot OUT.svg",
    ("radius",): "radius IN --labels OUT.labels --no-ask",
    ("codes", "make"): "codes make IN --out OUT.parquet",
    ("index", "add"): "index add INDEX IN",
    ("index", "seen"): "index seen INDEX IN --out OUT.jsonl",
    ("index", "create"): "index create OUT --method simhash --sample IN",
    ("index", "reindex"): "index reindex MADE OUT --from IN",
}


def test_every_command_that_reads_a_corpus_has_a_limit_of_losses():
    found = {
        name
        for name, command in commands(cli)
        if any(parameter.name == "allow_rejects" for parameter in command.params)
    }
    # tests/spark/test_findings.py and tests/stages/test_stages.py have those of Spark and of tasks.
    assert found == {*WRITES, ("spark", "scan"), ("stage", "cluster")}


@pytest.mark.parametrize("name", WRITES)
def test_no_command_takes_unreadable_rows_for_an_empty_corpus(tmp_path, name):
    """Exit code 2, the reasons and what to type next, and no output."""
    (tmp_path / "in.jsonl").write_text(rows(0, 5))
    run("index", "create", str(tmp_path / "made.nd"))
    places = {"IN": "in.jsonl", "INDEX": "new.nd", "MADE": "made.nd"}
    words = [
        str(tmp_path / places[word]) if word in places
        else str(tmp_path / word.lower()) if word.startswith("OUT") else word
        for word in WRITES[name].split()
    ]  # fmt: skip
    done = run(*words)
    assert done.returncode == 2, done.stderr
    assert b"nothing could be read: 5 of 5 rows were rejected" in done.stderr and b"--text" in done.stderr
    assert done.stderr.count(b"in.jsonl, row") == 3
    assert not [path for path in tmp_path.iterdir() if path.name in ("out", "out.jsonl", "out.svg")]
