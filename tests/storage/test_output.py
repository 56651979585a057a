"""Outputs that a user names: files are replaced, special files are written to, and nothing is lost."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from neardup.errors import ConfigError, DataError
from neardup.storage.atomic_file import AtomicFile, hidden_name, locked_folder, sweep
from neardup.storage.output import check_output_file, check_outputs, is_stream, open_output, same_file


def write(path: Path | str, data: bytes = b"new", **options) -> None:
    with open_output(path, **options) as file:
        file.write(data)


def test_a_symbolic_link_is_kept_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "file", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink() and target.read_bytes() == b"new"
    target.unlink()
    write(link, b"again")  # a link to nothing yet
    assert link.is_symlink() and target.read_bytes() == b"again"
    assert sorted(os.listdir(tmp_path)) == ["link", "real"] and os.listdir(tmp_path / "real") == ["file"]


def test_a_link_in_a_circle_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises((DataError, OSError)):
        write(tmp_path / "a")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_file_is_kept(tmp_path, mode):
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(mode)
    write(tmp_path / "file")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_new_content_does_not_run_as_another_user(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o4755)
    write(tmp_path / "file")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o755


def test_a_fifo_is_written_to_and_kept(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    write(fifo, b"x" * 200_000, overwrite=False)
    reader.join(30)
    assert read == [b"x" * 200_000] and stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_device_is_written_to():
    before = os.stat("/dev/null")
    write("/dev/null", overwrite=False)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and os.stat("/dev/null").st_rdev == before.st_rdev


@pytest.mark.process
@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_appended_to_even_if_it_is_a_file(tmp_path, name):
    code = (
        "from neardup.storage.output import open_output\nprint('first')\n"
        f"with open_output({name!r}) as file: file.write(b'x')"
    )
    with open(tmp_path / "out", "ab") as out:
        out.write(b"before ")
        out.flush()
        inode = os.fstat(out.fileno()).st_ino
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"before first\nx"
    assert (tmp_path / "out").stat().st_ino == inode and is_stream(name)


def test_a_file_is_not_replaced_unless_it_may_be(tmp_path):
    path = tmp_path / "file"
    write(path, overwrite=False)
    with pytest.raises(ConfigError, match="--overwrite"):
        open_output(path, overwrite=False)
    path.unlink()
    file = open_output(path, overwrite=False)
    file.write(b"mine")
    path.write_bytes(b"theirs")  # it appears while we write
    with pytest.raises(DataError, match="exists by now"):
        file.commit()
    assert path.read_bytes() == b"theirs" and os.listdir(tmp_path) == ["file"]


def test_places_that_cannot_be_written_are_named(tmp_path):
    (tmp_path / "file").touch()
    for path, what in (
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "x", "does not exist"),
        (tmp_path / "file" / "x", "not a folder"),
    ):
        with pytest.raises(DataError, match=what):
            check_output_file(path)


def test_two_names_of_one_file_are_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "here").symlink_to(tmp_path)
    (tmp_path / "old").touch()
    os.link("old", "hard")
    same = [
        ("new", "./new"),
        ("new", "sub/../new"),
        ("here/new", "new"),
        ("old", "hard"),
        ("old", "here/old"),
    ]
    for one, other in same:
        assert same_file(one, other)
        with pytest.raises(ConfigError, match="--out and --pairs"):
            check_outputs({"--out": one, "--pairs": other})
        with pytest.raises(ConfigError, match="input"):
            check_outputs({"--out": one}, [other])
    check_outputs({"--out": "new", "--pairs": "sub/new"}, ["old", "/dev/null"])
    check_outputs({"--out": "/dev/null"}, ["/dev/null"])
    with pytest.raises(ConfigError, match="same file"):
        check_outputs({"--out": "-", "--pairs": "/dev/stdout"})


@pytest.mark.process
def test_what_a_killed_run_left_is_swept_by_the_next(tmp_path):
    target = tmp_path / "kept.jsonl"
    script = (
        "import sys, time; from neardup.storage.output import open_output\n"
        f"file = open_output({str(target)!r}); file.write(b'x'); file.file.flush(); print('held', flush=True)\n"
        "time.sleep(600)"
    )
    other = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    (left,) = tmp_path.iterdir()
    near = tmp_path / ".kept.jsonl.notes.tmp"  # of nobody's making but the user's
    near.touch()
    write(target)  # the other process is still at work
    assert left.exists() and near.exists()
    other.send_signal(signal.SIGKILL)
    other.wait()
    other.stdout.close()
    write(target)
    assert sorted(path.name for path in tmp_path.iterdir()) == [near.name, "kept.jsonl"]


def test_folders_of_dead_runs_are_swept(tmp_path):
    target = tmp_path / "kept"
    dead, alive = hidden_name(target), hidden_name(target)
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "file").touch()
    handle = locked_folder(alive)
    sweep(target)
    assert list(tmp_path.iterdir()) == [alive]
    os.close(handle)


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("é" * 127)
    write(path)
    with AtomicFile(path) as file:
        file.write(b"again")
    assert path.read_bytes() == b"again" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("folder", "own", "name"),
    [
        ("an index", ["index.sqlite"], "index.sqlite"),
        ("an index", ["index.sqlite"], "index.sqlite-wal"),
        ("findings", ["manifest.json", "pairs.nd"], "manifest.json"),
        ("findings", ["manifest.json", "pairs.nd"], "documents.nd"),
    ],
)
def test_the_files_of_an_index_or_of_findings_are_not_replaced(tmp_path, folder, own, name):
    place = tmp_path / folder
    place.mkdir()
    for one in {*own, name}:
        (place / one).write_text("kept")
    link = tmp_path / "out.jsonl"
    link.symlink_to(place / name)
    for path in (link, place / name):
        with pytest.raises(ConfigError, match=f"is in the {folder.split()[-1]}"):
            open_output(path)
    assert (place / name).read_text() == "kept"
    with open_output(place / "mine.jsonl") as made:
        made.file.write(b"other names are free")
    (place / own[-1]).unlink()
    with open_output(place / "manifest.json"):
        pass  # a file of another program
