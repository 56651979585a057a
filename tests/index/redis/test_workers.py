"""Many workers, one index: of similar pages exactly one is new."""

from __future__ import annotations

import pytest
from reference.redis import Server
from support.redis_workers import check_pages, run_workers

import neardup as nd

from .conftest import named

PAGES, WORKERS = 60, 8


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("size", [1, 40])
def test_eight_workers_on_one_server(server: Server, size: int) -> None:
    address = named(server.url, expected=10_000)
    check_pages(run_workers(address, WORKERS, PAGES, size), WORKERS, PAGES)
    with nd.Index(address, mode="read") as index:
        assert len(index) == PAGES * WORKERS
        assert index.stats().keepers == PAGES
        assert index.verify().problems == ()
