"""Presets by use: each does what its reason says."""

import csv
import gzip
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import run

import neardup as nd
from neardup.errors import ConfigError


def test_every_preset_is_a_config_that_survives_toml(tmp_path):
    assert set(nd.config.PRESETS) == {
        "crawl",
        "news",
        "mail",
        "legal",
        "source",
        "plagiarism",
        "short",
        "corpus",
    }
    for name, one in nd.config.PRESETS.items():
        assert one.reason and one.made_for
        path = tmp_path / f"{name}.toml"
        path.write_text(nd.preset(name).to_toml())
        assert nd.Config.load(path) == nd.preset(name)
    with pytest.raises(ConfigError, match="there is no preset 'blog'; there are: crawl, news"):
        nd.preset("blog")


def prose(rng, many):
    return [rng.choice(VOCABULARY) for _ in range(many)]


VOCABULARY = [
    "".join(random.Random(i).choices("abcdefghijklmnopqrstuvwxyz", k=3 + i % 8)) for i in range(4000)
]


def test_crawl_folds_figures_dates_and_session_ids():
    text = " ".join(prose(random.Random(1), 60))
    one = f"{text} Monday 12 January 2024, 10:15. Visits: 1,204. Session 3f9a2bc771 {text[::-1]}"
    other = f"{text} Friday 3 May 2025, 23:59. Visits: 988,123. Session 77ffe01ab2 {text[::-1]}"
    assert nd.dedup([one, other], nd.preset("crawl"), threshold=0.99).dropped
    assert not nd.dedup([one, other], nd.preset("corpus"), threshold=0.99).dropped


def test_crawl_warns_of_documents_that_differ_in_figures_alone(tmp_path):
    bill = "Dear customer, please pay the sum of {} euros for {} items by transfer. Yours, the company."
    lines = [
        bill.format(12, 3),
        bill.format(99, 3),
        bill.format(12, 3),
        "Another text of other words altogether.",
    ]
    result = nd.dedup(lines, nd.preset("crawl"))
    assert result.found.figures == 1
    assert "1 differ from another only in numbers" in result.summary()
    assert nd.dedup(lines, nd.preset("corpus")).found.figures == 0
    path = tmp_path / "bills.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(lines)))
    done = run("dedup", str(path), "--preset", "crawl", "-q")
    assert done.returncode == 0, done.stderr
    assert b"warning: 1 differ from another only in numbers" in done.stdout


def test_legal_is_80_percent_of_terms_and_20_percent_of_length():
    terms = [f"term{i}" for i in range(400)]
    base = " ".join(terms[:200])
    reordered = " ".join(reversed(terms[:200])) + " " + " ".join(terms[200:240])
    longer = base + " " + " ".join(terms[200:310])
    other = " ".join(terms[:150] + terms[320:370])
    result = nd.dedup([base, reordered, longer, other], nd.preset("legal"))
    assert list(zip(result.pairs.left, result.pairs.right, strict=True)) == [(0, 1)]


def test_plagiarism_sees_a_borrowed_quarter():
    rng = random.Random(3)
    essays = [prose(rng, 400) for _ in range(30)]
    essays[7][100:250] = essays[3][50:200]
    essays += [prose(rng, 5000), prose(rng, 80)]
    essays[30][2000:2060] = essays[31][10:70]  # most of a short text in a very long one
    result = nd.dedup([" ".join(essay) for essay in essays], nd.preset("plagiarism"))
    assert list(zip(result.pairs.left, result.pairs.right, strict=True)) == [(3, 7), (30, 31)]


def test_source_distinguishes_case_and_signs():
    code = "for (int i = 0; i < n; ++i) { total += weights[i] * values[i]; } return total / n; " * 3
    same = nd.dedup([code, code.replace("    ", "\t")], nd.preset("source"))
    assert same.dropped
    assert not nd.dedup(
        [code, code.replace("+", "-").replace("<", ">").replace("i", "K")], nd.preset("source")
    ).dropped


def test_the_command_takes_presets_and_methods(tmp_path):
    made = json.loads(run("config", "--preset", "legal", "--length", "0.1", "--json").stdout)
    assert made["filters"]["length"] == 0.1
    assert made["verify"] == {"kind": "containment", "threshold": 0.8, "floor": 0.8, "of": "smaller"}
    for method in ("imatch", "supers", "buckets", "sketch"):
        done = run("config", "--method", method)
        assert done.returncode == 0, done.stderr
        path = tmp_path / "made.toml"
        path.write_bytes(done.stdout)
        assert nd.Config.load(path) == nd.Config.of(method, floor=0.7)
    wrong = run("config", "--preset", "legal", "--method", "exact")
    assert wrong.returncode == 2 and b"leave --config and --method out" in wrong.stderr


@pytest.mark.process
def test_crawl_on_real_pages(data, tmp_path):
    """Pages that differ only in boilerplate, ads or time stamps are found; other bodies under one template are not."""
    pytest.importorskip("resiliparse")
    folder = data / "wiki_html_variants"
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        pages = [{"id": row["id"], "html": row["html"]} for row in map(json.loads, file)]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages))
    with open(folder / "truth_pairs.tsv", encoding="utf-8") as file:
        truth = [(row["id_a"], row["id_b"], row["label"]) for row in csv.DictReader(file, delimiter="\t")]
    shares = {}
    for name in ("crawl", "corpus"):
        result = nd.dedup(nd.read(path), nd.preset(name), threads=2)
        keeper = dict(zip(result.ids, result.clusters.keeper.tolist(), strict=True))
        found = [label for a, b, label in truth if keeper[a] == keeper[b]]
        shares[name] = found.count("1") / sum(label == "1" for _, _, label in truth)
        assert found.count("1") >= 0.95 * len(found)
        # What differed in figures alone is now found by its digest.
        assert (result.found.figures > 20) == (name == "crawl")
    assert shares["crawl"] >= 0.95 > shares["corpus"]


@given(st.lists(st.text("a1 Z9may-", max_size=30), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_folded_words_are_the_same_in_features_and_in_text(texts, ids, dates):
    how = nd.Normalize(digits="fold", ids="fold" if ids else "keep", dates="fold" if dates else "keep")
    plain = nd.Words().extract(nd.features.normalize(texts, how))
    folded = nd.Words(normalize=how).extract(texts)
    assert np.array_equal(plain.hashes, folded.hashes) and np.array_equal(plain.offsets, folded.offsets)


@pytest.mark.slow
def test_short_texts_are_found(data):
    """The bar of the preset, on labelled help pages: F1 of .82 or more, with and without its guards."""
    from benchmarks.guards import load
    from benchmarks.short import SET, ours

    texts, labels = load(SET)
    true = sum(labels.judged.values())
    short = nd.preset("short")
    assert ours(texts, labels, true, short)["f1"] >= 0.85
    assert ours(texts, labels, true, replace(short, protect=()))["f1"] >= 0.82
