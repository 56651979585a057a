"""Every output of every command: checked before it is written, never lost, and possible as a pipe."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.command import run
from support.command_server import command_folder
from support.corpora import planted, read_jsonl, write_jsonl

from neardup.cli import cli
from neardup.cli.outputs import OutputFile, WritingCommand

pytestmark = pytest.mark.process
ROWS = planted(40)


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


@pytest.fixture(scope="module")
def scanned(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scanned")
    path = write_jsonl(folder / "in.jsonl", ROWS)
    result = run("scan", path, "-o", str(folder / "found"))
    assert result.returncode == 0, result.stderr
    return folder


def test_every_command_that_writes_has_overwrite():
    written = 0
    for name, command in commands(cli):
        outputs = [p for p in command.params if isinstance(p.type, OutputFile)]
        if outputs:
            written += 1
            assert isinstance(command, WritingCommand), name
            assert any("--overwrite" in p.opts for p in command.params), name
        # An option with one of these names writes a file; it must be declared as such.
        for parameter in command.params:
            if {"--out", "--plot", "--export", "--report"} & set(parameter.opts):
                assert isinstance(parameter.type, OutputFile) or name in (
                    "scan",
                    "spark scan",
                    "spark apply",
                    "stage cluster",
                    "stage filter",  # to a folder that is new, or of the same findings
                ), name
    assert written >= 10


@pytest.mark.parametrize(
    "arguments",
    [
        ("apply", "FOUND", "--out", "OLD.jsonl"),
        ("apply", "FOUND", "--pairs", "OLD.csv"),
        ("apply", "FOUND", "--clusters", "OLD.csv"),
        ("clusters", "FOUND", "--out", "OLD.csv"),
        ("clusters", "FOUND", "--pairs", "OLD.csv"),
        ("dedup", "IN", "--out", "OLD.jsonl"),
        ("report", "FOUND", "--out", "OLD.html"),
        ("review", "FOUND", "--export", "OLD.jsonl"),
        ("repeats", "IN", "--out", "OLD.jsonl"),
        ("repeats", "IN", "--report", "OLD.jsonl"),
        ("urls", "IN", "--column", "id", "--out", "OLD.txt"),
    ],
)
def test_no_output_replaces_a_file_without_overwrite(scanned, tmp_path, arguments):
    names = {"FOUND": str(scanned / "found"), "IN": str(scanned / "in.jsonl")}
    old = tmp_path / arguments[-1]
    old.write_bytes(b"precious")
    old.chmod(0o600)
    arguments = [names.get(part, part) for part in arguments[:-1]] + [str(old)]
    result = run(*arguments)
    assert result.returncode == 1 and b"--overwrite" in result.stderr, result.stderr
    assert old.read_bytes() == b"precious"
    result = run(*arguments, "--overwrite")
    assert result.returncode == 0 and old.read_bytes() != b"precious", result.stderr
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


def test_the_findings_own_files_are_no_outputs(scanned, tmp_path):
    found = scanned / "found"
    before = (found / "manifest.json").read_bytes()
    (tmp_path / "link").symlink_to(found / "manifest.json")
    for option in ("--out", "--pairs", "--clusters"):
        for target in (found / "manifest.json", found / "new.jsonl", tmp_path / "link"):
            arguments = ["apply", str(found), option, str(target), "--overwrite"]
            result = run(*arguments, *(["--out-format", "jsonl"] if option == "--out" else []))
            assert (
                result.returncode == 1 and b"findings folder" in result.stderr
            ) or b"format" in result.stderr
    result = run("apply", str(found), "--out", f"{found}/sub/")
    assert result.returncode == 1 and b"findings folder" in result.stderr
    assert (found / "manifest.json").read_bytes() == before and not (found / "new.jsonl").exists()


def test_two_outputs_of_one_name_are_refused(scanned, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").touch()
    os.link("a.jsonl", "b.jsonl")
    for one, other in (("x.jsonl", "./x.jsonl"), ("a.jsonl", "b.jsonl"), ("-", "/dev/stdout")):
        result = run("apply", str(scanned / "found"), "--out", one, "--pairs", other, "--overwrite")
        assert result.returncode == 1 and b"--out and --pairs are the same file" in result.stderr
    assert sorted(os.listdir()) == ["a.jsonl", "b.jsonl"] and (tmp_path / "a.jsonl").stat().st_size == 0


def test_no_input_is_an_output(scanned, tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", ROWS)
    os.link(path, tmp_path / "hard.jsonl")
    before = Path(path).read_bytes()
    for command in (["dedup", path], ["repeats", path], ["dedup", str(tmp_path)], ["repeats", str(tmp_path)]):
        for name in ("in.jsonl", "hard.jsonl"):
            result = run(*command, "--out", str(tmp_path / name), "--overwrite")
            assert result.returncode == 1 and b"input" in result.stderr, result.stderr
    command = [sys.executable, "-m", "neardup", "dedup", "-", "--out", path, "--overwrite"]
    with open(path, "rb") as stdin:
        result = subprocess.run(command, stdin=stdin, capture_output=True)
    assert result.returncode == 1 and b"input" in result.stderr
    assert Path(path).read_bytes() == before


def test_kept_documents_go_to_standard_output_and_all_else_to_standard_error(scanned, tmp_path):
    expected = tmp_path / "kept.jsonl"
    assert run("apply", str(scanned / "found"), "--out", str(expected)).returncode == 0
    for arguments in (
        ["apply", str(scanned / "found"), "--out", "-"],
        ["apply", str(scanned / "found"), "--out", "/dev/stdout"],
        ["dedup", str(scanned / "in.jsonl"), "--out", "-"],
    ):
        result = run(*arguments)
        assert result.returncode == 0 and result.stdout == expected.read_bytes(), result.stderr
        assert b"documents" in result.stderr
    said = run("apply", str(scanned / "found"), "--out", "-", "--json")
    assert said.stdout == expected.read_bytes() and json.loads(said.stderr)["out"] == "-"
    parquet = run("apply", str(scanned / "found"), "--out", "-", "--out-format", "parquet").stdout
    (tmp_path / "kept.parquet").write_bytes(parquet)
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(tmp_path / "kept.parquet").num_rows == len(read_jsonl(expected))


def test_lines_are_written_as_they_were_read(tmp_path):
    lines = [json.dumps(row, indent=None, separators=(" ,  ", " :  ")) for row in ROWS]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    result = run("dedup", str(tmp_path / "in.jsonl"), "--out", "-")
    assert result.returncode == 0 and set(result.stdout.decode().splitlines()) < set(lines)


def test_standard_input_alone_makes_a_filter(tmp_path):
    data = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    result = run("dedup", "-", stdin=data)
    assert result.returncode == 0 and 0 < len(result.stdout.splitlines()) < len(ROWS)
    assert all(line in data.splitlines() for line in result.stdout.splitlines())
    assert b"documents:" in result.stderr and b"findings are in" not in result.stderr
    assert json.loads(run("dedup", "-", "--json", stdin=data).stdout)["out"] is None
    texts = b"one and the same line of words\nanother line\none and the same line of words\n"
    assert run("dedup", "-", stdin=texts).stdout == texts[: texts.index(b"one", 5)]


def test_tables_and_binary_files_in_a_pipe():
    """A header shows a table; the commas of a sentence do not."""
    table = b"id;text\n1;a b c\n2;d e f\n3;A b, c\n"
    done = run("dedup", "-", stdin=table)
    assert done.returncode == 0 and done.stdout == b"id;text\n2;d e f\n3;A b, c\n", done.stderr
    assert b"read as fields separated by semicolons" in done.stderr
    lines = b"body, mind and soul\nsoul, and more, of it\n"
    assert run("dedup", "-", stdin=lines).stdout == lines
    done = run("dedup", "-", stdin=b"PAR1\x00\x00\x15\x04" + bytes(200))
    assert done.returncode == 1 and done.stdout == b"" and b"standard input is binary" in done.stderr


def test_a_reader_that_ends_early_ends_the_command_quietly(scanned):
    for command in ("apply FOUND --out -", "clusters FOUND --most 1000", "dedup IN --out -"):
        command = command.replace("FOUND", str(scanned / "found")).replace("IN", str(scanned / "in.jsonl"))
        process = subprocess.Popen(
            [str(command_folder() / "neardup"), *command.split()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert process.wait() == 0 and b"rror" not in said and b"Traceback" not in said, said


def test_an_unknown_ending_names_the_option_of_the_output(scanned, tmp_path):
    for arguments in (["dedup", str(scanned / "in.jsonl")], ["apply", str(scanned / "found")]):
        result = run(*arguments, "--out", str(tmp_path / "out.dat"))
        assert result.returncode == 1 and b"--out-format" in result.stderr
        result = run(*arguments, "--out", str(tmp_path / "out.dat"), "--out-format", "csv", "--overwrite")
        assert result.returncode == 0 and (tmp_path / "out.dat").read_bytes().startswith(b"id,")
        (tmp_path / "out.dat").unlink()


def test_a_csv_file_keeps_its_way_of_writing(tmp_path):
    rows = [
        ("1", 'Grüße; "quoted"'),
        ("2", "noch eine Zeile über Fähren"),
        ("3", "noch eine Zeile über Fähren"),
    ]
    text = "id;text\r\n" + "".join(f'{a};"{b.replace(chr(34), 2 * chr(34))}"\r\n' for a, b in rows)
    for encoding in ("cp1252", "utf-8", "utf-8-sig"):
        (tmp_path / "in.csv").write_bytes(text.encode(encoding))
        result = run("dedup", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "--overwrite")
        assert result.returncode == 0, result.stderr
        expected = text[: text.index("3;")].encode(encoding)
        assert (tmp_path / "out.csv").read_bytes() == expected
    found = str(tmp_path / "out.csv.findings")
    assert run("apply", found, "--write", "annotated", "-o", str(tmp_path / "notes.csv")).returncode == 0
    noted = (tmp_path / "notes.csv").read_bytes().decode("utf-8-sig").split("\r\n")
    assert noted[0].startswith("id;text;neardup_keep") and noted[1].startswith('1;"Grüße; ""quoted""";True')
    assert run("apply", found, "-o", str(tmp_path / "a.csv"), "--out-encoding", "cp1252").returncode == 0
    assert (tmp_path / "a.csv").read_bytes() == text[: text.index("3;")].encode("cp1252")
    result = run("apply", found, "-o", str(tmp_path / "b.csv"), "--out-encoding", "ascii")
    assert result.returncode == 1 and b"--out-encoding utf-8" in result.stderr


