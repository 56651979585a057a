"""Something else under the name of a file of ours: an error at once, never a wait without end."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys

import pytest

import neardup as nd
from neardup.errors import FormatError
from neardup.storage.regular_file import check_regular, open_regular, read_regular

ROWS = [
    {"id": str(n), "text": f"the ferry number {n % 7} leaves the north pier at {n % 5}"} for n in range(30)
]
SECONDS = 60  # an answer comes within one; a fifo would be waited for without end

THINGS = {
    "a fifo": lambda path: os.mkfifo(path),
    "a folder": lambda path: path.mkdir(),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


def written(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def asked(*arguments):
    command = [sys.executable, "-m", "neardup", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("thing", THINGS)
def test_only_files_are_opened(tmp_path, thing):
    path = tmp_path / "it"
    check_regular(path)
    with pytest.raises(FileNotFoundError):
        open_regular(path)
    THINGS[thing](path)
    for use in (check_regular, open_regular, read_regular):
        with pytest.raises(FormatError, match=f"expected a file, got {thing}"):
            use(path)


def test_a_socket_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("it")
        with pytest.raises(FormatError, match="got a socket"):
            check_regular("it")


@pytest.mark.process
@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("name", ["manifest.json", "documents.nd", "pairs.nd", "decisions.jsonl"])
def test_findings(tmp_path, name, thing):
    nd.scan(written(tmp_path), tmp_path / "found")
    (tmp_path / "found" / name).unlink(missing_ok=True)
    THINGS[thing](tmp_path / "found" / name)
    done = asked("apply", tmp_path / "found", "--out", tmp_path / "kept.jsonl")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert name in done.stderr and f"expected a file, got {thing}" in done.stderr
    assert not (tmp_path / "kept.jsonl").exists()


@pytest.mark.process
@pytest.mark.parametrize("thing", THINGS)
def test_an_index(tmp_path, thing):
    with nd.Index(tmp_path / "index") as index:
        index.add([nd.Document(row["id"], row["text"]) for row in ROWS])
    for path in (tmp_path / "index").glob("index.sqlite*"):
        path.unlink()
    THINGS[thing](tmp_path / "index" / "index.sqlite")
    for command in ("verify", "stats"):
        done = asked("index", command, tmp_path / "index")
        assert done.returncode != 0 and "Traceback" not in done.stderr + done.stdout


@pytest.mark.process
@pytest.mark.parametrize("command", ["scan", "dedup"])
def test_an_error_of_a_write_names_its_file(tmp_path, command):
    """A limit on the size of files has the same effect as a full disk: the error of a write has no name."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"page {n} " * 20}) + "\n" for n in range(20_000)))
    made = subprocess.run(
        [sys.executable, "-m", "neardup", command, path, "--out", tmp_path / "out.jsonl"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    shutil.rmtree(tmp_path / "out.jsonl", ignore_errors=True)
    assert made.returncode == 1 and "Traceback" not in made.stderr
    assert made.stderr.count(": File too large") == 1 and "neardup: /" in made.stderr
