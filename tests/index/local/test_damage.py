"""Damaged files: a cache is made again and never answers wrongly; a database is reported with the way out."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from reference.index import answers, near_codes, of_codes
from support.budgets import budget
from support.command import run

import neardup as nd
from neardup.index.rebuild import recover_index, reindex

CODES = near_codes(1, 1500)
FIXTURES = Path(__file__).parents[2] / "fixtures" / "index"
PLACES = budget(60, 1000)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An index with a cache of two segments, removals and rows past the watermark; and what it answers."""
    folder = tmp_path_factory.mktemp("whole") / "i"
    ids = [f"id-{n}" for n in range(len(CODES))]
    with of_codes(folder) as index:
        index.add_prints(ids[:1000], CODES.take(slice(0, 1000)))
        index.compact()
        index.add_prints(ids[1000:1200], CODES.take(slice(1000, 1200)))
        index.remove(ids[100:160])
        index._store.session.save()
        index.add_prints(ids[1200:], CODES.take(slice(1200, 1500)))
        index.remove(ids[200:230])
        expected = answers(index, CODES)
    names = sorted(path.name.split("-")[0] for path in (folder / "cache").iterdir())
    assert names == ["rows", "rows", "state"]
    with nd.Index(folder, mode="read") as index:
        assert index.rebuilt == () and index.stats().watermark == 1200
        assert answers(index, CODES) == expected
    return folder, expected


@pytest.mark.slow
def test_flipped_bits_and_cut_files(whole, tmp_path):
    folder, expected = whole
    rng = np.random.default_rng(7)
    copy = tmp_path / "i"
    shutil.copytree(folder, copy)
    files = sorted((copy / "cache").iterdir())
    sizes = np.array([file.stat().st_size for file in files])
    noticed = 0
    for step in range(PLACES):
        file = files[rng.choice(len(files), p=sizes / sizes.sum())]
        whole_file = file.read_bytes()
        place = int(rng.integers(len(whole_file)))
        if step % 10 == 0:
            file.write_bytes(whole_file[:place])
        else:
            flipped = bytearray(whole_file)
            flipped[place] ^= 1 << int(rng.integers(8))
            file.write_bytes(flipped)
        with nd.Index(copy, mode="read") as index:
            noticed += bool(index.rebuilt)
            # Asking for everything takes a while: of a cut file and a flipped bit in turn; a few queries always.
            if step % 20 in (0, 7):
                assert answers(index, CODES) == expected
            part = rng.integers(0, len(CODES), 50)
            assert index.search_prints(CODES.take(part)) == [expected[0][row] for row in part]
        file.write_bytes(whole_file)
    assert noticed >= PLACES * 0.9  # bits between the columns mean nothing


@pytest.mark.parametrize("what", ["missing", "one missing", "other index's", "empty", "garbage"])
def test_a_lost_cache_is_made_again(whole, tmp_path, what):
    folder, expected = whole
    copy = tmp_path / "i"
    shutil.copytree(folder, copy)
    files = sorted((copy / "cache").iterdir())
    if what == "missing":
        shutil.rmtree(copy / "cache")
    elif what == "one missing":
        files[0].unlink()
    elif what == "other index's":
        with of_codes(tmp_path / "other") as other:
            other.add_prints([f"id-{n}" for n in range(len(CODES))], CODES)
            other.compact()
        for file in (tmp_path / "other" / "cache").glob("rows*"):
            shutil.copyfile(file, files[0])
    else:
        files[-1].write_bytes(b"" if what == "empty" else b"\xff" * 9000)
    with nd.Index(copy) as index:
        assert index.rebuilt
        assert answers(index, CODES) == expected
        assert index.verify().sound
    with nd.Index(copy) as index:
        assert index.rebuilt == ()
        assert answers(index, CODES) == expected


def test_an_older_database_with_a_later_cache(tmp_path, eager):
    """What a restored backup finds: files of rows that never were."""
    apart = CODES.take(np.array([0, 1, 2, 4, 5, 7]))
    with of_codes(tmp_path / "i") as index:
        index.add_prints(["a", "b"], apart.take(slice(0, 2)))
    shutil.copyfile(tmp_path / "i" / "index.sqlite", tmp_path / "old.sqlite")
    with of_codes(tmp_path / "i") as index:
        index.add_prints(["c", "d"], apart.take(slice(2, 4)))
    shutil.copyfile(tmp_path / "old.sqlite", tmp_path / "i" / "index.sqlite")
    with of_codes(tmp_path / "i") as index:
        index.add_prints(["e", "f"], apart.take(slice(4, 6)))
        found = [[hit.id for hit in hits] for hits in index.search_prints(apart)]
        assert found == [["a"], ["b"], [], [], ["e"], ["f"]]
        assert index.verify().sound


