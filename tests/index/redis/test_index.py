"""One server: what an address may say, what survives a worker's death, and how a damaged server is recognised."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from reference.index import near_codes
from reference.redis import Server

import neardup as nd
from neardup.cli import main
from neardup.index.local.store import LocalStore
from neardup.index.redis import SharedIndexError
from neardup.index.redis.address import Address
from neardup.index.redis.documents import RedisDocuments
from neardup.index.redis.records import PENDING, VOID, Record

CODES = {"config": nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3)), "scheme": "bare64"}
FERRY = (
    "The ferry leaves the north pier at eight and returns at noon except on public holidays when it stays in"
)


def codes(*words: int) -> nd.fingerprints.Codes:
    return nd.fingerprints.Codes(
        "bare64", np.zeros(len(words), bool), 64, np.array(words, np.uint64).reshape(-1, 1)
    )


def name_of(address: str) -> str:
    return Address.of(address).name


def keys_name(index: nd.Index) -> str:
    """What the keys of an index begin with: its name and its epoch."""
    return index._store._tables.layout.name


def test_an_address_is_not_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with nd.Index("redis:pages") as index:
        assert isinstance(index._store, LocalStore)
    with nd.Index(Path("redis://x")) as index:
        assert isinstance(index._store, LocalStore)
    assert (tmp_path / "redis:pages").is_dir()


def test_sizes_are_checked_before_anything_is_loaded(address: Callable[..., str], server: Server) -> None:
    """What is stored is compressed: neither its stored nor its unpacked size may go beyond what the caller has."""
    rng = np.random.default_rng(5)
    with nd.Index(address()) as index:
        index.add([nd.Document(f"d{n}", "the same words again " * 5000) for n in range(5)])
        index.add([nd.Document("meta", "short", {"m": "x" * 9000})])
        index.add([nd.Document("random", rng.bytes(500_000).hex())])
        assert [entry.id for entry in index.get_all(["d0", "d3"], most=250_000)] == ["d0", "d3"]
        for ids, most in ((["d0"], 100_000), (["d0", "d3"], 200_000), (["meta"], 5000)):
            with pytest.raises(nd.errors.DataError, match="bytes"):
                index.get_all(ids, most=most)
        assert len(index.cluster("d0", most=5).members) == 5
        with pytest.raises(nd.errors.DataError, match="more than 4 members"):
            index.cluster("d0", most=4)
        client = server.client()
        before = client.info("stats")["total_net_output_bytes"]
        with pytest.raises(nd.errors.DataError, match="bytes"):
            index.get_all(["random"], most=100_000)
        assert client.info("stats")["total_net_output_bytes"] - before < 100_000


def test_a_search_reads_large_texts_few_at_a_time(
    address: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sizes are asked for first; what was compared is not kept."""
    rng = np.random.default_rng(5)
    text = " ".join(rng.integers(1 << 30, size=20_000).astype(str).tolist())
    many, read = 20, []
    with nd.Index(address()) as index:
        index.add([nd.Document(f"d{n}", f"{text} {n}") for n in range(many)])
        size = index._store._reader._documents.stored_bytes([0])
        monkeypatch.setattr("neardup.index.contents._AT_ONCE", 3 * size)
        plain = RedisDocuments.contents
        monkeypatch.setattr(
            RedisDocuments,
            "contents",
            lambda self, records: read.append(len(records)) or plain(self, records),
        )
        assert len(index.search(text)) == many
    assert sum(read) == many and max(read) <= 4


@pytest.mark.parametrize(
    "query",
    [
        "name=a{b}",
        "name=",
        "name=" + "x" * 101,
        "expected=0",
        "expected=many",
        "timeout=x",
        "sync=2",
        "decode_responses=1",
    ],
)
def test_what_an_address_may_not_say(server: Server, query: str) -> None:
    with pytest.raises(nd.ConfigError, match=query.split("=")[0]):
        nd.Index(f"{server.url}?{query}")


def test_a_password_is_never_shown() -> None:
    with pytest.raises(SharedIndexError) as caught:
        nd.Index("redis://user:hunter2@127.0.0.1:1/0?name=a&timeout=0.1")
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(Address.of("redis://user:hunter2@127.0.0.1:1/0"))
    assert "127.0.0.1:1" in str(caught.value)


