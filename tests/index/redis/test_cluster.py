"""A real cluster of three masters and three replicas: equal answers, slots that move, and a master that dies."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from reference.redis import Cluster
from support.redis_workers import CONFIG, check_pages, run_workers

import neardup as nd
from neardup.index.redis import SharedIndexError

from .conftest import named
from .test_equal import KINDS, history

WORKERS = 8
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["codes", "minhash"])
def test_equal_to_a_local_index(kind: str, cluster: Cluster, tmp_path: Path) -> None:
    where = named(cluster.url, expected=1000)
    with (
        nd.Index(tmp_path / "i", seed=7, **KINDS[kind]) as local,
        nd.Index(where, seed=7, **KINDS[kind]) as shared,
    ):
        history(local, shared, kind, 11)
        assert shared.verify().problems == ()


def test_a_node_is_not_a_server_of_its_own(cluster: Cluster) -> None:
    with pytest.raises(SharedIndexError, match=r"redis\+cluster://"):
        for number in range(10):  # some name belongs to another node
            nd.Index(f"redis://127.0.0.1:{cluster.nodes[0].port}/0?name=n{number}", CONFIG, scheme="bare64")


@pytest.mark.process
def test_eight_workers(cluster: Cluster) -> None:
    address = named(cluster.url, expected=10_000)
    check_pages(run_workers(address, WORKERS, 60, 30), WORKERS, 60)
    with nd.Index(address, mode="read") as index:
        assert len(index) == 60 * WORKERS
        assert index.verify().problems == ()


class Load:
    """Two workers that add pages without a pause, each page once by both; after an error they send the batch again."""

    def __init__(self, address: str) -> None:
        self.address, self.stop = address, threading.Event()
        self.answers: list[tuple[str, bool, str | None]] = []
        self.errors: list[Exception] = []
        self.done = [0, 0]
        self._threads = [threading.Thread(target=self._run, args=(worker,)) for worker in range(2)]
        for thread in self._threads:
            thread.start()

    def _run(self, worker: int) -> None:
        with nd.Index(self.address, CONFIG, scheme="bare64") as index:
            for batch in itertools.count():
                if self.stop.is_set() and batch >= max(self.done):
                    return  # both have added the same pages
                rng = np.random.default_rng(batch)
                words = rng.integers(0, 2**64, (10, 1), dtype=np.uint64) ^ np.uint64(1 << worker)
                prints = nd.fingerprints.Codes("bare64", np.zeros(10, bool), 64, words)
                ids = [f"{batch}-{at}/{worker}" for at in range(10)]
                while True:
                    try:
                        found = index.seen_prints(ids, prints)
                        break
                    except Exception as error:
                        self.errors.append(error)
                        if not isinstance(error, SharedIndexError):
                            return
                self.answers += [(a.id, a.new, a.duplicate_of) for a in found]
                self.done[worker] = batch + 1

    def wait_for(self, batches: int) -> None:
        goal, deadline = min(self.done) + batches, time.monotonic() + 300
        while min(self.done) < goal:
            assert time.monotonic() < deadline, f"stuck at {self.done}: {self.errors[-3:]}"
            time.sleep(0.02)

    def finish(self) -> int:
        self.stop.set()
        for thread in self._threads:
            thread.join(300)
            assert not thread.is_alive()
        assert all(isinstance(error, SharedIndexError) for error in self.errors), self.errors
        assert self.done[0] == self.done[1]
        return self.done[0] * 10


@pytest.mark.process
def test_slots_move_under_load(cluster: Cluster) -> None:
    address = named(cluster.url, expected=10_000)
    load = Load(address)
    load.wait_for(3)
    (one, server), (two, _), *_ = cluster.masters().items()
    for source, target in ((one, two), (two, one)):
        cluster.cli(
            "reshard", f"127.0.0.1:{server.port}", "--cluster-from", source, "--cluster-to", target,
            "--cluster-slots", "1500", "--cluster-yes",
        )  # fmt: skip
    load.wait_for(3)
    pages = load.finish()
    check_pages(load.answers, 2, pages)
    with nd.Index(address, mode="read") as index:
        assert len(index) == 2 * pages
        assert index.verify().problems == ()


@pytest.mark.process
def test_a_master_dies_under_load(cluster: Cluster) -> None:
    """With replicas=1 nothing that was acknowledged is lost when the replica takes over."""
    address = named(cluster.url, expected=10_000, replicas=1, timeout=20, patience=1)
    load = Load(address)
    load.wait_for(3)
    victim = list(cluster.masters().values())[1]
    victim.kill()
    # It comes back as a replica of the one that took its place, which can then be waited for.
    deadline = time.monotonic() + 300
    while len(cluster.masters()) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    victim.start()
    cluster.wait()
    load.wait_for(3)
    pages = load.finish()
    check_again(load.answers, pages)
    with nd.Index(address) as index:
        index.compact()
        assert index.verify().problems == ()
        assert len(index) == 2 * pages


def check_again(answers: list[tuple[str, bool, str | None]], pages: int) -> None:
    """No page was called new twice, and no answer names another page."""
    first: dict[str, str] = {}
    for id, new, _ in answers:
        page = id.split("/")[0]
        if new:
            assert page not in first, f"{first[page]} and {id} were both told that they are new"
            first[page] = id
    assert all(new or keeper.split("/")[0] == id.split("/")[0] for id, new, keeper in answers)
    # A batch that was sent again may be complete already, and then gets the other worker's answer.
    assert len(answers) == 2 * pages


@pytest.mark.process
def test_without_a_majority_there_is_an_error(cluster: Cluster) -> None:
    """A master and its replica gone: keys without a server, and every call says so."""
    address = named(cluster.url, expected=100, timeout=2)
    with nd.Index(address, CONFIG, scheme="bare64") as index:
        prints = nd.fingerprints.Codes(
            "bare64", np.zeros(50, bool), 64, np.arange(50, dtype=np.uint64).reshape(-1, 1) << 32
        )
        index.seen_prints([f"p{row}" for row in range(50)], prints)
        down = cluster.nodes[1:]
        for node in down:
            node.process.send_signal(19)
        try:
            with pytest.raises(SharedIndexError, match=r"answer|cluster"):
                index.seen_prints([f"q{row}" for row in range(50)], prints)
        finally:
            for node in down:
                node.process.send_signal(18)
        cluster.wait()
        assert all(not answer.new for answer in index.seen_prints([f"q{row}" for row in range(50)], prints))
