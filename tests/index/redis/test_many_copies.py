"""A page that was copied very often: scripts remain short, and copies are removed and replaced like any others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from reference.redis import Server

import neardup as nd

PAGE = " ".join(f"word{number}" for number in range(100))


def changed(number: int) -> nd.Document:
    return nd.Document(f"page {number}", " ".join(f"other{number}x{at}" for at in range(30)))


def test_copies_change_and_are_removed(address: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With buckets that are full, scripts that may change only few bytes, and the keeper among what changes."""
    monkeypatch.setattr("neardup.index.redis.tables.MOST_FOLLOWERS", 16 * 900)
    monkeypatch.setattr("neardup.index.redis.tables.BYTES_A_SCRIPT", 4096)
    with nd.Index(address()) as index:
        for start in range(0, 2000, 500):
            index.seen([nd.Document(f"page {number}", PAGE) for number in range(start, start + 500)])
        assert index.stats().unlisted > 0
        assert index.stats().keepers == 1
        index.seen([changed(number) for number in range(400, 600)])
        assert index.stats().keepers == 201
        assert index.remove([f"page {number}" for number in range(700, 1400)]) == 700
        index.seen(changed(0))
        assert len(index) == 1300
        index.compact()
        assert index.verify().problems == ()
        keepers = {entry.keeper for entry in index.documents() if entry.text == PAGE}
        assert len(keepers) == 1
        assert keepers.isdisjoint({"page 0"})


def waited(process: int) -> float:
    """Milliseconds for which a process could have run, and the machine had no processor for it."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e6


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(),
    reason="only Linux says how long a process waited (run it on Linux)",
)
def test_no_command_is_slow(server: Server, address: Callable[..., str]) -> None:
    """The slow log of the server is empty: no command takes 5 ms of it, but for what the machine took from it."""
    client = server.client()
    client.config_set("slowlog-log-slower-than", 5000)

    def check(call: Callable[[], object]) -> None:
        client.slowlog_reset()
        before = waited(client.info("server")["process_id"])
        call()
        spared = waited(client.info("server")["process_id"]) - before
        slow = [entry for entry in client.slowlog_get(100) if entry["duration"] / 1000 - spared > 5]
        assert not slow, slow

    try:
        with nd.Index(address()) as index:
            for start in range(0, 10_000, 1000):
                copies = [nd.Document(f"page {number}", PAGE) for number in range(start, start + 1000)]
                check(lambda copies=copies: index.seen(copies))
            check(lambda: index.seen([changed(number) for number in range(300, 700)]))
            check(lambda: index.seen(nd.Document("one more", PAGE)))
            check(lambda: index.remove([f"page {number}" for number in range(1000, 1500)]))
            check(lambda: index.search(PAGE, mode="first"))
            assert len(index) == 9501
    finally:
        client.config_set("slowlog-log-slower-than", 10_000)


def test_workers_remove_copies_of_one_page(address: Callable[..., str]) -> None:
    """Each of them finds that the others have changed the buckets meanwhile."""
    where = address()
    with nd.Index(where) as index:
        index.seen([nd.Document(f"page {number}", PAGE) for number in range(600)])
    failures: list[BaseException] = []

    def remove(worker: int) -> None:
        try:
            with nd.Index(where) as index:
                for start in range(1 + worker, 600, 40):
                    assert index.remove([f"page {at}" for at in range(start, min(start + 40, 600), 4)])
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=remove, args=(worker,)) for worker in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    with nd.Index(where) as index:
        assert [entry.id for entry in index.documents()] == ["page 0"]
        assert index.verify().problems == ()
        entries = np.concatenate([np.empty(0, np.int64), *_rows(index)])
        assert set(entries.tolist()) == {0}


def _rows(index: nd.Index) -> list[np.ndarray]:
    """The rows in all buckets."""
    tables = index._store._tables  # type: ignore[attr-defined]
    connection = tables._connection
    names = [
        name
        for kind in (b"k", b"f")
        for name in connection._client.keys(b"{%s:*}%s:*" % (tables.layout.name.encode(), kind))
    ]
    return tables.rows_in(names)
