"""What an index does, call by call."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from reference.index import near_codes, of_codes

import neardup as nd
from neardup.index import Hit, Seen
from neardup.index.local import writes
from neardup.index.local.sqlite_file import SqliteFile

FERRY = (
    "The ferry leaves the north pier at eight and returns at noon, except on public holidays, when it stays in the "
    "harbour all day long and the crew paint the railings, mend the nets and wait for the weather to turn"
)
NEARLY = FERRY + " again"
OTHER = "Whisk the eggs with the sugar until pale, then fold in the flour and the melted butter, and bake"


@pytest.fixture
def index(tmp_path):
    with nd.Index(tmp_path / "i", seed=1) as made:
        yield made


def test_seen_remembers_and_answers(index):
    assert index.seen(FERRY, id="a") == Seen("a", True, None, None, None)
    found = index.seen(NEARLY, id="b", meta={"site": "mirror"})
    assert (found.new, found.duplicate_of) == (False, "a")
    assert found.similarity == pytest.approx(nd.explain(FERRY, NEARLY).jaccard)
    assert index.seen(OTHER, id="c").new
    assert len(index) == 3 and "b" in index and "z" not in index
    stored = index.get("b")
    assert (stored.text, stored.meta, stored.keeper) == (NEARLY, {"site": "mirror"}, "a")
    assert stored.added == pytest.approx(time.time(), abs=60)
    assert index.get("z") is None
    assert [hit.id for hit in index.search(FERRY)] == ["a", "b"]
    assert [hit.id for hit in index.search(FERRY, mode="first")] == ["a"]
    assert index.search([OTHER, "nothing of the kind"])[1] == []
    assert [hit.id for hit in index.cluster("b").members] == ["a", "b"]
    assert index.explain("a", "b").duplicate


def test_what_read_gives_is_added(index, tmp_path):
    (tmp_path / "a.csv").write_text(f"id,text\na,{OTHER.replace(',', '')}\nb,something else\n")
    assert index.add(nd.read(tmp_path / "a.csv", batch=1)) == 2 and len(index) == 2
    assert [one.new for one in index.seen(nd.read(tmp_path / "a.csv"))] == [
        True,
        True,
    ]  # the same ids replace
    with pytest.raises(nd.DataError, match="expected Documents, got str"):
        index.add(["a text"])


def test_an_update_never_matches_itself(index):
    index.seen(FERRY, id="a")
    index.seen(NEARLY, id="b")
    assert index.seen(FERRY + " soon", id="a").new
    assert len(index) == 2
    assert index.cluster("b").keeper == "a"
    assert [hit.id for hit in index.search(nd.Document("a", FERRY))] == ["b"]
    assert index.get("a").text == FERRY + " soon"


def test_a_keeper_that_is_removed_has_a_successor(index):
    for id in "abc":
        index.seen(FERRY, id=id)
    assert index.cluster("c").keeper == "a"
    assert index.remove(["a", "nobody"]) == 1
    assert index.cluster("c").keeper == "b"
    assert index.cluster("a") is None
    assert index.stats().keepers == 1


def test_the_same_page_twice_in_one_batch(index):
    found = index.seen([nd.Document("a", FERRY), nd.Document("b", FERRY), nd.Document("a", FERRY)])
    assert [answer.new for answer in found] == [True, False, True]
    assert found[1] == Seen("b", False, "a", 0, 1.0)
    assert found.new.tolist() == [True, False, True] and found[:2] == [found[0], found[1]]
    assert len(index) == 2


def test_the_same_page_from_many_threads(index):
    reported, barrier = [], threading.Barrier(8)

    def crawl(number):
        barrier.wait()
        reported.extend(index.seen(f"{FERRY} page {page}", id=f"{number}-{page}") for page in range(5))

    workers = [threading.Thread(target=crawl, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(reported) == 40
    assert sum(answer.new for answer in reported) == index.stats().keepers
    assert index.verify().sound


def test_equal_pages_from_many_threads_are_new_once(tmp_path):
    with nd.Index(tmp_path / "i", nd.Config(near=False), store="none") as index:
        reported, barrier = [], threading.Barrier(6)

        def crawl(number):
            barrier.wait()
            for page in range(30):
                reported.append((page, index.seen(f"page {page} of the site", id=f"{number}-{page}").new))

        workers = [threading.Thread(target=crawl, args=(number,)) for number in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(page for page, new in reported if new) == list(range(30))


def test_empty_documents_are_kept_and_match_nothing(index):
    assert index.seen("", id="a").new and index.seen("...", id="b").new
    assert index.search("") == [] and index.cluster("a").members == [Hit("a", 0, None, None)]


def test_time_to_live(tmp_path, monkeypatch):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    with nd.Index(tmp_path / "i", ttl=100) as index:
        index.seen(FERRY, id="a")
        index.seen(FERRY, id="b", ttl=1000)
        now += 101
        assert [hit.id for hit in index.search(FERRY)] == ["b"]
        assert [hit.id for hit in index.search(FERRY, mode="first")] == ["b"]
        assert index.seen(OTHER, id="c").new
        assert "a" not in index and index.cluster("b").keeper == "b"
        now += 1000
        assert index.expire() == 2 and len(index) == 0
        assert index.seen(FERRY, id="d").new


def test_forget_before(tmp_path, monkeypatch):
    now = 1_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    with nd.Index(tmp_path / "i") as index:
        for number in range(5):
            index.seen(FERRY, id=str(number))
            now += 10
        monkeypatch.setattr(writes, "REMOVED_AT_ONCE", 1)
        assert index.forget(before=1_000_020.0) == 2
        assert [entry.id for entry in index.documents()] == ["2", "3", "4"]
        assert index.cluster("4").keeper == "2"


def test_a_secret_seed_is_drawn_and_kept(tmp_path):
    schemes = set()
    for name in "ab":
        with nd.Index(tmp_path / name) as index:
            schemes.add(index.scheme)
        with nd.Index(tmp_path / name) as index:
            schemes.add(index.scheme)
    assert len(schemes) == 2 and all("seed=secret-" in scheme for scheme in schemes)
    with nd.Index(tmp_path / "c", seed=5) as index:
        assert "seed=0000000000000005" in index.scheme


def test_simhash_needs_a_sample_and_freezes_it(tmp_path):
    config = nd.Config.of("simhash")
    with pytest.raises(nd.ConfigError, match="sample"):
        nd.Index(tmp_path / "i", config)
    with nd.Index(tmp_path / "i", config, sample=[FERRY, OTHER]) as index:
        index.seen(FERRY, id="a")
        scheme, code = index.scheme, index.get("a").fingerprint
    with nd.Index(tmp_path / "i", config) as index:
        assert index.scheme == scheme and "tf-idf(count," in scheme
        assert index.fingerprint([FERRY]).codes.tobytes() == code
        assert index.seen(NEARLY, id="b").duplicate_of == "a"


@pytest.mark.parametrize(
    "config",
    [
        nd.Config(fingerprint=nd.Simhash(), search=nd.search.Covering(3)),
        nd.Config(fingerprint=nd.Simhash(128), search=nd.BPHS(4, bits=128)),
        nd.Config(fingerprint=nd.Simhash(32), search=nd.search.Compact(2, bits=32)),
        nd.Config(fingerprint=nd.BitMinHash(128), search=nd.search.Join(20)),
        nd.Config.of("minhash"),
        nd.Config.of("exact"),
        nd.Config(),
    ],
)
@pytest.mark.parametrize("store", ["text", "features", "none"])
def test_every_method(tmp_path, config, store):
    with nd.Index(tmp_path / "i", config, store=store) as index:
        assert (
            index.add([nd.Document("a", FERRY), nd.Document("b", FERRY + "."), nd.Document("c", OTHER)]) == 2
        )
        assert index.cluster("b").keeper == "a"
    with nd.Index(tmp_path / "i", config, store=store) as index:
        assert [hit.id for hit in index.search(FERRY)] == ["a", "b"]
        assert index.get("a").text == (FERRY if store == "text" else None)
        assert index.verify().sound


def test_ready_fingerprints(tmp_path):
    with nd.Index(tmp_path / "i", store="none") as index:
        prints = index.fingerprint([FERRY, NEARLY, OTHER])
        found = index.seen_prints(["a", "b", "c"], prints, metas=[{}, {"n": 1}, {}])
        assert found[0].new and found[2].new
        assert index.get("b").meta == {"n": 1}
        rows = index.search_rows(prints)
        assert rows.query.tolist()[0] == 0 and index.ids(rows.row)[0] == "a"
        with pytest.raises(nd.errors.SchemeError):
            index.seen_prints(["d"], nd.fingerprint([FERRY], nd.Shingles(), nd.BitMinHash()))
        with pytest.raises(nd.DataError, match="2 ids for 3"):
            index.seen_prints(["d", "e"], prints)
    with nd.Index(tmp_path / "j") as index, pytest.raises(nd.DataError, match="verif"):
        index.search_prints(index.fingerprint([FERRY]))


def test_what_cannot_be(tmp_path, index):
    with pytest.raises(nd.ConfigError, match="templates"):
        nd.Index(tmp_path / "j", nd.Config(templates=nd.Templates()))
    with pytest.raises(FileNotFoundError):
        nd.Index(tmp_path / "j", mode="read")
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "mine.txt").write_text("precious")
    with pytest.raises(nd.DataError, match="not empty"):
        nd.Index(tmp_path / "k")
    for bad in ("", "x" * 9000, "\ud800"):
        with pytest.raises(nd.DataError, match="id"):
            index.seen(FERRY, id=bad)
    with pytest.raises(nd.ConfigError):
        index.seen(FERRY)  # type: ignore[call-overload]
    with pytest.raises(nd.DataError, match="JSON"):
        index.seen(FERRY, id="a", meta={"x": object()})
    with pytest.raises(nd.ConfigError, match="mode"):
        index.search(FERRY, mode="some")
    assert len(index) == 0
    index.close()
    index.close()
    with pytest.raises(nd.DataError, match="closed"):
        len(index)
    with pytest.raises(nd.ConfigError, match="another config"):
        nd.Index(index.path, nd.Config.of("minhash"))
    with pytest.raises(nd.ConfigError, match="store"):
        nd.Index(index.path, store="none")


@pytest.mark.parametrize(
    "id", ["../../etc/passwd", "a\0b", "<script>", "'; DROP TABLE documents; --", "漢字", " "]
)
def test_hostile_ids_are_only_names(index, id):
    assert index.seen(FERRY, id=id).new
    assert index.get(id).text == FERRY and index.remove(id) == 1


def test_ids_whose_hashes_agree_are_distinguished(index, monkeypatch):
    from neardup.index.local import session
    from neardup.index.local import transaction as writing

    def same(ids, seed):
        return np.zeros(len(ids), np.uint64)

    monkeypatch.setattr(session, "hash_ids", same)
    monkeypatch.setattr(writing, "hash_ids", same)
    index.add([nd.Document("a", FERRY), nd.Document("b", OTHER)])
    assert index.get("b").text == OTHER and "c" not in index
    index.seen("a new text of the second", id="b")
    assert len(index) == 2 and index.get("a").text == FERRY


def test_backup_while_in_use(tmp_path, index, eager):
    index.add([nd.Document(str(n), f"{FERRY} {n}") for n in range(50)])
    index.compact()
    index.backup(tmp_path / "copy")
    index.seen(OTHER, id="later")
    with nd.Index(tmp_path / "copy", mode="read") as copy:
        assert len(copy) == 50 and copy.rebuilt == () and copy.verify().sound
        assert copy.search(FERRY) == [hit for hit in index.search(FERRY) if hit.id != "later"]
        assert copy.stats().watermark == 50
    with pytest.raises(nd.DataError, match="new folder"):
        index.backup(tmp_path / "copy")


def test_export_and_back(tmp_path, index):
    from neardup.index.rebuild import import_index

    index.add([nd.Document("a", FERRY, {"n": 1}), nd.Document("b", NEARLY), nd.Document("e", "")])
    index.seen(OTHER, id="c", ttl=1000)
    index.remove("a")
    for name in ("e.jsonl.gz", "e.parquet"):
        assert index.export(tmp_path / name) == 3
        assert import_index(tmp_path / f"{name}.nd", str(tmp_path / name)) == 3
        with nd.Index(tmp_path / f"{name}.nd") as again:
            same = [entry._replace(row=0) for entry in again.documents()]
            assert same == [entry._replace(row=0) for entry in index.documents()]
            assert again.scheme == index.scheme and again.verify().sound
    with pytest.raises(nd.DataError, match="new folder"):
        import_index(tmp_path / "e.parquet.nd", str(tmp_path / "e.parquet"))
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "text": "x"}\n')
    with pytest.raises(nd.DataError, match="not from an export"):
        import_index(tmp_path / "new", str(tmp_path / "bad.jsonl"), tmp_path / "e.parquet.key")
    assert not (tmp_path / "new").exists()
    with pytest.raises(nd.errors.FormatError):
        import_index(tmp_path / "new2", str(tmp_path / "bad.jsonl"), tmp_path / "bad.jsonl")


def test_reindex_refits(tmp_path, index):
    from neardup.index.rebuild import reindex

    index.add([nd.Document("a", FERRY, {"n": 1}), nd.Document("b", NEARLY), nd.Document("c", OTHER)])
    assert reindex(index, tmp_path / "new", nd.Config.of("simhash"), store="features") == 3
    with nd.Index(tmp_path / "new") as again:
        assert "tf-idf" in again.scheme and again.get("a").meta == {"n": 1}
        assert again.get("b").added == index.get("b").added
        with pytest.raises(nd.DataError, match="original files"):
            reindex(again, tmp_path / "newer")


def test_an_index_that_was_made_but_not_opened_is_taken_back(tmp_path, index, monkeypatch):
    from neardup.index.rebuild import reindex

    synced = os.fsync

    def failing(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):  # the database has its name by then
            raise OSError(errno.EIO, "Input/output error")
        synced(handle)

    index.add([nd.Document(f"d{n}", f"page number {n} of a few") for n in range(3)])
    with monkeypatch.context() as patch, pytest.raises(OSError, match="Input/output"):
        patch.setattr(os, "fsync", failing)
        reindex(index, tmp_path / "new")
    assert not list(tmp_path.glob("new/index.sqlite*"))
    assert reindex(index, tmp_path / "new") == 3


KILLED = """
import os, signal, sys
import neardup as nd
from neardup.index import rebuild

