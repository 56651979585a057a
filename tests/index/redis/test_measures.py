"""Edit similarity and identity verify the hits of a shared index as those of a local one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import neardup as nd
from neardup.compare import Edit, Identity

STORY = "the ferry to the island leaves the harbour at nine and comes back at noon on every day of the summer"
NEAR, FAR = STORY.replace("nine", "eight"), "a text of other words"


@pytest.mark.parametrize("store", ["text", "features"])
@pytest.mark.parametrize(
    "verify",
    [Edit(0.8, 0.5), Edit(0.8, 0.5, unit="characters"), Identity(0.8, 0.5)],
    ids=["edit", "characters", "identity"],
)
def test_hits_are_those_of_a_local_index(
    address: Callable[..., str], verify: Edit | Identity, store: str
) -> None:
    config = nd.Config(features=nd.Shingles(2), verify=verify, protect=())
    with nd.Index(address(), config, store=store) as index:
        index.add(nd.Document("a", STORY))
        (hit,) = index.search(NEAR)
        assert hit.similarity == pytest.approx(verify.of_texts(nd.Shingles(2), STORY, NEAR))
        assert not index.search(FAR)
        assert not index.seen(nd.Document("b", NEAR)).new