def test_texts_as_lines_and_as_markdown(tmp_path):
    rows = [{"id": "a", "text": "first words of one"}, {"id": "b", "text": "second words of another"}]
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    assert run("dedup", path, "-o", str(tmp_path / "out.txt")).returncode == 0
    assert (tmp_path / "out.txt").read_text() == "first words of one\nsecond words of another\n"
    assert run("dedup", path, "-o", str(tmp_path / "out.md")).returncode == 0
    assert (tmp_path / "out.md").read_text() == (
        "## a\n\nfirst words of one\n\n## b\n\nsecond words of another\n\n"
    )
    path = write_jsonl(tmp_path / "long.jsonl", [{"id": "a", "text": "two\nlines"}])
    result = run("dedup", path, "-o", str(tmp_path / "long.txt"))
    assert result.returncode == 1 and b".md or .jsonl" in result.stderr
    assert run(
        "apply", str(tmp_path / "long.txt.findings"), "--pairs", str(tmp_path / "p.txt")
    ).returncode in (0, 1)


def test_a_missing_package_for_spreadsheets_is_named(scanned, tmp_path):
    out = tmp_path / "pairs.xlsx"
    code = "import sys; sys.modules['openpyxl'] = None; from neardup.cli import main; main(sys.argv[1:])"
    arguments = ["apply", str(scanned / "found"), "--pairs", str(out)]
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True)
    assert result.returncode == 1 and b"pip install 'neardup[xlsx]'" in result.stderr
    assert not out.exists()