copy, left = rebuild._copy, int(sys.argv[3])

def copied(target, batch):
    global left
    copy(target, batch)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

rebuild.AT_ONCE, rebuild._copy = 1, copied
with nd.Index(sys.argv[1], mode="read") as index:
    rebuild.reindex(index, sys.argv[2])
"""


@pytest.mark.parametrize("had_folder", [False, True])
@pytest.mark.parametrize("copied", [1, 3])
def test_a_reindex_that_is_killed_leaves_no_part_of_the_documents(tmp_path, copied, had_folder):
    from neardup.index.rebuild import reindex

    new = tmp_path / "new"
    with nd.Index(tmp_path / "old") as index:
        index.add([nd.Document(str(n), f"{n} some words of a text {n}") for n in range(3)])
    if had_folder:
        new.mkdir()
    command = [sys.executable, "-c", KILLED, str(tmp_path / "old"), str(new), str(copied)]
    assert subprocess.run(command, timeout=300).returncode == -signal.SIGKILL
    assert new.exists() == had_folder and not (had_folder and any(new.iterdir()))
    with nd.Index(tmp_path / "old", mode="read") as index:
        assert reindex(index, new) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]
    with nd.Index(new, mode="read") as index:
        assert len(index) == 3 and index.verify().sound


def test_reindex_keeps_the_settings_and_writes_only_to_a_new_folder(tmp_path):
    from neardup.index.rebuild import reindex

    texts = [FERRY, OTHER]
    with nd.Index(tmp_path / "old", nd.Config.of("simhash", threshold=0.6), sample=texts) as old:
        old.add([nd.Document("a", FERRY), nd.Document("b", OTHER), nd.Document("c", OTHER + " once more")])
        assert reindex(old, tmp_path / "new") == 3
        with nd.Index(tmp_path / "new", mode="read") as new:
            assert new.scheme.startswith("simhash") and new.config.verify.threshold == 0.6
            assert new.scheme != old.scheme  # the frequencies are of three documents now
        with pytest.raises(nd.DataError, match="new folder"):
            reindex(old, tmp_path / "new")


def test_the_key_makes_the_same_fingerprints(tmp_path, index):
    from neardup.index.key import read_key

    index.write_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o77 == 0
    assert np.array_equal(read_key(tmp_path / "key").prints([FERRY]).codes, index.fingerprint([FERRY]).codes)


def test_a_backup_does_not_take_a_server_for_a_folder(tmp_path, monkeypatch, index):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(nd.ConfigError, match="export"):
        index.backup("redis://127.0.0.1:6379/0?name=pages")
    assert sorted(tmp_path.iterdir()) == before


def test_a_backup_that_fails_leaves_what_was_there(tmp_path, monkeypatch, eager):
    with of_codes(tmp_path / "i") as index:
        index.add_prints(["a"], near_codes(1, 1))
        index.compact()
        (tmp_path / "empty").mkdir()

        def full(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("neardup.index.local.health.shutil.copyfile", full)
            for target in ("empty", "new", "some/new"):
                with pytest.raises(OSError, match="No space"):
                    index.backup(tmp_path / target)
        assert list((tmp_path / "empty").iterdir()) == [] and not (tmp_path / "some").exists()
        assert not (tmp_path / "new").exists()
        index.backup(tmp_path / "empty")
    with nd.Index(tmp_path / "empty") as copy:
        assert len(copy) == 1 and copy.rebuilt == () and copy.verify().sound


def test_a_backup_that_cannot_begin_closes_the_database(tmp_path):
    """Python 3.13 and later warn if it remains open, and in tests warnings are errors."""
    nd.Index(tmp_path / "i").close()
    file = SqliteFile(tmp_path / "i" / "index.sqlite", readonly=True)
    with pytest.raises(PermissionError, match="unable to open"):
        file.backup(tmp_path / "not there" / "copy")
    file.close()


def test_sizes_are_checked_before_anything_is_loaded(tmp_path):
    """What is stored is compressed: neither its stored nor its unpacked size may go beyond what the caller has."""
    with nd.Index(tmp_path / "i") as index:
        index.add([nd.Document(f"d{n}", "the same words again " * 5000) for n in range(5)])
        index.add([nd.Document("meta", "short", {"m": "x" * 9000})])
        assert [entry.id for entry in index.get_all(["d0", "d3"], most=250_000)] == ["d0", "d3"]
        for ids, most in ((["d0"], 100_000), (["d0", "d3"], 200_000), (["meta"], 5000)):
            with pytest.raises(nd.errors.DataError, match=r"bytes|too large"):
                index.get_all(ids, most=most)
        assert len(index.cluster("d0", most=5).members) == 5
        with pytest.raises(nd.errors.DataError, match="more than 4 members"):
            index.cluster("d0", most=4)
