"""Two servers for all tests of the service: an index of texts, and one of ready fingerprints."""

import pytest

pytest.importorskip("granian", reason="the extra `service` is not installed")

from support.serving import served

import neardup as nd


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    """A server with an index that keeps texts."""
    with served(tmp_path_factory.mktemp("texts") / "index.nd") as server:
        yield server


@pytest.fixture(scope="session")
def codes(tmp_path_factory):
    """A server with an index of codes, and the key to make them with."""
    folder = tmp_path_factory.mktemp("codes")
    with nd.Index(folder / "index.nd", store="none", seed=1) as index:
        index.write_key(folder / "key")
    with served(folder / "index.nd") as server:
        server.key = folder / "key"
        yield server


@pytest.fixture
def http(texts):
    import httpx

    with httpx.Client(base_url=texts.url, trust_env=False, timeout=300) as client:
        yield client
