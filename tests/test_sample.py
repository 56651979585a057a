"""The bundled sample is what its generator makes, and holds the kinds of pages it promises."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import json
import re
import sys
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from statistics import median
from types import ModuleType

import pytest

from neardup import sample

COPIES = {
    *("exact", "typo", "respelled", "dates", "ad", "moved"),
    *("cut", "added", "boilerplate", "truncated", "mixed"),
}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    source = Path(__file__).parents[1] / "tools" / "make_sample.py"
    spec = importlib.util.spec_from_file_location("make_sample", source)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "make_sample", module)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages() -> dict[str, dict[str, str]]:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert all(set(row) == {"id", "url", "title", "text"} for row in rows)
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="module")
def truth() -> dict[str, tuple[str, str]]:
    with sample.path("truth.tsv").open(encoding="utf-8", newline="") as lines:
        return {row["id"]: (row["cluster"], row["kind"]) for row in csv.DictReader(lines, delimiter="\t")}


def shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(*(words[i:] for i in range(5)), strict=False))


@pytest.fixture(scope="module")
def jaccards(pages: dict[str, dict[str, str]]) -> dict[tuple[str, str], float]:
    sets = {name: shingles(page["text"]) for name, page in pages.items()}
    return {(a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a, b in combinations(sets, 2)}


def test_regenerating_gives_the_bundled_pages(generator: ModuleType) -> None:
    made = generator.files()
    assert made == generator.files()
    assert made["truth.tsv"] == sample.path("truth.tsv").read_bytes()
    # The packed bytes depend on the zlib Python was built with, their content does not.
    bundled = sample.path().read_bytes()
    assert gzip.decompress(made["pages.jsonl.gz"]) == gzip.decompress(bundled)
    assert bundled[:10] == made["pages.jsonl.gz"][:10] and bundled[4:8] == b"\0\0\0\0"
    assert len(bundled) < 200_000


def test_every_page_has_its_truth(
    pages: dict[str, dict[str, str]], truth: dict[str, tuple[str, str]]
) -> None:
    assert list(pages) == list(truth) and 280 <= len(pages) <= 340
    assert len({page["url"] for page in pages.values()}) == len(pages)
    lengths = [len(page["text"].split()) for page in pages.values()]
    assert min(lengths) >= 130 and max(lengths) <= 400
    for page in pages.values():
        assert not re.search(r"[{}\[\]]", page["text"]), f"{page['id']} holds an unresolved slot"


def test_clusters(truth: dict[str, tuple[str, str]]) -> None:
    clusters = defaultdict(list)
    for cluster, kind in truth.values():
        clusters[cluster].append(kind)
    sizes = Counter(map(len, clusters.values()))
    assert set(sizes) == {1, 2, 3, 4, 5}
    assert 40 <= sizes[1] <= 70
    for kinds in clusters.values():
        assert kinds.count("original") + kinds.count("template") == 1
        assert "original" in kinds or len(kinds) == 1
    counts = Counter(kind for _, kind in truth.values())
    assert set(counts) == COPIES | {"original", "template"}
    assert counts["template"] == 24 and all(counts[kind] >= 10 for kind in COPIES)


def test_copies_are_close(truth: dict[str, tuple[str, str]], jaccards: dict[tuple[str, str], float]) -> None:
    by_kind = defaultdict(list)
    for (a, b), jaccard in jaccards.items():
        kinds = {truth[a][1], truth[b][1]}
        if truth[a][0] == truth[b][0]:
            assert jaccard > 0.4
            if "original" in kinds:
                by_kind[min(kinds - {"original"})].append(jaccard)
    assert set(by_kind["exact"]) == {1.0}
    for kind in ("typo", "respelled", "dates", "ad", "moved", "cut", "added", "boilerplate"):
        assert min(by_kind[kind]) > 0.7 and max(by_kind[kind]) < 1, kind
        assert median(by_kind[kind]) > 0.77, kind
    for kind in ("truncated", "mixed"):
        assert min(by_kind[kind]) > 0.5, kind


def test_other_pages_are_not(
    truth: dict[str, tuple[str, str]], jaccards: dict[tuple[str, str], float]
) -> None:
    apart: list[float] = []
    hard: dict[str, float] = defaultdict(float)
    for (a, b), jaccard in jaccards.items():
        if truth[a][0] == truth[b][0]:
            continue
        templates = [truth[page][0] for page in (a, b) if truth[page][1] == "template"]
        if not templates:
            apart.append(jaccard)
        for cluster in templates:
            hard[cluster] = max(hard[cluster], jaccard)
    assert max(apart) < 0.35 and sorted(apart)[int(len(apart) * 0.98)] < 0.2
    # Hard negatives: far closer to their model than strangers are, yet below any sensible threshold.
    assert len(hard) == 24 and min(hard.values()) > 0.35 and max(hard.values()) < 0.7