@pytest.mark.parametrize("size", [0, 1, 99, 100, 4096])
def test_recovering_what_is_left_of_a_file_is_refused_in_words(whole, tmp_path, size):
    copy = tmp_path / "i"
    copy.mkdir()
    (copy / "index.sqlite").write_bytes((whole[0] / "index.sqlite").read_bytes()[:size])
    with pytest.raises(nd.errors.FormatError, match="key file"):
        recover_index(copy, tmp_path / "saved")


def test_a_setting_whose_name_is_no_text_is_refused_in_words(whole, tmp_path):
    copy = tmp_path / "i"
    shutil.copytree(whole[0], copy)
    with contextlib.closing(sqlite3.connect(copy / "index.sqlite")) as database:
        database.execute("UPDATE settings SET name = x'01' WHERE name = 'identity'")
        database.commit()
    with pytest.raises(nd.errors.FormatError, match="recover"):
        nd.Index(copy)
    with pytest.raises(nd.errors.FormatError, match="key file"):
        recover_index(copy, tmp_path / "saved")


def test_a_lost_row_that_is_not_in_the_cache_is_no_removed_document(tmp_path):
    with of_codes(tmp_path / "i") as index:
        index.add_prints(["a", "b"], CODES.take(slice(0, 2)))
    with contextlib.closing(sqlite3.connect(tmp_path / "i" / "index.sqlite")) as database:
        database.execute("DELETE FROM documents WHERE id = 'b'")
        database.commit()
    with pytest.raises(nd.errors.FormatError, match="1 rows are missing"):
        nd.Index(tmp_path / "i", mode="read")


def test_nothing_follows_a_row_that_the_database_lost(tmp_path):
    """The tables in memory are of the cache, and an index without texts does not read the row that it finds."""
    code = CODES.take(slice(0, 1))
    with of_codes(tmp_path / "i") as index:
        index.add_prints(["a"], code)
        index.compact()
    with contextlib.closing(sqlite3.connect(tmp_path / "i" / "index.sqlite")) as database:
        database.execute("DELETE FROM documents")
        database.commit()
    with nd.Index(tmp_path / "i") as index:
        with pytest.raises(nd.errors.FormatError, match="recover"):
            index.seen_prints(["b"], code)
        assert index.stats().rows == 1


