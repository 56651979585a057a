"""Edit similarity and identity verify the hits of a service as those of its index."""

from __future__ import annotations

import httpx
import pytest
from support.serving import served

import neardup as nd
from neardup.compare import Edit, Identity

STORY = "the ferry to the island leaves the harbour at nine and comes back at noon on every day of the summer"
NEAR, FAR = STORY.replace("nine", "eight"), "a text of other words"


@pytest.mark.parametrize("verify", [Edit(0.8, 0.5), Identity(0.8, 0.5)], ids=["edit", "identity"])
def test_hits_are_those_of_the_index(tmp_path, verify):
    config = nd.Config(features=nd.Shingles(2), verify=verify, protect=())
    nd.Index(tmp_path / "live", config).close()
    expected = pytest.approx(verify.of_texts(nd.Shingles(2), STORY, NEAR))
    with (
        served(tmp_path / "live") as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=300) as client,
    ):
        assert client.post("/v1/seen", json={"id": "a", "text": STORY}).json()["new"]
        (hit,) = client.post("/v1/search", json={"text": NEAR}).json()["hits"]
        assert (hit["id"], hit["similarity"]) == ("a", expected)
        assert client.post("/v1/search", json={"text": FAR}).json()["hits"] == []
        assert not client.post("/v1/seen", json={"id": "b", "text": NEAR}).json()["new"]
