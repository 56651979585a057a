"""The command as its user sees it: output, exit codes, and no traceback whatever happens."""

import json
import subprocess
import sys

import pytest
from support.command import run

import neardup as nd

LEFT = "The harbour café opens at nine each morning and serves fresh bread, soup and coffee to everyone.\n"
RIGHT = "The harbour café opens at nine each morning and serves fresh bread, soup and tea to everyone.\n"


@pytest.fixture
def pair(tmp_path):
    paths = tmp_path / "left.txt", tmp_path / "right.txt"
    for path, text in zip(paths, (LEFT, RIGHT), strict=True):
        path.write_text(text, encoding="utf-8")
    return [str(path) for path in paths]


def test_help_and_version():
    assert b"explain" in run("--help").stdout
    assert nd.__version__.encode() in run("--version").stdout


def test_fingerprint_prints_what_the_library_computes(pair):
    result = run("fingerprint", *pair)
    codes = nd.fingerprint([LEFT, RIGHT], nd.Words(weights="count"), nd.Simhash())
    expected = [f"{code:016x}  {path}" for code, path in zip(codes.codes[:, 0].tolist(), pair, strict=True)]
    assert result.stdout.decode().splitlines() == expected


@pytest.mark.parametrize(
    ("options", "digits"),
    [
        (["--kind", "simhash", "--bits", "128"], 32),
        (["--bits", "32"], 8),
        (["--kind", "bits"], 16),
        (["--kind", "minhash", "--values", "10"], 80),
        (["--kind", "digest"], 32),
        (["--kind", "sha256"], 64),
        (["--seed", "0x10"], 16),
    ],
)
def test_fingerprint_kinds(pair, options, digits):
    line = run("fingerprint", pair[0], *options).stdout.decode().split()
    assert len(line[0]) == digits and int(line[0], 16) >= 0


def test_fingerprint_json_and_standard_input():
    said = json.loads(run("fingerprint", "-", "--json", stdin=LEFT.encode()).stdout)
    assert said["path"] == "-" and len(said["margins"]) == 64 and "simhash64" in said["scheme"]


def test_an_empty_file_has_no_fingerprint(tmp_path):
    (tmp_path / "empty").write_text(" \n")
    result = run("fingerprint", str(tmp_path / "empty"))
    assert result.returncode == 0 and b"no fingerprint" in result.stdout


def test_explain_agrees_with_the_library(pair):
    said = json.loads(run("explain", *pair, "--json").stdout)
    found = nd.explain(LEFT, RIGHT)
    assert said == json.loads(json.dumps(found.to_json()))
    assert ("left", "coffee") in found.diff and ("right", "tea") in found.diff


def test_explain_for_people(pair):
    out = run("explain", *pair, "--threshold", "0.5").stdout.decode()
    assert out.startswith("near-duplicate") and "[-coffee]" in out and "[+tea]" in out


def test_explain_verdicts(tmp_path):
    assert nd.explain(LEFT, LEFT).verdict == "identical"
    assert nd.explain(LEFT, LEFT.upper()).verdict == "same words"
    assert nd.explain("", "...").verdict == "empty" and not nd.explain("", "").duplicate
    assert nd.explain("one two three", "four five six").verdict == "different"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["fingerprint", "/no/such/file"], 1, "No such file"),
        (["fingerprint", "/"], 1, "folder"),
        (["fingerprint"], 2, "FILES"),
        (["fingerprint", "x", "--kind", "odd"], 2, "odd"),
        (["fingerprint", "x", "--seed", "much"], 2, "is not a number"),
        (["explain", "x"], 2, "RIGHT"),
        (["unheard-of"], 2, "unheard-of"),
    ],
)
def test_mistakes_are_reported_plainly(tmp_path, arguments, code, says):
    (tmp_path / "x").write_text("x")
    result = run(*[str(tmp_path / "x") if a == "x" else a for a in arguments])
    assert result.returncode == code and says in result.stderr.decode()


def test_hostile_bytes(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(256)) * 40 + b"\xed\xa0\x80")
    assert run("fingerprint", str(path)).returncode == 0
    assert run("explain", str(path), str(path)).returncode == 0


def test_a_closed_pipe_is_quiet(pair):
    shell = f"'{sys.executable}' -m neardup fingerprint --json {' '.join(pair * 400)} | head -1"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=300)
    assert result.stderr == b""
