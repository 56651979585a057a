"""Features for the web on real pages: filters, identical pages, presets, and WARC files through scan and apply."""

import gzip
import itertools
import json

import numpy as np
import pytest
from support.command import run

import neardup as nd
from neardup.config.filters import languages_of


def rows_of(data, name, most=None):
    with gzip.open(data / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in itertools.islice(file, most)]


def pairs_of(result):
    return set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_pruning_changes_no_answer_on_short_pages(data):
    texts = [row["text"] for row in rows_of(data, "tldr_short")]
    config = nd.Config(verify=nd.Jaccard(0.5))
    plain, pruned = (
        nd.dedup(texts, nd.Config(verify=config.verify, filters=f))
        for f in (nd.Filters(), nd.Filters(prune=True))
    )
    assert pairs_of(pruned) == pairs_of(plain)
    assert pruned.found.pruned > 1000


def test_the_length_rule_takes_the_pairs_that_fit(data):
    texts = [row["text"] for row in rows_of(data, "licenses", 600)]
    verify = nd.Containment(0.8)
    every = nd.dedup(texts, nd.Config(verify=verify))
    near = nd.dedup(texts, nd.Config(verify=verify, filters=nd.Filters(length=0.2)))
    words = [len(row) for row in nd.features.tokens(texts)]
    fits = {(a, b) for a, b in pairs_of(every) if 5 * min(words[a], words[b]) >= 4 * max(words[a], words[b])}
    assert pairs_of(near) == fits
    assert 0 < len(fits) < len(pairs_of(every))


def test_documents_of_other_languages_are_never_paired(data):
    pytest.importorskip("resiliparse")
    texts = [row["text"] for row in rows_of(data, "electron_i18n_rev", 400)]
    config = nd.Config(features=nd.Words(), verify=nd.Jaccard(0.4))
    every = pairs_of(nd.dedup(texts, config))
    apart = nd.dedup(
        texts, nd.Config(features=nd.Words(), verify=config.verify, filters=nd.Filters(same_language=True))
    )
    language = languages_of([text.encode() for text in texts])
    assert pairs_of(apart) == {(a, b) for a, b in every if language[a] == language[b]}
    assert len(pairs_of(apart)) < len(every)


def test_one_language_of_many_through_scan_and_apply(data, tmp_path):
    pytest.importorskip("resiliparse")
    rows = [{"id": row["id"], "text": row["text"]} for row in rows_of(data, "udhr_multilingual", 250)]
    rows += [{"id": f"again-{row['id']}", "text": row["text"]} for row in rows]
    path, out, kept = write(tmp_path / "all.jsonl", rows), str(tmp_path / "found"), tmp_path / "kept.jsonl"
    done = run(
        "scan", path, "--language", "de", "--language", "fr", "--same-language", "-o", out, "-q", "--json"
    )
    assert done.returncode == 0, done.stderr
    codes = languages_of([row["text"].encode() for row in rows])
    spoken = {row["id"]: code for row, code in zip(rows, codes, strict=True)}
    asked = [name for name, language in spoken.items() if language in ("de", "fr")]
    assert json.loads(done.stdout)["filtered"] == {"other language": len(rows) - len(asked)}
    nd.apply(out, kept, allow_mass_removal=True)
    left = [json.loads(line)["id"] for line in kept.read_text().splitlines()]
    assert set(left) <= {name for name in asked if not name.startswith("again-")}
    assert {spoken[name] for name in left} == {"de", "fr"}


