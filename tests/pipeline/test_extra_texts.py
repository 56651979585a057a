"""Highlights and links from files of pages to fingerprints."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from support.archives import captured, http_response
from support.command import run as command

import neardup as nd
from neardup.features.features import combine
from neardup.pipeline.inputs import incoming
from neardup.pipeline.pairs import Room
from neardup.pipeline.run import Run

pytest.importorskip("resiliparse")
pytestmark = pytest.mark.process

BODY = " ".join(f"word{n}" for n in range(60))


def page(title: str, heading: str) -> str:
    return f"<html><head><title>{title}</title></head><body><main><h1>{heading}</h1><p>{BODY}.</p></main></body></html>"


PAGES = [page("North ferry", "Timetable"), page("South ferry", "Timetable"), page("North ferry", "Times")]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "pages"
    made.mkdir()
    for number, text in enumerate(PAGES):
        (made / f"{number}.html").write_text(text)
    return made


def codes(documents, room=None, **options) -> list[int]:
    config = nd.Config.of("simhash", seed=1, **options)
    run = Run(config, room=room)
    given = incoming(documents, config)
    run.read(given.batches)
    run.fingerprint()
    return run.corpus.prints("codes")[:, 0].tolist()


def naive(extras: list[list[str]], highlights: nd.features.Highlights) -> list[int]:
    """The same codes from features made by hand."""
    texts = [f"{heading}\n\n{BODY}." for heading in ("Timetable", "Timetable", "Times")]
    words = nd.Words(seed=1)
    both = [" ".join([text, *lines]) for text, lines in zip(texts, extras, strict=True)]
    idf = nd.Idf.fit(both, words)
    counted = nd.Words(seed=1, weights="count")
    parts, multipliers = [counted.extract(texts)], [1.0]
    for place, by in enumerate(highlights.multipliers):
        parts.append(counted.extract([lines[place] if place < len(lines) else "" for lines in extras]))
        multipliers.append(by)
    named = [replace(part, scheme=words.scheme) for part in parts]
    weighed = nd.features.weigh(combine(named, multipliers, words.scheme), idf)
    return nd.Simhash().compute(weighed).codes[:, 0].tolist()


def test_codes_are_those_of_features_by_hand(folder, tmp_path):
    highlights = nd.features.Highlights(title=60)
    extras = [["North ferry", "Timetable"], ["South ferry", "Timetable"], ["North ferry", "Times"]]
    expected = naive(extras, highlights)
    assert codes(folder, highlights=highlights) == expected
    assert codes(folder, room=Room(folder=tmp_path), highlights=highlights) == expected
    assert codes(folder) != expected and len(set(expected)) > 1


def test_pages_of_a_warc_have_highlights_and_links(folder, tmp_path):
    records = [captured(n, f"http://example.org/{n}", http_response(text)) for n, text in enumerate(PAGES)]
    (tmp_path / "pages.warc.gz").write_bytes(b"".join(map(gzip.compress, records)))
    found = nd.features.Highlights()
    assert codes(tmp_path / "pages.warc.gz", highlights=found) == codes(folder, highlights=found)
    links = tmp_path / "links.tsv"
    links.write_text("http://a/\thttps://example.org/1\tboats\tmany small\n")
    linked = nd.features.Highlights(links=str(links), in_links=5)
    extras = [["North ferry", "Timetable"], ["South ferry", "Timetable"], ["North ferry", "Times"]]
    extras[1] += ["", "", "boats", "small", "many"]
    assert codes(tmp_path / "pages.warc.gz", highlights=linked) == naive(extras, linked)


def test_links_weigh_documents_without_pages(tmp_path):
    rows = [{"id": n, "url": f"http://a.example/{n}", "text": f"{BODY} {n}"} for n in range(2)]
    links = tmp_path / "links.tsv"
    links.write_text("x\thttp://a.example/1\tboats tides waves\n")
    plain, none = codes(rows), codes(rows, highlights=nd.features.Highlights())
    linked = codes(rows, highlights=nd.features.Highlights(links=str(links), in_links=90))
    assert none == plain and linked[0] == plain[0] and linked[1] != plain[1]


def test_a_killed_scan_does_not_take_over_other_links(folder, tmp_path):
    links = tmp_path / "links.tsv"
    room = Room(folder=tmp_path / "room")
    room.folder.mkdir()
    options = {"highlights": nd.features.Highlights(links=str(links), in_links=50)}
    links.write_text("x\t1.html\tboats tides\n")
    before = codes(folder, room=room, **options)
    again = codes(folder, room=room, **options)
    links.write_text("x\t1.html\twaves winds\n")
    after = codes(folder, room=room, **options)
    assert before == again != after and before[0] == after[0]


def test_the_commands(folder, tmp_path):
    links = tmp_path / "links.jsonl"
    rows = [{"from": "x", "to": name, "text": "boats"} for name in ("0.html", "1.html", "elsewhere")]
    links.write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "found"
    done = command(
        "scan", str(folder), "--in-links", str(links), "--protect", "none", "-o", str(out), "--json"
    )
    assert done.returncode == 0, done.stderr
    config = nd.Findings(out).config
    assert config.highlights == nd.features.Highlights(links=str(links)) and isinstance(
        config.fingerprint, nd.Simhash
    )
    merged = tmp_path / "merged.tsv"
    done = command("links", str(links), "-f", str(out), "-o", str(merged))
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines() == [
        f"2 links of 3 written to {merged}; 1 moved",
        "1 link to a page that was not scanned, or not kept, left out",
    ]
    assert merged.read_text().splitlines() == [
        "to\tfrom\ttext\ttarget",
        "0.html\tx\tboats\t0.html",
        "0.html\tx\tboats\t1.html",
    ]
    assert command("links", str(links), "-o", "-").returncode == 2
    refused = command(
        "scan", str(folder), "--highlights", "--method", "minhash", "-o", str(tmp_path / "other")
    )
    assert refused.returncode == 1 and b"simhash" in refused.stderr


def test_links_of_mirrors_go_to_the_preferred_host(tmp_path):
    pages = [
        (f"http://{host}/p/{n}", str(n))
        for host in ("www.example.com", "mirror.example.net")
        for n in range(6)
    ]
    (tmp_path / "contents.tsv").write_text("".join(f"{url}\t{content}\n" for url, content in pages))
    (tmp_path / "links.tsv").write_text("http://x/\thttp://mirror.example.net/p/3\tthree\n")
    done = command(
        "links",
        str(tmp_path / "links.tsv"),
        "--contents",
        str(tmp_path / "contents.tsv"),
        "-o",
        "-",
        "--out-format",
        "tsv",
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.decode().splitlines()[1]
        == "https://example.com/p/3\thttp://x/\tthree\thttp://mirror.example.net/p/3"
    )


def test_dropped_pages_hand_their_links_to_the_keeper(tmp_path):
    rows = [
        {"id": n, "url": f"http://a.example/{n}", "text": f"{BODY} {'more' * (n == 0)}"} for n in range(3)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    findings = nd.scan(path, tmp_path / "found", nd.Config(protect=()))
    kept = nd.findings.kept_pages(findings, findings.cut())
    assert np.count_nonzero(findings.cut().kept) == 1
    assert {kept(f"https://a.example/{n}#top") for n in range(3)} == {"http://a.example/0"}
    assert kept("http://a.example/9") is None
