"""Servers for the tests of this folder."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from reference.redis import Cluster, Server, running_cluster

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that do not harm it."""
    made = Server(redis_server, tmp_path_factory.mktemp("redis")).start()
    yield made
    made.kill()


@pytest.fixture(scope="session")
def cluster(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three masters with a replica each, for tests that do not harm it."""
    with running_cluster(redis_server, tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
def address(server: Server) -> Callable[..., str]:
    """Addresses of new indexes on the server."""

    def made(**options: object) -> str:
        return named(server.url, **options)

    return made


def named(url: str, **options: object) -> str:
    """The address of an index that nobody else uses."""
    said = "".join(f"&{name}={value}" for name, value in options.items())
    return f"{url}?name=test{next(_numbers)}{said}"