@pytest.mark.process
def test_warc_files_through_scan_and_apply(data, tmp_path):
    pytest.importorskip("resiliparse")
    pages = rows_of(data, "wiki_html_variants", 24)
    (tmp_path / "crawl.warc").write_bytes(
        b"".join(record(f"http://w.example/{p['id']}", p["html"]) for p in pages)
    )
    write(tmp_path / "pages.jsonl", [{"id": f"http://w.example/{p['id']}", "html": p["html"]} for p in pages])
    out, kept = str(tmp_path / "found"), tmp_path / "kept.jsonl"
    done = run("scan", str(tmp_path / "crawl.warc"), "--preset", "crawl", "-o", out, "-q", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 24
    done = run("apply", out, "-o", str(kept), "--allow-mass-removal", "-q")
    assert done.returncode == 0, done.stderr
    left = [json.loads(line)["url"] for line in kept.read_text().splitlines()]
    same = nd.dedup(nd.read(tmp_path / "pages.jsonl"), nd.preset("crawl"))
    assert left == [same.ids[row] for row in same.kept]
    assert 1 < len(left) < 24


def record(url, page):
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page.encode()
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
    head += "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    return head.encode() + http + b"\r\n\r\n"


@pytest.mark.parametrize("way", ["characters", "prefix", "positions", "hash", "digest"])
def test_every_way_to_identical_pages_says_the_same(data, way):
    pages = [row["html"] for row in rows_of(data, "pydoc_html_versions", 200)]
    pages += pages[:40]
    expected = [pages.index(page) for page in pages]
    assert nd.fingerprints.identical(pages, way).first.tolist() == expected


# (preset, corpus, least share of what it merges that bears one label)
BY_LABEL = [
    ("source", "k8s_docs_rev", 0.9),
    ("news", "k8s_docs_rev", 0.85),
    ("mail", "k8s_docs_rev", 0.9),
    ("corpus", "k8s_docs_rev", 0.95),
]


@pytest.mark.parametrize(("name", "corpus", "least"), BY_LABEL)
def test_presets_merge_what_people_call_the_same(data, name, corpus, least):
    with open(data / corpus / "truth_clusters.tsv", encoding="utf-8") as file:
        cluster = dict(line.rstrip("\n").split("\t")[:2] for line in file)
    documents = [nd.Document(row["id"], row["text"]) for row in rows_of(data, corpus, 900)]
    result = nd.dedup(documents, nd.preset(name), threads=2)
    same = [cluster.get(result.ids[d.row]) == cluster.get(result.ids[d.keeper]) for d in result.dropped]
    assert len(same) >= 20
    assert np.mean(same) >= least


def test_the_legal_preset_finds_the_pairs_of_its_rule(data):
    """80% of the shorter one's terms and lengths within 20%, by comparing all pairs of licences."""
    texts = [row["text"] for row in rows_of(data, "licenses", 500)]
    result = nd.dedup(texts, nd.preset("legal"), threads=2)
    tokens = nd.features.tokens(texts)
    terms = [set(words) for words in tokens]
    first = result.found.first.tolist()
    expected = set()
    for b in range(len(texts)):
        for a in range(b):
            short, long = sorted((len(tokens[a]), len(tokens[b])))
            least = min(len(terms[a]), len(terms[b]))
            if not short or first[a] != a or first[b] != b or 5 * short < 4 * long:
                continue
            if 5 * len(terms[a] & terms[b]) >= 4 * least:
                expected.add((a, b))
    found = pairs_of(result)
    assert found <= expected
    assert len(found) >= 0.97 * len(expected) > 100


def test_the_plagiarism_preset_finds_borrowed_paragraphs(manuals):
    words = [nd.features.tokens([text])[0] for text in manuals[:200]]
    essays = [
        " ".join(f"own{n}x{i}" for i in range(100)) + " " + " ".join(words[n][50:130])
        for n in range(0, 200, 20)
    ]
    documents = [nd.Document(f"m{n}", text) for n, text in enumerate(manuals[:200])]
    documents += [nd.Document(f"e{n}", text) for n, text in zip(range(0, 200, 20), essays, strict=True)]
    result = nd.dedup(documents, nd.preset("plagiarism"))
    paired = {(result.ids[a], result.ids[b]) for a, b in pairs_of(result)}
    long = [n for n in range(0, 200, 20) if len(words[n]) >= 130]
    assert len(long) >= 5
    assert all((f"m{n}", f"e{n}") in paired for n in long)


@pytest.mark.process
def test_anchors_and_links_separate_articles(data):
    pytest.importorskip("resiliparse")
    folder = data / "wiki_html_variants"
    for html in ("anchors", "links"):
        result = nd.dedup(folder / "docs.jsonl.gz", nd.Config(verify=nd.Jaccard(0.7), html=html), threads=2)
        scored = nd.evaluate.score(result, folder / "truth_pairs.tsv")
        assert scored.precision.value >= 0.95, html
        assert scored.recall.value >= 0.8, html
