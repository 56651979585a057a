"""Fingerprints that wait for the whole corpus are made part by part: parts change nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest

import neardup as nd
from neardup.pipeline import fit
from neardup.pipeline.fit import needs_corpus

TEMPLATES = nd.Templates(0.5, least=10)


def texts(seed: int) -> list[str]:
    """Random texts under one template, a third of them edited copies."""
    draw = random.Random(seed)
    made = [
        " ".join(f"w{draw.randrange(400)}" for _ in range(draw.randrange(40, 120))) + " printed by the press"
        for _ in range(60)
    ]
    return made + [f"{text} again" for text in made[:30]]


@pytest.mark.parametrize(
    "config",
    [
        nd.Config.of("simhash"),
        nd.Config.of("minhash", templates=TEMPLATES),
        nd.Config.of("simhash", templates=TEMPLATES),
    ],
    ids=["idf", "templates, keys", "templates, codes"],
)
def test_parts_change_nothing(config: nd.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    assert needs_corpus(config)
    documents = texts(1)
    whole = nd.dedup(documents, config)
    monkeypatch.setattr(fit, "_PART_BYTES", 700)  # a document or two
    parts = nd.dedup(documents, config)
    assert len(whole.pairs) > 20
    for name in ("left", "right", "similarity"):
        assert np.array_equal(getattr(whole.pairs, name), getattr(parts.pairs, name))
    assert parts.candidates == whole.candidates