def test_a_damaged_database_says_the_way_out(whole, tmp_path):
    folder, _ = whole
    copy = tmp_path / "i"
    shutil.copytree(folder, copy)
    database = copy / "index.sqlite"
    data = bytearray(database.read_bytes())
    place = len(data) * 2 // 3 // 8192 * 8192  # one of documents
    data[place : place + 8192] = bytes(8192)
    database.write_bytes(data)
    with pytest.raises(nd.errors.FormatError, match="recover"), nd.Index(copy, mode="read") as index:
        assert not index.verify().sound
        list(index.documents())
    saved, lost = recover_index(copy, tmp_path / "saved")
    assert saved > 1000 and lost > 0
    with nd.Index(tmp_path / "saved") as index, nd.Index(folder, mode="read") as sound:
        assert len(index) == saved and index.verify().sound
        for entry in index.documents():
            assert entry.fingerprint == sound.get(entry.id).fingerprint
    database.write_bytes(b"not a database at all" * 1000)
    with pytest.raises(nd.errors.FormatError, match="recover"):
        nd.Index(copy, mode="read")
    with pytest.raises(nd.errors.FormatError, match="--key"):
        recover_index(copy, tmp_path / "again")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An index of texts, some on several pages, with removals and a log that is not yet folded in; and its key."""
    folder = tmp_path_factory.mktemp("large")
    index = nd.Index(folder / "i")
    rng = random.Random(3)
    documents = [
        nd.Document(
            f"id-{n}", " ".join(str(rng.random()) for _ in range(1500 if n % 20 == 0 else 30)), {"n": n}
        )
        for n in range(600)
    ]
    index.add(documents)
    index.compact()
    index.remove([f"id-{n}" for n in range(100, 200)])
    index.add(nd.Document(f"late-{n}", f"the late page number {n} is short") for n in range(50))
    index.write_key(folder / "key")
    shutil.copytree(folder / "i", folder / "copy", ignore=shutil.ignore_patterns("lock"))
    stored = {entry.id: (entry.text, entry.meta) for entry in index.documents()}
    index.close()
    assert (folder / "copy" / "index.sqlite-wal").stat().st_size > 50_000
    return folder / "copy", folder / "key", stored


@pytest.mark.parametrize("folded", [True, False])
def test_any_page_may_be_lost(large, tmp_path, folded):
    """Whatever page is zeroed, the root of a table or of the whole database too: what is on the others is saved."""
    whole, key, stored = large
    if folded:
        whole = shutil.copytree(whole, tmp_path / "folded")
        with sqlite3.connect(whole / "index.sqlite") as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
    data = (whole / "index.sqlite").read_bytes()
    pages = len(data) // 8192
    assert recover_index(whole, tmp_path / "sound") == (len(stored), 0)
    for page in {*range(8), *random.Random(1).sample(range(pages), min(pages, budget(6, 150)))}:
        copy = shutil.copytree(whole, tmp_path / f"copy-{page}")
        hurt = bytearray(data)
        hurt[page * 8192 : (page + 1) * 8192] = bytes(8192)
        (copy / "index.sqlite").write_bytes(hurt)
        saved, _ = recover_index(copy, tmp_path / f"saved-{page}", str(key))
        assert saved >= len(stored) - 80, page  # as many short ones fit on a page
        with nd.Index(tmp_path / f"saved-{page}", mode="read") as index:
            assert len(index) == saved and index.verify().sound
            for entry in index.documents():
                assert (entry.text, entry.meta) == stored[entry.id]


def test_another_database_or_version_is_refused(tmp_path):
    for name, version, message in (("a", None, "another SQLite"), ("b", 99, "later neardup")):
        folder = tmp_path / name
        if version is None:
            folder.mkdir()
        else:
            of_codes(folder).close()
        with sqlite3.connect(folder / "index.sqlite") as database:
            database.execute(
                "CREATE TABLE more (x)" if version is None else f"PRAGMA user_version = {version}"
            )
        database.close()
        with pytest.raises(nd.errors.FormatError, match=message):
            nd.Index(folder)


@pytest.fixture
def texts(tmp_path):
    """An index of texts whose last page holds documents, closed."""
    folder = tmp_path / "texts"
    with nd.Index(folder, seed=3) as index:
        index.add([nd.Document(f"d{n}", f"some words of document {n} " * 9, {"n": n}) for n in range(300)])
    return folder


def test_a_database_cut_inside_its_last_page_ends(texts, tmp_path):
    """Every call ends with a message: none hangs, and what is recovered is right."""
    file = texts / "index.sqlite"
    data = file.read_bytes()
    for cut in (len(data) - 4000, len(data) - 8192):
        file.write_bytes(data[:cut])
        for name in ("index.sqlite-wal", "index.sqlite-shm"):
            (texts / name).unlink(missing_ok=True)
        done = run("index", "verify", str(texts))
        assert done.returncode == 1 and b"recover" in done.stdout, done
        for command in (["export", str(tmp_path / "out.jsonl")], ["reindex", str(tmp_path / "again")]):
            done = run("index", command[0], str(texts), command[1])
            assert done.returncode == 1 and b"recover" in done.stderr, done
            assert not (tmp_path / "out.jsonl").exists() and not (tmp_path / "again").exists()
        with pytest.raises(nd.errors.FormatError), nd.Index(texts, mode="read") as index:
            for count, _ in enumerate(index.documents()):
                assert count < 300
        shutil.rmtree(tmp_path / "saved", ignore_errors=True)
        saved, lost = recover_index(texts, tmp_path / "saved")
        assert saved + (lost or 0) == 300 and saved > 200
        with nd.Index(tmp_path / "saved", mode="read") as index:
            for entry in index.documents():
                assert entry.text == f"some words of document {entry.meta['n']} " * 9


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET meta = '{\"n\": ' WHERE row = 3",
        "UPDATE documents SET meta = '[]' WHERE row = 3",
        "UPDATE documents SET content = x'0161' WHERE row = 3",
        "UPDATE documents SET content = 'text' WHERE row = 3",
        "UPDATE documents SET id = x'00ff' WHERE row = 3",
        "UPDATE documents SET added = 'then' WHERE row = 3",
        "UPDATE documents SET keeper = 'me' WHERE row = 3",
        "UPDATE documents SET keeper = 77777 WHERE row = 3",
        "UPDATE documents SET print = x'01' WHERE row = 3",
        "UPDATE documents SET expires = 'never' WHERE row = 3",
        "UPDATE settings SET value = '{' WHERE name = 'config'",
        "UPDATE settings SET value = 5 WHERE name = 'store'",
        "UPDATE settings SET value = x'01' WHERE name = 'seed'",
        "DELETE FROM settings WHERE name = 'identity'",
        "UPDATE counters SET value = 'many' WHERE name = 'rows'",
        "UPDATE counters SET value = 3 WHERE name = 'rows'",
        "UPDATE cache SET first = 'a'",
        "DROP TABLE changes",
        "DELETE FROM documents WHERE row = 3",
    ],
)
def test_impossible_values_are_problems_and_no_tracebacks(tmp_path, statement, version):
    if version == 2:
        with nd.Index(tmp_path / "i", seed=3) as index:
            index.add([nd.Document(f"d{n}", f"words of {n} " * 20, {"n": n}) for n in range(12)])
            index.compact()
    else:
        shutil.copytree(FIXTURES / "v1" / "bits", tmp_path / "i")
    with contextlib.closing(sqlite3.connect(tmp_path / "i" / "index.sqlite")) as connection:
        connection.execute(statement)
        connection.commit()
    folder, known = tmp_path / "i", nd.errors.NeardupError
    try:
        with nd.Index(folder, mode="read") as index:
            assert not index.verify().sound
            with contextlib.suppress(known):
                index.export(tmp_path / "out.jsonl")
            with contextlib.suppress(known):
                reindex(index, tmp_path / "again")
    except known as error:
        assert "recover" in str(error)
    with contextlib.suppress(known):
        recover_index(folder, tmp_path / "saved")
        with nd.Index(tmp_path / "saved", mode="read") as index:
            assert index.verify().sound
    with contextlib.suppress(known), nd.Index(folder) as index:
        index.seen("some more words", id="more")
        index.compact()


def test_every_flip_of_a_stored_row_is_noticed(tmp_path):
    """Each column of a row, changed to another value of its own type."""
    with nd.Index(tmp_path / "i", seed=3) as index:
        index.add([nd.Document(f"d{n}", f"words of {n} " * 5, {"n": n}) for n in range(12)], ttl=10_000)
    changes = {
        "id": "'e3'", "keeper": "4", "distance": "9", "similarity": "0.25", "added": "added + 1",
        "expires": "expires + 1", "print": "zeroblob(8)", "meta": "'{}'", "content": "x'0061'",
        "head": "head + 1", "body": "body + 1",
    }  # fmt: skip
    for column, value in changes.items():
        copy = tmp_path / column
        shutil.copytree(tmp_path / "i", copy)
        with contextlib.closing(sqlite3.connect(copy / "index.sqlite")) as connection:
            connection.execute(f"UPDATE documents SET {column} = {value} WHERE row = 3")
            connection.commit()
        with pytest.raises(nd.errors.FormatError, match="digest"), nd.Index(copy, mode="read") as index:
            list(index.documents())


def test_a_journal_of_a_dead_writer_does_not_block_readers(texts):
    """As a full disk leaves it, when a new database is switched to its log: a journal that must be played back."""
    file, journal = texts / "index.sqlite", texts / "index.sqlite-journal"
    child = (
        "import sqlite3, os, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA journal_mode = DELETE'); c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN')\n"
        "c.execute('UPDATE documents SET added = added + 1')\n"
        "c.execute('CREATE TABLE more (x)'); c.execute('INSERT INTO more VALUES (zeroblob(99999))')\n"
        "os._exit(0)\n"
    )
    with nd.Index(texts, mode="read") as index:
        before = [entry.added for entry in index.documents()]
    subprocess.run([sys.executable, "-c", child, str(file)], check=True)
    assert journal.stat().st_size > 0
    with nd.Index(texts, mode="read") as index:
        assert [entry.added for entry in index.documents()] == before
        assert index.verify().sound


def test_what_a_dead_writer_left_is_swept(texts, tmp_path):
    for left in ("index.sqlite.new", "index.sqlite.new-wal", "index.sqlite.new-journal"):
        (texts / left).write_bytes(b"half")
    backup = tmp_path / "backup"
    (backup / "cache").mkdir(parents=True)
    for left in ("index.sqlite.new", "cache/rows-0-9-aaaa.ndx", "cache/.rows.ndx.abcdef.tmp"):
        (backup / left).write_bytes(b"half")
    (texts / "cache").mkdir(exist_ok=True)
    (texts / "cache" / ".rows-0-9.ndx.abcdef.tmp").write_bytes(b"half")
    with nd.Index(texts) as index:
        index.backup(backup)
        index.compact()
    assert not list(texts.glob("*.new*")) and not list(texts.glob("cache/.*"))
    with nd.Index(backup, mode="read") as index:
        assert len(index) == 300 and not list(backup.glob("cache/.*")) and not list(backup.glob("*.new*"))
