"""A real cluster, for tests that kill parts of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from support.spark_cluster import Cluster, session_of, standalone


@pytest.fixture(scope="session")
def running_cluster(java: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        family = [pid for daemon in (running.master, *running.workers) for pid in daemon.family()]
        yield running
        family += [pid for daemon in (running.master, *running.workers) for pid in daemon.family()]
    assert all(session_of(pid) == -1 for pid in family), "no process outlives it"


@pytest.fixture
def cluster(running_cluster: Cluster) -> Cluster:
    """A master and two workers, started again if the test before has killed one."""
    running_cluster.restore()
    return running_cluster
