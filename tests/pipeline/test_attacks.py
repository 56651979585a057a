"""An attacker who knows every public seed gains nothing: forged words are other words, and no shingle sticks."""

from __future__ import annotations

import io
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.attacks import FORGED, PAGE, forged_page, sticky_pages
from support.budgets import SOAK
from support.corpora import read_jsonl, write_jsonl
from support.forging import forged_word

import neardup as nd
from neardup import _core
from neardup.errors import ConfigError
from neardup.features.shingles import Characters, Sentences
from neardup.findings.apply import apply
from neardup.findings.explain import explain_pair
from neardup.findings.scan import scan
from neardup.fingerprints import DEFAULT_SEED
from neardup.pipeline.equal_words import same_words
from neardup.progress import Progress

WORDS = [f"word{number}" for number in range(400)]


def others(many: int = 30) -> list[str]:
    draw = random.Random(3)
    return [" ".join(draw.choices(WORDS, k=60)) for _ in range(many)]


def attacked(folder: Path) -> Path:
    """A corpus with a page, and gibberish that has its hashes under the public seed and is longer."""
    texts = [PAGE, *others(), forged_page()]
    rows = [{"id": f"{row}", "text": text} for row, text in enumerate(texts)]
    return Path(write_jsonl(folder / "in.jsonl", rows))


def test_the_forged_words_collide():
    assert len(FORGED) == len(set(PAGE.split()))
    for word, forged in FORGED.items():
        assert forged != word
        assert _core.hash_bytes(forged.encode(), DEFAULT_SEED) == _core.hash_bytes(
            word.encode(), DEFAULT_SEED
        )
    known = nd.Shingles(seed=DEFAULT_SEED).extract([PAGE, forged_page()])
    assert np.array_equal(*np.split(known.hashes, 2))


@pytest.mark.skipif(not SOAK, reason="takes half a minute (make soak)")
def test_a_word_is_forged_in_seconds_where_the_seed_is_known():
    assert len(forged_word("harbour", 77)) == 64


def test_forged_words_are_no_duplicate_in_a_scan(tmp_path):
    found = scan(attacked(tmp_path), tmp_path / "found")
    assert not len(found.pairs) and (found.first == np.arange(len(found))).all()
    assert apply(found, tmp_path / "kept.jsonl").written == len(found)
    assert read_jsonl(tmp_path / "kept.jsonl")[0]["text"] == PAGE
    assert explain_pair(found, "0", "31").similarity == 0.0


def test_forged_words_are_not_the_same_words_even_with_a_known_seed(tmp_path):
    """Then their features are equal, which is all that a similarity can see; but nobody calls them the same words."""
    found = scan(attacked(tmp_path), tmp_path / "found", nd.Config(seed=DEFAULT_SEED))
    assert (found.first == np.arange(len(found))).all() and len(found.pairs) == 1
    exact = scan(tmp_path / "in.jsonl", tmp_path / "exact", nd.Config(near=False, seed=DEFAULT_SEED))
    assert apply(exact, tmp_path / "kept.jsonl").written == len(exact)


@pytest.mark.parametrize("memory", [None, "64MB"])
def test_forged_words_are_no_duplicate_in_memory(memory):
    result = nd.dedup([PAGE, *others(), forged_page()], memory=memory)
    assert len(result.kept) == len(result.ids)
    exact = nd.dedup(
        [PAGE, PAGE.upper(), forged_page(), forged_page()], nd.Config(near=False, seed=DEFAULT_SEED)
    )
    assert len(exact.kept) == 2


@pytest.mark.parametrize("near", [True, False])
def test_forged_words_are_not_seen_in_an_index(tmp_path, near):
    with nd.Index(tmp_path / "i", nd.Config(near=near)) as index:
        index.add([nd.Document("page", PAGE)])
        assert not index.search(forged_page()) and index.search(PAGE.title())
    with nd.Index(tmp_path / "known", nd.Config(near=False, seed=DEFAULT_SEED)) as index:
        index.add([nd.Document("page", PAGE), nd.Document("forged", forged_page())])
        assert [hit.id for hit in index.search(PAGE.title())] == ["page"]
        assert [hit.id for hit in index.search(forged_page())] == ["forged"]


def test_explain_sees_through_forged_words():
    said = nd.explain(PAGE, forged_page())
    assert said.verdict == "different" and said.jaccard == 0 and said.cosine == 0 and not said.duplicate
    assert nd.explain(PAGE, PAGE.upper()).jaccard == 1


def test_no_shingle_sticks_to_a_drawn_seed(tmp_path):
    """Under a known seed every page is a candidate of every other; under a drawn one next to none is."""
    pages = sticky_pages()
    config = nd.Config(fingerprint=nd.MinHash(128))
    pairs = len(pages) * (len(pages) - 1) // 2
    known = nd.dedup(pages, replace(config, seed=DEFAULT_SEED))
    assert known.found.candidates > 0.9 * pairs and len(known.kept) == len(pages)
    assert nd.dedup(pages, config).found.candidates < 0.1 * pairs
    path = write_jsonl(
        tmp_path / "in.jsonl", [{"id": f"{row}", "text": text} for row, text in enumerate(pages)]
    )
    assert scan(path, tmp_path / "found", config).manifest["counts"]["candidates"] < 0.1 * pairs
    for name, seed, hits in (("known", DEFAULT_SEED, len(pages)), ("secret", None, 1)):
        with nd.Index(tmp_path / name, replace(config, seed=seed), store="none") as index:
            index.add([nd.Document(f"{row}", text) for row, text in enumerate(pages)])
            assert len(index.search(pages[0])) == hits


