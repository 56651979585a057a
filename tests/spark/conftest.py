"""One small Spark in this process for the quick tests, and a real cluster for those that kill parts of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from benchmarks.spark.same import quick_session
from support.spark_cluster import Cluster, session_of, standalone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(java: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark on two threads of this process; there can be only one in it."""
    session = quick_session(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def running_cluster(java: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        family = [pid for daemon in (running.master, *running.workers) for pid in daemon.family()]
        yield running
        family += [pid for daemon in (running.master, *running.workers) for pid in daemon.family()]
    assert all(session_of(pid) == -1 for pid in family), "no process outlives it"


@pytest.fixture
def cluster(running_cluster: Cluster) -> Cluster:
    """A master and two workers, whole again after whatever the test before has killed."""
    running_cluster.restore()
    return running_cluster