def test_an_option_that_there_is_not(server: Server) -> None:
    with pytest.raises(nd.ConfigError, match=r"no option 'expcted'; ours are name, expected"):
        nd.Index(f"{server.url}?expcted=1000")


def test_one_server_is_no_cluster(server: Server) -> None:
    start = time.monotonic()
    with pytest.raises(SharedIndexError, match="not part of a cluster; redis://"):
        nd.Index(f"redis+cluster://127.0.0.1:{server.port}/0?timeout=600")
    assert time.monotonic() - start < 300  # it is not tried again and again


def test_a_replica_takes_no_writes(server: Server, redis_server: str, tmp_path: Path) -> None:
    other = Server(redis_server, tmp_path / "other", ("--replicaof", f"127.0.0.1 {server.port}")).start()
    try:
        with pytest.raises(SharedIndexError, match="is a replica, which takes no writes"):
            nd.Index(f"{other.url}?name=none&timeout=1", **CODES)
    finally:
        other.kill()


def test_the_only_node_of_a_cluster_is_no_server(redis_server: str, tmp_path: Path) -> None:
    """It has all keys, so that nothing is elsewhere, and still refuses commands for several of them."""
    options = ("--cluster-enabled", "yes")
    node = Server(redis_server, tmp_path / "node", options).start()
    try:
        node.client().execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        deadline = time.monotonic() + 300
        while node.client().cluster("info")["cluster_state"] != "ok" and time.monotonic() < deadline:
            time.sleep(0.05)
        with (
            pytest.raises(SharedIndexError, match=r"node of a cluster; use redis\+cluster://"),
            nd.Index(f"{node.url}?timeout=0.5", **CODES) as index,
        ):
            index.seen_prints(["a", "b"], codes(1, 2**60))
    finally:
        node.kill()


def test_a_wrong_password(redis_server: str, tmp_path: Path) -> None:
    guarded = Server(redis_server, tmp_path / "guarded").start()
    try:
        guarded.client().config_set("requirepass", "right")
        with nd.Index(f"redis://:right@127.0.0.1:{guarded.port}/0", **CODES) as index:
            assert len(index) == 0
        for user in ("", ":wrong@"):
            with pytest.raises(SharedIndexError, match="password"):
                nd.Index(f"redis://{user}127.0.0.1:{guarded.port}/0", **CODES)
    finally:
        guarded.kill()


def test_the_recipe_is_shared_and_fixed(address: Callable[..., str]) -> None:
    where = address()
    with pytest.raises(FileNotFoundError, match="no index"):
        nd.Index(where, mode="read")
    with nd.Index(where, nd.Config.of("bits"), store="none") as one, nd.Index(where) as two:
        assert one.scheme == two.scheme
        assert one.config == two.config
        assert (one.fingerprint([FERRY]).codes == two.fingerprint([FERRY]).codes).all()
    with pytest.raises(nd.ConfigError, match="another config"):
        nd.Index(where, nd.Config.of("exact"))
    with pytest.raises(nd.ConfigError, match="store"):
        nd.Index(where, store="text")
    with pytest.raises(nd.ConfigError, match="server"):
        nd.Index(where, durability="full")


def test_a_simhash_index_keeps_its_frequencies(address: Callable[..., str]) -> None:
    where = address()
    sample = [FERRY, FERRY.replace("ferry", "train"), "another text altogether of a few words"]
    with nd.Index(where, nd.Config.of("simhash"), sample=sample) as one:
        assert one.seen(FERRY, id="a").new
    with nd.Index(where) as two:
        assert two.seen(FERRY, id="b").duplicate_of == "a"
        assert two.explain("a", "b").duplicate


def test_reading_changes_nothing(address: Callable[..., str]) -> None:
    where = address()
    with nd.Index(where, **CODES) as index:
        index.seen_prints(["a"], codes(1))
    with nd.Index(where, mode="read") as index:
        assert index.search_prints(codes(0))[0][0].id == "a"
        for change in (lambda: index.remove("a"), lambda: index.add_prints(["b"], codes(2)), index.expire):
            with pytest.raises(nd.ConfigError, match="reading"):
                change()