def test_the_seed_is_that_of_the_input(tmp_path):
    """For any threads, shards and memory; and another one as soon as a byte of a document changes."""
    path = attacked(tmp_path)
    found = scan(path, tmp_path / "a", threads=2, shard_bytes=1000)
    assert found.config.seed == scan(path, tmp_path / "b", memory="64MB").config.seed
    assert found.config.seed not in (None, DEFAULT_SEED) and found.manifest["seed"] == str(found.config.seed)
    assert nd.dedup(nd.read(path)).kept.tolist() == found.cut().kept.nonzero()[0].tolist()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"word7 ", b"word8 ", 1))
    assert scan(path, tmp_path / "c").config.seed != found.config.seed
    path.write_bytes(data)
    assert scan(path, tmp_path / "d", nd.Config(seed=7)).config.seed == 7


def test_a_seed_reaches_every_part_of_a_config():
    config = nd.Config.of("simhash", seed=9)
    assert config.features.seed == config.compared.seed == 9
    assert nd.Config(seed=9).prints.seed == 9 and nd.Config.of("bits", seed=9).prints.seed == 9
    for one in (nd.Config(seed=9), nd.Config(seed=DEFAULT_SEED), nd.Config()):
        assert nd.Config.from_plain(one.to_plain()) == one
    assert nd.Config().draws_seed and not nd.Config(seed=DEFAULT_SEED).draws_seed
    assert not nd.Config(features=nd.Shingles(seed=3)).draws_seed
    for wrong in (-1, 1 << 64, "x", True):
        with pytest.raises(ConfigError):
            nd.Config(seed=wrong)  # type: ignore[arg-type]


def test_a_scan_against_findings_takes_their_seed(tmp_path):
    (tmp_path / "old").mkdir()
    old = scan(attacked(tmp_path / "old"), tmp_path / "first", reusable=True)
    path = write_jsonl(
        tmp_path / "new.jsonl", [{"id": "again", "text": PAGE}, {"id": "new", "text": "something new"}]
    )
    found = scan(path, tmp_path / "second", against=[tmp_path / "first"])
    assert found.config.seed == old.config.seed
    assert [bool(kept) for kept in found.cut().kept[found.reference :]] == [False, True]
    third = scan(tmp_path / "new.jsonl", tmp_path / "third", reusable=True)
    assert third.config.seed != old.config.seed
    with pytest.raises(ConfigError, match="different seeds"):
        scan(path, tmp_path / "fourth", against=[tmp_path / "first", tmp_path / "third"])


def test_a_scan_that_was_stopped_keeps_its_seed(tmp_path):
    class Stopped(Exception):
        pass

    class Stops(Progress):
        def stage(self, name: str, *how: Any) -> None:
            if name == "write":
                raise Stopped

    path = attacked(tmp_path)
    whole, data, times = scan(path, tmp_path / "whole"), path.read_bytes(), os.stat(path)
    with pytest.raises(Stopped):
        scan(path, tmp_path / "found", shard_bytes=1000, progress=Stops())
    # The file is taken for the same, but another seed would be drawn from it now.
    path.write_bytes(data.replace(b"word7 ", b"word8 ", 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert scan(path, tmp_path / "found", shard_bytes=1000).config.seed == whole.config.seed


def test_standard_input_is_drawn_from_its_beginning(tmp_path, monkeypatch):
    data = attacked(tmp_path).read_bytes()
    seeds = []
    for incoming in (data, data, data.replace(b"word7 ", b"word8 ", 1)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(incoming)))
        found = scan("-", tmp_path / f"{len(seeds)}", format="jsonl")
        assert len(found) == 32
        seeds.append(found.config.seed)
    assert seeds[0] == seeds[1] != seeds[2]


@given(
    st.lists(st.text("aAéß .,1二"), min_size=1, max_size=8),
    st.sampled_from([nd.Shingles(), Characters(), Sentences()]),
)
def test_same_words_are_those_of_the_same_tokens(texts, features):
    """Beside the naive comparison: for characters, of their normalised texts."""
    left = texts
    right = texts[1:] + texts[:1]
    same = same_words([t.encode() for t in left], [t.encode() for t in right], features)
    digests = nd.fingerprints.one_pass.read_texts(texts, features, None).digests
    turned = np.concatenate([digests[1:], digests[:1]])
    wanted = (digests == turned).all(axis=1)
    empty = nd.fingerprints.one_pass.read_texts(texts, features, None).empty
    assert same[~empty].tolist() == wanted[~empty].tolist()
