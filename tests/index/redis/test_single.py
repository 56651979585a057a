"""A single document: how many round trips it takes, and what happens when one of them is lost."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from reference.redis import Server

import neardup as nd
from neardup.errors import SharedIndexError
from neardup.index.redis.scripts import SWITCH

FERRY = "The ferry leaves the north pier at eight and returns at noon on every day of the summer but Sunday"
NETS = "The crew mend the nets on the quay in winter while the tide is out and the boats lie dry"
CODES = nd.Config(fingerprint=nd.Simhash(), search=nd.BPHS(radius=3, blocks=6))


class Trips:
    """Counts the round trips of an index, and may lose the replies to some of them."""

    def __init__(self, index: nd.Index) -> None:
        self._connection = index._store._connection
        self._asked = self._connection._asked
        self._connection._asked = self._count
        self.count, self.lost = 0, 0

    def _count(self, *given: Any) -> Any:
        self.count += 1
        replies = self._asked(*given)
        if self.lost:
            self.lost -= 1
            raise redis.ConnectionError("the reply was lost")
        return replies

    def of(self, call: Callable[[], Any]) -> tuple[Any, int]:
        self.count = 0
        return call(), self.count


@pytest.mark.parametrize("store", ["none", "text", "features"])
def test_round_trips(address: Callable[..., str], store: Any) -> None:
    with nd.Index(address(), store=store) as index:
        trips = Trips(index)
        near = FERRY.replace("Sunday", "Monday")
        for id, text, keeper in (("a", FERRY, None), ("b", FERRY, "a"), ("c", near, "a"), ("d", NETS, None)):
            answer, many = trips.of(lambda id=id, text=text: index.seen(text, id=id, meta={"of": id}))
            assert (answer.duplicate_of, many) == (keeper, 2), id
        answer, many = trips.of(lambda: index.seen("", id="empty", ttl=3600))
        assert answer.new and many == 2
        assert len(index) == 5 and index.verify().problems == ()
        assert [index.get(id).keeper for id in "abcd"] == ["a", "a", "a", "d"]


@pytest.mark.parametrize("store", ["none", "text"])
def test_a_keeper_is_removed_before_its_follower_is_sent_again(
    address: Callable[..., str], store: Any
) -> None:
    """The follower became a keeper meanwhile: the call that is sent again leaves it in the tables of keepers."""
    where = address(patience=1)
    near = FERRY.replace("Sunday", "Monday")
    with nd.Index(where, store=store) as index, nd.Index(where) as other:
        index.seen(FERRY, id="a")
        connection = index._store._connection
        asked = connection._asked

        def removed_meanwhile(client: Any, commands: Any) -> Any:
            replies = asked(client, commands)
            if any(words[:2] == ("EVAL", SWITCH) for words in commands if isinstance(words, tuple)):
                connection._asked = asked
                assert other.remove("a") == 1 and other.get("b").keeper == "b"
                raise redis.ConnectionError("the reply was lost")
            return replies

        connection._asked = removed_meanwhile
        assert index.seen(near, id="b").duplicate_of == "a"
        assert connection._asked == asked
        assert other.seen(near, id="c").duplicate_of == "b"
        assert [index.get(id).keeper for id in "bc"] == ["b", "b"]


def test_round_trips_if_only_the_client_can_compare(address: Callable[..., str]) -> None:
    """Codes within a distance: the server cannot say which of its entries are near."""
    with nd.Index(address(), CODES, store="none") as index:
        trips = Trips(index)
        for id, text, many in (("a", FERRY, 2), ("b", FERRY, 3), ("c", NETS, 2)):
            answer, taken = trips.of(lambda id=id, text=text: index.seen(text, id=id))
            assert (answer.new, taken) == (id != "b", many)
        assert index.verify().problems == ()


@pytest.mark.parametrize("before", [None, NETS, FERRY])
def test_a_reply_is_lost_and_the_call_sent_again(address: Callable[..., str], before: str | None) -> None:
    """The server does it once, and the older version of the document is removed all the same."""
    with nd.Index(address(), store="text") as index:
        if before is not None:
            index.seen(before, id="a")
        trips, rows = Trips(index), index.stats().rows
        trips.lost = 1
        assert index.seen(FERRY, id="a").new
        assert (len(index), index.stats().rows) == (1, rows + 1)
        assert index.get("a").text == FERRY
        trips.lost = 1
        assert index.seen(FERRY + ".", id="b").duplicate_of == "a"
        assert index.verify().problems == ()


@pytest.mark.parametrize("before", [None, NETS])
def test_no_reply_comes_at_all(
    address: Callable[..., str], monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """The call fails; it leaves nothing that others wait for, and the older version of the document."""
    where, late, clock = address(patience=0.5), 0.0, time.monotonic

    def lost_again(_: float) -> None:
        nonlocal late
        late += 1.0
        trips.lost = 1

    monkeypatch.setattr(time, "monotonic", lambda: clock() + late)
    with nd.Index(where, store="text") as index, nd.Index(where) as other:
        if before is not None:
            index.seen(before, id="a")
        trips = Trips(index)
        trips.lost = 1
        index._store._connection._sleeping = lost_again
        with pytest.raises(SharedIndexError, match="no answer"):
            index.seen(FERRY, id="a")
        trips.lost = 0
        index._store._connection._sleeping = lambda _: None
        found = other.get("a")
        assert (None if found is None else found.text) == before
        other._store.writer._resolver._sleeping = None  # nobody is waited for
        assert other.seen(FERRY, id="b").new
        assert len(other) == (1 if before is None else 2)
        other.compact()
        assert other.verify().problems == ()


def test_nothing_is_written_to_another_index(redis_server: str, tmp_path: Path) -> None:
    server = Server(redis_server, tmp_path).start()
    try:
        address = f"{server.url}?name=pages"
        with nd.Index(address) as old:
            old.seen(FERRY, id="a")
            server.client().flushall()
            with nd.Index(address):
                keys = set(server.client().keys())
                with pytest.raises(SharedIndexError, match="has another index under this name"):
                    old.seen(NETS, id="b")
                written = set(server.client().keys()) - keys
                assert not any(b":" in key for key in written), written  # no bucket, record, content or id
    finally:
        server.kill()


@pytest.mark.parametrize("store", ["none", "text"])
@pytest.mark.parametrize("config", [None, CODES], ids=["bands", "codes"])
def test_one_by_one_is_as_step_by_step(address: Callable[..., str], config: Any, store: Any) -> None:
    """The script and the steps of batches give the same answers and leave the same index."""
    rng = random.Random(5)
    words = [f"word{number}" for number in range(60)]
    texts = [" ".join(rng.choices(words, k=20)) for _ in range(8)] + [""]
    history = [(f"id{rng.randrange(25)}", rng.choice(texts), rng.random() < 0.2) for _ in range(120)]
    answers, left = [], []
    for steps in (False, True):
        with nd.Index(address(), config, store=store, seed=3) as index:
            index._store.writer._single.possible = not steps
            given = []
            for number, (id, text, again) in enumerate(history):
                text = text.replace("word1 ", f"other{number} ") if again else text
                given.append(tuple(index.seen(text, id=id))[:3])
            answers.append(given)
            left.append({entry.id: entry.keeper for entry in index.documents()})
            assert index.verify().problems == ()
    assert answers[0] == answers[1] and left[0] == left[1]


def test_workers_with_the_same_pages(address: Callable[..., str]) -> None:
    """Of the same page, sent by several workers at once, exactly one is new."""
    where, workers, pages = address(), 4, 25
    texts = [f"{FERRY} {number} {number * 7919} {number * 104729}" * 2 for number in range(pages)]
    texts = [" ".join(f"{word}{number}" for word in text.split()) for number, text in enumerate(texts)]
    new: list[list[bool]] = [[] for _ in range(workers)]
    begin = threading.Barrier(workers)

    def work(worker: int) -> None:
        with nd.Index(where) as index:
            for number, text in enumerate(texts):
                begin.wait(120)
                new[worker].append(index.seen(text, id=f"{worker}/{number}").new)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sum(news) for news in zip(*new, strict=True)] == [1] * pages
    with nd.Index(where) as index:
        assert len(index) == workers * pages
        assert index.stats().keepers == pages
        assert index.verify().problems == ()


def test_the_script_is_short(server: Server, address: Callable[..., str]) -> None:
    """Also if all documents share a bucket, and with long texts and meta: less than 5 ms of the server's own time."""
    with nd.Index(address(expected=1), store="text") as index:
        for start in range(0, 2000, 1000):
            index.seen(
                [
                    nd.Document(f"{number}", " ".join(f"w{number}x{at}" for at in range(12)))
                    for number in range(start, start + 1000)
                ]
            )
        client = server.client()
        spent = []
        for number in range(20):
            before = client.info("cpu")
            index.seen(f"{FERRY} " * 2000 + f"{number}", id=f"long{number}", meta={"much": "x" * 100_000})
            after = client.info("cpu")
            spent.append(
                sum(
                    after[name] - before[name]
                    for name in ("used_cpu_user_main_thread", "used_cpu_sys_main_thread")
                )
            )
        assert sorted(spent)[10] < 0.005  # all commands of the call, of which the script is one