@pytest.mark.parametrize("id", ["a\0b", "{tag}", "}{", "../..", "k:0:0", "\u2603" * 2000, " ", "x" * 8192])
def test_hostile_ids(address: Callable[..., str], id: str) -> None:
    with nd.Index(address(), **CODES) as index:
        assert index.seen_prints([id, "other"], codes(7, 7))[1].duplicate_of == id
        entry = index.get(id)
        assert entry is not None and entry.id == id
        assert index.seen_prints([id], codes(7))[0].new
        assert index.get("other").keeper == id
        assert index.remove(id) == 1
        assert index.get(id) is None
        assert index.verify().problems == ()


@pytest.mark.parametrize("id", ["", "x" * 8193, "x" * 2**20, "\ud800", 7])
def test_ids_that_are_refused(address: Callable[..., str], id: str) -> None:
    with nd.Index(address(), **CODES) as index:
        with pytest.raises(nd.DataError, match="id"):
            index.seen_prints([id], codes(7))
        assert len(index) == 0


def test_time_to_live(address: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    with nd.Index(address(), **CODES) as index:
        index.seen_prints(["old"], codes(1), ttl=100)
        assert index.seen_prints(["follower"], codes(3))[0].duplicate_of == "old"
        assert index.get("old").expires == pytest.approx(now + 100, abs=0.001)
        now += 101
        assert [hit.id for hit in index.search_prints(codes(1))[0]] == ["follower"]
        assert index.get("old") is None
        # The follower became the keeper before the next document was looked at.
        assert index.seen_prints(["late"], codes(2))[0].duplicate_of == "follower"
        assert len(index) == 2
        assert index.cluster("late").keeper == "follower"
        assert index.expire() == 0
        assert index.verify().problems == ()


def test_a_document_is_added_while_its_second_is_swept(
    address: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker adds to a second that is over, after its rows were read and before its list is deleted."""
    where = address()
    with nd.Index(where, **CODES) as one, nd.Index(where, **CODES) as two:
        over = int(1000 * time.time()) - 5000
        times = over - 1000, over
        one._store.writer.put_at(["old"], one._store.matcher.of_prints(codes(1)), [None], [times])
        dropped, late = one._store.writer.drop, [["late"], ["later"]]

        def drop(rows: list[int], ticket: int | None = None) -> int:
            for ids in late:
                two._store.writer.put_at(ids, two._store.matcher.of_prints(codes(2**40)), [None], [times])
            late.clear()
            return dropped(rows, ticket)

        monkeypatch.setattr(one._store.writer, "drop", drop)
        assert one.expire() == 0  # the other worker has removed it, when it added the next
        one.expire()
        assert len(one) == 0
        layout = one._store._tables.layout
        assert one._store._connection.one(layout.expiring, "ZCARD", layout.expiring) == 0
        assert one.verify().problems == ()


def test_many_seconds_are_swept_together(
    address: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.index.redis.writes.SECONDS_AT_ONCE", 7)
    with nd.Index(address(), **CODES) as index:
        now = int(1000 * time.time())
        numbers = range(40)
        items = index._store.matcher.of_prints(codes(*[number << 20 for number in numbers]))
        times = [(now - 90_000, now - 80_000 + 1000 * number) for number in numbers]
        index._store.writer.put_at([f"p{number}" for number in numbers], items, [None] * 40, times)
        index.seen_prints(["alive"], codes(2**50))
        assert [entry.id for entry in index.documents()] == ["alive"]
        layout = index._store._tables.layout
        assert index._store._connection.one(layout.expiring, "ZCARD", layout.expiring) == 0
        assert list(index._store._connection.scan(f"{{{layout.name}:*}}x:*")) == []
        assert index.verify().problems == ()


def test_forget(address: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    with nd.Index(address(), **CODES) as index:
        index.seen_prints(["a"], codes(1))
        now += 1
        index.seen_prints(["b"], codes(1))
        assert index.forget(now) == 1
        assert index.get("b").keeper == "b"
        assert len(index) == 1


def test_memory_of_a_document(redis_server: str, tmp_path: Path) -> None:
    """Radius 3, ids of 30 bytes: everything a document takes is well under 400 bytes."""
    count = 20_000
    apart = Server(redis_server, tmp_path / "apart").start()
    try:
        with nd.Index(f"{apart.url}?name=m&expected={count}", **CODES) as index:
            before = apart.client().info("memory")["used_memory"]
            prints = near_codes(3, count)
            index.add_prints([f"https://example.org/{row:010d}" for row in range(count)], prints)
            used = apart.client().info("memory")["used_memory"] - before
            assert index.stats().documents == count
        assert used / count < 400, f"{used / count:.0f} bytes"
    finally:
        apart.kill()


def step_by_step(index: nd.Index) -> None:
    """Write single documents as batches are written, with a round trip for each step."""
    index._store.writer._single.possible = False


def halfway(index: nd.Index, id: str, word: int, when: str) -> None:
    """Add a document as a worker would that dies at some point."""
    step_by_step(index)
    resolver = index._store.writer._resolver

    class Dead(BaseException):
        pass

    def dies(*_: object, **__: object) -> None:
        raise Dead

    places = {
        "written": (index._store._documents, "claimed"),
        "claimed": (resolver, "resolve"),
        "read": (resolver, "_commit"),
        "committed": (index._store.writer, "_count"),
    }
    target, method = places[when]
    setattr(target, method, dies)
    if when == "written":
        claims = index._store._documents.claims
        index._store._documents.claims = lambda *given: claims(*given)._replace(commands=[])
    with pytest.raises(Dead):
        index.seen_prints([id], codes(word))
    delattr(target, method)
    if when == "written":
        del index._store._documents.claims


@pytest.mark.parametrize("when", ["written", "claimed", "read"])
def test_a_worker_that_died_holds_up_nobody_for_long(address: Callable[..., str], when: str) -> None:
    where = address(patience=0.2)
    with nd.Index(where, **CODES) as dying, nd.Index(where) as other:
        halfway(dying, "a", 7, when)
        assert len(other) == 0
        assert other.get("a") is None
        assert other.search_prints(codes(7)) == [[]]
        assert other._store.writer._resolver._patience == 0.2
        assert other.seen_prints(["b"], codes(7))[0].new  # no answer said that a is new
        # Sent again under its id it never matches what it left behind.
        assert other.seen_prints(["a"], codes(7))[0].duplicate_of == "b"
        assert len(other) == 2
        other.compact()
        assert other.verify().problems == ()
        assert len(other) == 2


def test_a_document_that_was_committed_but_never_acknowledged(address: Callable[..., str]) -> None:
    where = address(patience=0.2)
    with nd.Index(where, **CODES) as dying, nd.Index(where) as other:
        halfway(dying, "a", 7, "committed")
        assert other.seen_prints(["b"], codes(7))[0].duplicate_of == "a"
        assert other.seen_prints(["a"], codes(7))[0].new or other.get("a").keeper == "b"
        other.compact()
        assert len(other) == 2
        assert other.verify().problems == ()


def test_an_update_that_died_leaves_no_second_version(address: Callable[..., str]) -> None:
    where = address(patience=0.2)
    with nd.Index(where, **CODES) as dying, nd.Index(where) as other:
        other.seen_prints(["a"], codes(7))
        halfway(dying, "a", 6, "claimed")
        answer = other.seen_prints(["a"], codes(5))[0]
        assert answer.new
        assert [hit.id for hit in other.search_prints(codes(7))[0]] == ["a"]
        other.compact()
        assert other.verify().problems == ()
        assert len(other) == 1


def test_an_earlier_ticket_is_waited_for(address: Callable[..., str]) -> None:
    """A page that another worker is adding, with an earlier ticket, decides what this one is."""
    import threading

    where = address(patience=10)
    with nd.Index(where, **CODES) as first, nd.Index(where) as second:
        resolver = first._store.writer._resolver
        real, reached, go = resolver._commit, threading.Event(), threading.Event()

        def held(*given: object) -> object:
            reached.set()
            assert go.wait(120)
            return real(*given)

        resolver._commit = held
        answers: dict[str, nd.index.Seen] = {}

        def add(index: nd.Index, id: str) -> None:
            answers[id] = index.seen_prints([id], codes(7))[0]

        one = threading.Thread(target=add, args=(first, "one"))
        two = threading.Thread(target=add, args=(second, "two"))
        one.start()
        assert reached.wait(120)
        two.start()
        two.join(0.3)
        assert two.is_alive()
        go.set()
        one.join(120)
        two.join(120)
        assert answers["one"].new
        assert answers["two"].duplicate_of == "one"


def test_a_later_ticket_has_to_look_again(address: Callable[..., str]) -> None:
    """One that was about to say "new" is stopped by a page that took its ticket before and came to write after."""
    where = address(patience=10)
    with nd.Index(where, **CODES) as late, nd.Index(where) as quick:
        step_by_step(late)
        real = late._store.writer._numbers
        answers = {}

        def between(count: int, now: int) -> object:
            numbers = real(count, now)
            resolver = quick._store.writer._resolver
            commit = resolver._commit

            def overtaken(*given: object) -> object:
                resolver._commit = commit
                late._store.writer._numbers = real
                # The earlier ticket writes and settles while the later one is about to commit.
                answers["early"] = resume()
                return commit(*given)

            resolver._commit = overtaken
            answers["quick"] = quick.seen_prints(["quick"], codes(7))[0]
            return numbers

        def resume() -> object:
            with nd.Index(where) as third:
                step_by_step(third)
                third._store.writer._numbers = lambda count, now: (np.array([900]), 0)
                return third.seen_prints(["early"], codes(7))[0]

        late._store.writer._numbers = between
        answers["late"] = late.seen_prints(["late"], codes(7))[0]
        assert answers["early"].new
        assert answers["quick"].duplicate_of == "early"
        assert answers["late"].duplicate_of == "early"


def test_many_workers_and_one_id(address: Callable[..., str]) -> None:
    """The last writer has the id; no version is left beside it."""
    import threading

    where, errors = address(patience=0.5), []
    far = [0xF0F0F0F0F0F0F0F0, 0x0F0F0F0F0F0F0F00, 0xFF00FF00FF00FF00, 0x00FF00FF00FFFF00]

    def work(worker: int) -> None:
        try:
            with nd.Index(where, **CODES) as index:
                for turn in range(12):
                    index.seen_prints(["same", f"own {worker}"], codes(7, far[worker] ^ turn))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    with nd.Index(where) as index:
        assert sorted(entry.id for entry in index.documents()) == ["own 0", "own 1", "own 2", "own 3", "same"]
        assert index.get("same").keeper == "same"
        assert [hit.id for hit in index.search_prints(codes(7))[0]].count("same") == 1
        assert index.verify().problems == ()


def test_a_page_copied_many_times(address: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies are not in the way of `seen`, and their list is bounded: what is left out is counted."""
    monkeypatch.setattr("neardup.index.redis.tables.MOST_FOLLOWERS", 16 * 100)
    with nd.Index(address(), **CODES) as index:
        answers = index.seen_prints([f"p{row}" for row in range(300)], codes(*[7] * 300))
        assert answers.new.sum() == 1
        answers = index.seen_prints([f"q{row}" for row in range(300)], codes(*[7] * 300))
        assert not answers.new.any()
        assert index.stats().unlisted > 0
        assert len(index) == 600
        assert 100 <= len(index.search_prints(codes(7))[0]) < 600


def test_foreign_and_damaged_values(server: Server, address: Callable[..., str]) -> None:
    where = address()
    client = server.client()
    name = name_of(where)
    with nd.Index(where, **CODES) as index:
        index.seen_prints(["a", "b"], codes(7, 2**40))
        bucket = sorted(client.keys(f"{{{name}.*:*}}k:*"))[0]
        whole = client.get(bucket)
        client.append(bucket, b"xyz")
        with pytest.raises(nd.errors.FormatError, match="16 bytes"):
            index.search_prints(codes(7, 2**40))
        client.set(bucket, whole)
        record = client.keys(f"{{{name}.*:*}}d:*")[0]
        saved = client.hgetall(record)
        client.hset(record, "0", b"nonsense of some length")
        with pytest.raises(nd.errors.FormatError, match="record"):
            index.search_prints(codes(7))
        client.hset(record, mapping=saved)
        client.delete(record)
        client.set(record, b"a string")
        with pytest.raises(nd.errors.FormatError, match="another kind"):
            index.get("a")
    client.set(f"{{{name}}}recipe", b"[]")
    with pytest.raises(nd.errors.FormatError, match="settings"):
        nd.Index(where)
    newer = {"kind": "neardup shared index", "version": 2, "expected": 1, "settings": {}}
    client.set(f"{{{name}}}recipe", json.dumps(newer))
    with pytest.raises(nd.errors.FormatError, match="version 2"):
        nd.Index(where)


def test_an_update_that_read_a_damaged_bucket_leaves_the_older_version(
    server: Server, address: Callable[..., str]
) -> None:
    where = address(patience=0.1)
    client = server.client()
    with nd.Index(where, **CODES) as index:
        index.seen_prints(["a"], codes(7))
        bucket = sorted(client.keys(f"{{{name_of(where)}.*:*}}k:*"))[0]
        whole = client.get(bucket)
        client.append(bucket, b"xyz")
        with pytest.raises(nd.errors.FormatError, match="16 bytes"):
            index.seen_prints(["a"], codes(6))
        client.set(bucket, whole)
        found = index.get("a")
        assert found is not None
        assert found.row == 0
        assert index.seen_prints(["b"], codes(7))[0].duplicate_of == "a"


def test_counts_and_times_that_cannot_be(server: Server, address: Callable[..., str]) -> None:
    where = address()
    client = server.client()
    with nd.Index(where, **CODES) as index:
        meta = f"{{{keys_name(index)}}}"
        index.seen_prints(["a"], codes(7))
        for name, saved in (("rows", 1), ("tickets", 1)):
            for wrong in (-5, 2**48, 2**62):
                client.hset(meta, name, wrong)
                with pytest.raises(nd.errors.FormatError, match="rows and tickets"):
                    index.seen_prints(["b"], codes(2**60))
            client.hset(meta, name, saved)
        client.zadd(f"{meta}x", {"soon": 1})
        with pytest.raises(nd.errors.FormatError, match=r"seconds.*soon"):
            index.seen_prints(["b"], codes(2**60))
        client.delete(f"{meta}x")
        assert index.seen_prints(["b"], codes(2**60))[0].new
        assert index.get("b") is not None


@pytest.mark.parametrize("stored", ["text", "none"])
def test_damaged_contents_and_metas(server: Server, address: Callable[..., str], stored: str) -> None:
    where = address(patience=0.1)
    client = server.client()
    name, text = (
        name_of(where),
        "the ferry leaves the north pier at eight and returns at noon every day of the year",
    )
    with nd.Index(where, store=stored, seed=1) as index:  # type: ignore[arg-type]
        index.seen(text, id="a", meta={"language": "en"})
        contents, record = client.keys(f"{{{name}.*:*}}c:*")[0], client.keys(f"{{{name}.*:*}}d:*")[0]
        whole, saved = client.hget(contents, "0"), client.hget(record, "0")
        for damaged in (b"", whole[:5], whole[:8], *([whole[:-4], whole + b"1234"] * (stored == "none"))):
            client.hset(contents, "0", damaged)
            for ask in (lambda: index.search(text), lambda: index.seen(text, id="b"), index.verify):
                with pytest.raises(nd.errors.FormatError, match=f"'a', got {len(damaged)} bytes"):
                    ask()
        client.hset(contents, "0", whole)
        meta = saved.index(b'{"')  # the bytes before it are random: a brace alone may be one of them
        for damaged in (saved[:-2], saved[:meta] + b"[1]", saved[:meta], saved[:meta] + b"[" * 100_000):
            client.hset(record, "0", damaged)
            with pytest.raises(nd.errors.FormatError, match="meta of 'a'"):
                index.get("a")
        for cut in (8, 12, 14, 15, 16):
            client.hset(record, "0", saved[:cut])
            with pytest.raises(nd.errors.FormatError, match="record"):
                index.get("a")


@pytest.mark.parametrize("cut", range(8, 40, 5))
def test_a_record_cut_short_is_refused(cut: int) -> None:
    whole = Record(VOID, 5, 10, 20, 3, 0.5, "an id", b"12345678", None).to_bytes()
    assert Record.from_bytes(whole, 8, "x").pending(9) == Record(
        PENDING, 9, 10, 20, None, None, "an id", b"12345678", None
    )
    if cut < len(whole):
        with pytest.raises(nd.errors.FormatError):
            Record.from_bytes(whole[:cut], 8, "x")


def test_entries_that_a_failover_lost_are_put_back(server: Server, address: Callable[..., str]) -> None:
    where = address(patience=0.1)
    client = server.client()
    with nd.Index(where, **CODES) as index:
        prints = near_codes(4, 300)
        index.add_prints([f"p{row}" for row in range(300)], prints)
        before = index.search_prints(prints)
        for key in sorted(client.keys(f"{{{name_of(where)}.*:*}}[kf]:*"))[::3]:
            client.delete(key)
        assert "missing" in " ".join(index.verify().problems)
        index.compact()
        assert index.verify().problems == ()
        assert index.search_prints(prints) == before


def test_rows_that_a_failover_gives_out_again(server: Server, address: Callable[..., str]) -> None:
    """The counter's node lost its last steps; others have kept what was written under these rows."""
    where = address(patience=0.1)
    client = server.client()
    pages = [0x1234567 * 31**page for page in range(7)]
    with nd.Index(where, **CODES) as one, nd.Index(where) as two:
        meta = f"{{{keys_name(one)}}}"
        for page in range(4):
            assert one.seen_prints([f"p{page}"], codes(pages[page]))[0].new
        assert one.seen_prints(["copy"], codes(pages[0]))[0].duplicate_of == "p0"
        client.hincrby(meta, "rows", -2)
        client.hincrby(meta, "tickets", -2)
        assert two.seen_prints(["p4"], codes(pages[4]))[0].new
        client.hdel(meta, "rows", "tickets")
        assert two.seen_prints(["p5", "p2"], codes(*pages[5:7])).new.all()
        for page in (0, 1, 3, 4, 5):
            found = one.get(f"p{page}")
            assert found is not None
            assert found.fingerprint == pages[page].to_bytes(8, "little")
            assert one.seen_prints([f"q{page}"], codes(pages[page]))[0].duplicate_of == f"p{page}"
        assert one.seen_prints(["q2"], codes(pages[2]))[0].new  # what p2 was
        assert one.seen_prints(["q6"], codes(pages[6]))[0].duplicate_of == "p2"
        one.compact()
        assert one.verify().problems == ()
        assert len(one) == 14


def test_contents_of_rows_that_a_failover_gives_out_again(
    server: Server, address: Callable[..., str]
) -> None:
    where = address(patience=0.1)
    client = server.client()
    texts = [" ".join(f"{word}{page}" for word in FERRY.split()) for page in range(5)]
    with nd.Index(where, seed=1) as one, nd.Index(where) as two:
        meta = f"{{{keys_name(one)}}}"
        for page in range(3):
            assert one.seen(texts[page], id=f"p{page}").new
        client.hincrby(meta, "rows", -2)
        for page in (3, 4):
            assert two.seen(texts[page], id=f"p{page}").new
            assert two.get(f"p{page}").text == texts[page]  # type: ignore[union-attr]
        for page in range(5):
            near = [hit.id for hit in one.search(texts[page])]
            assert near == [f"p{page}"] or (not near and page in (1, 2))  # half lost, and nothing else
        one.compact()
        one.compact()  # whose entries are known only when the halves are gone
        assert one.verify().problems == ()


def test_export_and_import(address: Callable[..., str], tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    texts = [FERRY, FERRY + " dogs", "something else entirely here", ""]
    with nd.Index(address(), nd.Config.of("minhash", threshold=0.7)) as one:
        one.seen([nd.Document(f"d{row}", text, {"n": row}) for row, text in enumerate(texts)], ttl=1000)
        one.remove("d0")
        assert one.export(tmp_path / "all.parquet") == 3
        expected = list(one.documents())
    again = address()
    from neardup.index.rebuild import import_index

    assert import_index(again, str(tmp_path / "all.parquet")) == 3
    assert import_index(tmp_path / "local", str(tmp_path / "all.parquet")) == 3
    with nd.Index(again) as two, nd.Index(tmp_path / "local") as local:
        assert [e._replace(row=0) for e in two.documents()] == [e._replace(row=0) for e in expected]
        assert list(two.documents()) == list(local.documents())
        assert two.seen(FERRY, id="new").duplicate_of == "d1"
        assert two.verify().problems == ()
    with pytest.raises(nd.DataError, match="new index"):
        import_index(again, str(tmp_path / "all.parquet"))


def test_logs_of_two_workers_make_the_index_again(address: Callable[..., str], tmp_path: Path) -> None:
    where, logs = address(), [tmp_path / "one.log", tmp_path / "two.log"]
    prints = near_codes(6, 60)
    rng = np.random.default_rng(0)
    with (
        nd.Index(f"{where}&log={logs[0]}&sync=1", **CODES) as one,
        nd.Index(f"{where}&log={logs[1]}") as two,
    ):
        for row in range(60):
            part = nd.fingerprints.Codes(
                "bare64", prints.empty[row : row + 1], 64, prints.codes[row : row + 1]
            )
            worker = (one, two)[row % 2]
            worker.seen_prints([f"p{rng.integers(40)}"], part)
            if row % 9 == 8:
                worker.remove([f"p{rng.integers(40)}"])
        expected = [(e.id, e.keeper, e.added, e.fingerprint) for e in one.documents()]
    with open(logs[0], "ab") as file:
        file.write(b'0123abcd {"op": "put", "row": 70, "id": "cut')
    again = address()
    from neardup.index.redis.replay import replay

    assert replay(again, [str(log) for log in logs]) > 60
    with nd.Index(again) as index:
        assert [(e.id, e.keeper, e.added, e.fingerprint) for e in index.documents()] == expected
    # The log continues after a line that was cut off; a line damaged in the middle is an error.
    with nd.Index(f"{again}&log={logs[0]}") as index:
        index.seen_prints(["last"], codes(3))
    lines = logs[0].read_bytes().split(b"\n")
    assert replay(address(), [str(log) for log in logs]) > 61
    lines[3] = lines[3].replace(b'"row"', b'"low"')
    logs[0].write_bytes(b"\n".join(lines))
    with pytest.raises(nd.errors.FormatError, match="checksum"):
        replay(address(), [str(log) for log in logs])
    other = address()
    nd.Index(other, **CODES).close()  # it has a secret seed of its own
    with pytest.raises(nd.ConfigError, match="another index"):
        replay(other, [str(logs[1])])


@pytest.mark.process
def test_the_service(address: Callable[..., str]) -> None:
    pytest.importorskip("granian")
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    def post(url: str, id: str) -> dict[str, object]:
        body = json.dumps({"id": id, "text": FERRY}).encode()
        with urlopen(Request(url, body, {"Content-Type": "application/json"}), timeout=300) as reply:
            return json.load(reply)

    command = [sys.executable, "-m", "neardup", "serve", address(timeout=1), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            assert post(f"{url}/v1/seen", "a")["new"]
            assert post(f"{url}/v1/seen", "b")["duplicate_of"] == "a"
            with urlopen(f"{url}/v1/stats", timeout=300) as reply:
                assert json.load(reply)["documents"] == 2
            with pytest.raises(HTTPError):
                urlopen(f"{url}/v1/documents/c", timeout=300)
        finally:
            process.terminate()


def test_the_command(address: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def neardup(*words: str) -> str:
        main(words)
        return capsys.readouterr().out

    where, pages = address(), tmp_path / "pages.jsonl"
    pages.write_text("".join(json.dumps({"id": i, "text": FERRY}) + "\n" for i in "ab"))
    reported = neardup("index", "seen", where, str(pages))
    assert reported.splitlines() == ["new        a", "duplicate  b  of a  similarity 1.000, distance 0"]
    assert "1 of 1 removed" in neardup("index", "remove", where, "a")
    assert json.loads(neardup("index", "stats", where, "--json"))["documents"] == 1
    export = tmp_path / "all.jsonl"
    assert "1 document written" in neardup("index", "export", where, str(export))
    assert "1 change put" in neardup("index", "replay", address(), str(export))
    with pytest.raises(SystemExit) as wrong:
        main(["index", "get", "redis://127.0.0.1:1/0?timeout=0.1", "a"])
    assert wrong.value.code == 1
    assert "no answer" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["index", "create", where])
    assert "already" in capsys.readouterr().err
