"""What an error says to type next is a whole command, and it works."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys

import pytest

from neardup.cli import main
from neardup.cli.again import full_command, takes_option

ROWS = "".join(
    json.dumps(
        {"id": n, "text": f"the ferry number {n} leaves the pier at {n * 7}, and {n * 13} people are on it"}
    )
    + "\n"
    for n in range(12)
)
BROKEN = "{broken\n" * 5


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder of its own; returns its exit code and what it prints on standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        try:
            main(arguments)
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, capsys.readouterr().err

    return run


def named(said: str, mark: str = "The full command: ") -> list[str]:
    (line,) = [line for line in said.splitlines() if line.startswith(mark)]
    program, *arguments = shlex.split(line.removeprefix(mark))
    assert program == "neardup"
    return arguments


@pytest.mark.parametrize(
    ("files", "arguments", "code", "added"),
    [
        ({"in.jsonl": ROWS, "o k.jsonl": "precious"}, ["dedup", "in.jsonl", "--out", "o k.jsonl"], 1, ["--overwrite"]),
        ({"in.jsonl": ROWS}, ["dedup", "in.jsonl", "--out", "kept.dat"], 1, ["--out-format", "jsonl"]),
        ({"in.jsonl": ROWS + BROKEN}, ["dedup", "in.jsonl", "--out", "kept.jsonl"], 2, ["--allow-rejects", "1"]),
        ({"in.csv": "id,headline,note\n1,a long headline of today,x\n"}, ["scan", "in.csv"], 1, ["--text", "headline"]),
        ({"in/.a.txt": "hidden words"}, ["scan", "in"], 2, ["--hidden"]),
        ({"in/node_modules/a.txt": "some words"}, ["scan", "in"], 2, ["--no-ignore"]),
    ],
)  # fmt: skip
def test_the_command_that_an_error_names_works(typed, tmp_path, files, arguments, code, added):
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(data)
    ended, said = typed(*arguments)
    assert ended == code
    assert named(said) == [*arguments, *added]
    assert typed(*arguments, *added)[0] == 0


def test_findings_that_are_there(typed, tmp_path):
    (tmp_path / "in.jsonl").write_text(ROWS)
    assert typed("scan", "in.jsonl")[0] == 0
    ended, said = typed("scan", "in.jsonl")
    assert ended == 1 and typed(*named(said))[0] == 0


def test_a_mass_removal_names_both_commands(typed, tmp_path):
    (tmp_path / "in.jsonl").write_text(ROWS)
    ended, said = typed("dedup", "in.jsonl", "--min-words", "100", "--out", "kept.jsonl")
    assert ended == 1 and not (tmp_path / "kept.jsonl").exists()
    assert typed(*named(said, "To see the clusters: "))[0] == 0
    assert typed(*named(said, "If this is right: "))[0] == 0 and (tmp_path / "kept.jsonl").exists()


@pytest.mark.parametrize(
    "command", [["scan"], ["dedup", "--out", "kept.jsonl"], ["repeats"], ["find", "words"]]
)
def test_nothing_to_read_is_exit_code_2(typed, tmp_path, command):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.bin").write_bytes(bytes(range(256)))
    ended, said = typed(*command, "in")
    assert ended == 2 and "1 was found and skipped: 1 binary" in said and "--hidden" not in said
    assert not (tmp_path / "kept.jsonl").exists()


def test_options_that_a_command_has_not_are_not_named():
    from neardup.cli import cli

    assert takes_option(cli, ["index", "export", "a", "b"], "--overwrite")
    assert not takes_option(cli, ["index", "add", "a", "b"], "--overwrite")
    assert full_command(["dedup", "-", "--out", "a b"], ["--overwrite"]) == (
        "... | neardup dedup - --out 'a b' --overwrite"
    )
    assert full_command(["dedup", "--", "-x"], ["--strict"]) == "neardup dedup --strict -- -x"


@pytest.mark.process
def test_control_c_while_a_command_is_imported_is_no_traceback():
    """Python 3.11 wraps it in a RuntimeError if a class is being made just then."""
    code = """
import sys
from neardup.cli import LazyGroup, main
class Stopped:
    def __set_name__(self, owner, name): raise KeyboardInterrupt
def get(self, context, name):
    try:
        type("Made", (), {"field": Stopped()})
    except KeyboardInterrupt as error:  # Python 3.12 and newer do not wrap it
        raise RuntimeError("wrapped") from error
LazyGroup.get_command = get
main(["scan", "x"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT and "Traceback" not in done.stderr
    assert done.stderr.startswith("stopped;")
