"""Who may read the files of an index: its owner alone, unless an option says otherwise."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from support.command import run

import neardup as nd
from neardup.index.rebuild import import_index, recover_index, reindex

TEXT = "the river runs along the old harbour wall and out to the open sea beyond"


def modes(folder: Path) -> set[str]:
    """The permissions of all files in a folder, and of its folders; the lock holds a process number alone."""
    paths = [path for path in (folder, *folder.rglob("*")) if path.name != "lock"]
    return {f"{'d' if path.is_dir() else 'f'}{stat.S_IMODE(path.stat().st_mode):o}" for path in paths}


@pytest.fixture(autouse=True, params=[0o022])
def mask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077], indirect=True)
def test_only_the_owner_may_read(tmp_path):
    with nd.Index(tmp_path / "some" / "i") as index:
        index.seen(TEXT, id="a")
        index.compact()
        assert modes(tmp_path / "some" / "i") == {"d700", "f600"}
        index.backup(tmp_path / "backup")
        index.export(tmp_path / "out.jsonl")
        index.export(tmp_path / "out.parquet")
        index.write_key(tmp_path / "key")
        reindex(index, tmp_path / "again")
        assert index.verify().warnings == ()
    import_index(tmp_path / "imported", str(tmp_path / "out.jsonl"))
    recover_index(tmp_path / "backup", tmp_path / "recovered")
    for name in ("backup", "imported", "recovered", "again", "some/i"):
        assert modes(tmp_path / name) == {"d700", "f600"}, name
    files = [
        tmp_path / name for name in ("out.jsonl", "out.jsonl.key", "out.parquet", "out.parquet.key", "key")
    ]
    locks = list(tmp_path.rglob("lock"))  # who may read one can hold up the writer
    assert len(locks) == 5
    assert {stat.S_IMODE(path.stat().st_mode) for path in [*files, *locks]} == {0o600}


def test_an_option_lets_others_read_and_verify_warns(tmp_path):
    with nd.Index(tmp_path / "i", access="group") as index:
        index.seen(TEXT, id="a")
        index.compact()
        assert modes(tmp_path / "i") == {"d750", "f640"}
        index.backup(tmp_path / "backup", access="all")
        index.export(tmp_path / "out.jsonl", access="all")
        warnings = index.verify().warnings
        assert len(warnings) == 2 and "its group may read it" in warnings[0] and "chmod 600" in warnings[0]
    assert modes(tmp_path / "backup") == {"d755", "f644"}
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "out.jsonl.key").stat().st_mode) == 0o600
    done = run("index", "verify", str(tmp_path / "i"))
    assert done.returncode == 0 and b"warning" in done.stderr and b"chmod 600" in done.stderr
    with pytest.raises(nd.errors.ConfigError, match="owner"):
        nd.Index(tmp_path / "j", access="everybody")
    assert not (tmp_path / "j").exists()


@pytest.mark.parametrize("name", [".", "index.sqlite", "cache", "cache/*.ndx"])
def test_verify_warns_of_what_others_may_change(tmp_path, name):
    """Who may write a cache file decides what the index answers."""
    with nd.Index(tmp_path / "i") as index:
        index.seen(TEXT, id="a")
        index.compact()
        for path in (tmp_path / "i", tmp_path / "i" / "cache"):
            path.chmod(0o755)
        assert index.verify().warnings == ()
        path = next((tmp_path / "i").glob(name)) if name != "." else tmp_path / "i"
        path.chmod(0o722 if path.is_dir() else 0o622)
        said = [warning for warning in index.verify().warnings if "may change it" in warning]
        assert said == [
            f"{path}: its group and everybody may change it; if that is not wanted: chmod go-w {path}"
        ]
        (tmp_path / "i").chmod(0o700)  # nobody can reach it
        assert index.verify().warnings == ()


def test_the_commands_have_the_option(tmp_path):
    assert run("index", "create", str(tmp_path / "i"), "--access", "all").returncode == 0
    assert (
        run("index", "backup", str(tmp_path / "i"), str(tmp_path / "b"), "--access", "group").returncode == 0
    )
    assert modes(tmp_path / "i") == {"d755", "f644"}
    assert modes(tmp_path / "b") == {"d750", "f640"}
    said = json.loads(run("index", "verify", str(tmp_path / "i"), "--json").stdout)
    assert said["sound"] and len(said["warnings"]) >= 1


def test_files_of_an_older_index_remain_readable(tmp_path):
    """A service of another account may read it: new cache files have the permissions of the database."""
    with nd.Index(tmp_path / "i") as index:
        index.seen(TEXT, id="a")
    (tmp_path / "i").chmod(0o755)
    (tmp_path / "i" / "index.sqlite").chmod(0o644)
    with nd.Index(tmp_path / "i") as index:
        index.compact()
        assert modes(tmp_path / "i") == {"d755", "f644"}
