"""scan(): the same findings however it is run, killed or resumed; nothing but its own folder is touched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.corpora import found_bytes, planted, read_jsonl, write_jsonl

import neardup as nd
import neardup.compare.similarity as similarity
from neardup.errors import ConfigError, DataError, FormatError, UnreadableInput
from neardup.findings import Findings, summarize, write_pairs
from neardup.findings.apply import apply
from neardup.findings.scan import scan
from neardup.pipeline.sharder import Sharder
from neardup.progress import Progress

# A scan in a process of its own, in small shards, that can be killed: folder, input, seconds to wait in each shard.
DRIVER = """
import sys, time
from neardup.findings.scan import scan
from neardup.progress import Progress
class Slow(Progress):
    def stage(self, name, total=None, unit=""):
        super().stage(name, total, unit); print(name, flush=True)
    def reached(self, done):
        time.sleep(float(sys.argv[3]))
scan(sys.argv[2], sys.argv[1], shard_bytes=20_000, progress=Slow())
"""


PARTS = 30


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """300 documents and their duplicates in many files of a folder: a shard ends where a file does."""
    folder = tmp_path_factory.mktemp("corpus")
    rows = planted(300)
    for part in range(PARTS):
        write_jsonl(folder / f"part{part:02}.jsonl", rows[part::PARTS])
    return folder


@pytest.fixture(scope="module")
def plain(corpus, tmp_path_factory) -> Path:
    """The findings of a scan nothing disturbed."""
    out = tmp_path_factory.mktemp("plain") / "found"
    scan(corpus, out)
    return out


@pytest.mark.parametrize(
    "how",
    [
        {"threads": 2},
        {"memory": "64MB"},
        {"shard_bytes": 5_000},
        {"shard_bytes": 30_000, "threads": 2, "memory": "64MB", "reusable": True},
    ],
    ids=str,
)
def test_how_it_is_run_changes_no_byte(corpus, plain, tmp_path, how):
    scan(corpus, tmp_path / "found", **how)
    assert found_bytes(tmp_path / "found") == found_bytes(plain)


def test_how_inputs_are_named_changes_no_byte(corpus, plain, tmp_path):
    files = sorted(corpus.glob("*.jsonl"))
    for number, named in enumerate((files[::-1], str(corpus / "*.jsonl"), [files[1], str(corpus), files[0]])):
        out = tmp_path / f"found{number}"
        scan(named, out)
        assert found_bytes(out) == found_bytes(plain)


@pytest.mark.process
def test_killed_at_any_moment_it_ends_with_the_same_bytes(corpus, plain, tmp_path, monkeypatch):
    random_ = random.Random(4)
    out, resumed = tmp_path / "found", []
    taken = Sharder.shards
    monkeypatch.setattr(
        Sharder, "shards", lambda self, *a: (taken(self, *a), resumed.append(self.resumed))[0]
    )
    for attempt in range(4):
        command = [sys.executable, "-c", DRIVER, str(out), str(corpus), "0.03"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        if attempt < 3:  # while it reads, where there is something to take over
            until = time.monotonic() + 120
            before = len(list(out.glob("work/*.shard")))
            while len(list(out.glob("work/*.shard"))) <= before and time.monotonic() < until:
                time.sleep(0.002)
            time.sleep(random_.random() * 0.05)
        else:  # while it searches or writes
            for line in process.stdout:
                if line.strip() == random_.choice([b"candidates", b"verify", b"write"]):
                    break
        process.kill()
        process.communicate()
        assert not (out / "manifest.json").exists()
        with pytest.raises(DataError, match="not finished"):
            Findings(out)
    scan(corpus, out, shard_bytes=7_000)
    assert resumed[0] >= 3
    assert found_bytes(out) == found_bytes(plain) and not (out / "work").exists()
    assert not list(out.glob(".*.tmp"))
    kept = [tmp_path / "kept1.jsonl", tmp_path / "kept2.jsonl"]
    for findings, target in zip((plain, out), kept, strict=True):
        apply(findings, target, allow_mass_removal=True)
    assert kept[0].read_bytes() == kept[1].read_bytes()


@pytest.mark.process
def test_interrupted_it_says_so_and_continues_later(tmp_path):
    rows = planted(6000)
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    out = tmp_path / "found"
    command = [sys.executable, "-m", "neardup", "scan", path, "-o", str(out), "--memory", "64MB"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 120
    while not out.exists() and time.monotonic() < until:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130 and b"Traceback" not in said, said
    assert not (out / "manifest.json").exists()
    assert subprocess.run(command, capture_output=True, timeout=300).returncode == 0
    assert Findings(out).manifest["counts"]["documents"] == len(rows)


def unfinished(corpus: Path, out: Path) -> None:
    """A scan that fails after its shards were made."""

    class Fails(Progress):
        def stage(self, name, total=None, unit=""):
            if name == "verify":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan(corpus, out, shard_bytes=20_000, progress=Fails())
    assert list(out.glob("work/*.shard"))


def test_an_unfinished_scan_of_something_else_is_not_taken_over(tmp_path):
    rows = planted(60)
    path = Path(write_jsonl(tmp_path / "in.jsonl", rows))
    out = tmp_path / "found"
    unfinished(path, out)
    with pytest.raises(ConfigError, match="--overwrite"):
        scan(path, out, nd.Config.of(threshold=0.5))
    rows[0]["text"] += " more"
    write_jsonl(path, rows)
    with pytest.raises(ConfigError, match="--overwrite"):
        scan(path, out)
    scan(path, out, overwrite=True)
    with pytest.raises(ConfigError, match="already contains findings"):
        scan(path, out)


def test_a_changed_reference_is_not_taken_over(tmp_path):
    path, reference = tmp_path / "in.jsonl", tmp_path / "reference.jsonl"
    write_jsonl(path, planted(40))
    write_jsonl(reference, planted(20, seed=2))

    class Fails(Progress):
        def stage(self, name, total=None, unit=""):
            if name == "verify":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan(path, tmp_path / "found", against=[reference], progress=Fails())
    write_jsonl(reference, planted(20, seed=3))
    with pytest.raises(ConfigError, match="--overwrite"):
        scan(path, tmp_path / "found", against=[reference])


def test_a_failure_before_the_first_shard_is_no_obstacle(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", planted(5))
    for out in (tmp_path / "new", tmp_path / "there"):
        (tmp_path / "there").mkdir(exist_ok=True)
        with pytest.raises(ConfigError, match="nothing"):
            scan(path, out, text="nothing")
        assert scan(path, out).manifest["counts"]["documents"] == len(read_jsonl(path))


def test_two_scans_in_one_folder(corpus, tmp_path):
    class Second(Progress):
        refused = 0

        def stage(self, name, total=None, unit=""):
            if name == "candidates":
                with pytest.raises(DataError, match="another scan"):
                    scan(corpus, tmp_path / "found")
                self.refused += 1

    progress = Second()
    scan(corpus, tmp_path / "found", progress=progress)
    assert progress.refused == 1 and Findings(tmp_path / "found").pairs


@pytest.mark.parametrize("overwrite", [False, True, "finished"])
def test_folders_of_others_are_left_alone(corpus, tmp_path, overwrite):
    mine = tmp_path / "mine" / "work" / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("years")
    with pytest.raises(ConfigError, match="holds other files"):
        scan(corpus, tmp_path / "mine", overwrite=overwrite)
    with pytest.raises(ConfigError, match="is a file"):
        scan(corpus, mine, overwrite=overwrite)
    assert mine.read_text() == "years"


def test_findings_inside_the_corpus_are_no_input(tmp_path):
    write_jsonl(tmp_path / "in.jsonl", planted(20))
    first = scan(tmp_path, tmp_path / "a.findings")
    second = scan(tmp_path, tmp_path / "b.findings").manifest["counts"]
    assert second.pop("passed_over").keys() == {"output of neardup"}
    first.manifest["counts"].pop("passed_over")
    assert second == first.manifest["counts"]
    scan(tmp_path, tmp_path / "odd")
    with pytest.raises(ConfigError, match="holds some of the inputs"):
        scan(tmp_path, tmp_path / "odd", overwrite=True)


def test_the_manifest_says_enough_to_repeat_it(corpus, plain, tmp_path):
    manifest = Findings(plain).manifest
    assert {Path(entry["path"]).name for entry in manifest["inputs"]} == {
        f"part{i:02}.jsonl" for i in range(PARTS)
    }
    assert all(entry["digest"].startswith("xxh3-pieces:") and entry["bytes"] for entry in manifest["inputs"])
    assert all(entry["sha256"] is None for entry in manifest["inputs"])
    assert manifest["scheme"] and manifest["seed"] and manifest["versions"]["numpy"] == np.__version__
    assert manifest["counts"]["pairs"] and "verify" in manifest["seconds"]
    again = nd.Config.from_plain(manifest["config"])
    scan([entry["path"] for entry in manifest["inputs"]], tmp_path / "again", again, **manifest["columns"])
    assert found_bytes(tmp_path / "again") == found_bytes(plain)


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"format": 1}', '{"format": 9}', "\x00", "[" * 100_000])
def test_a_damaged_manifest_is_reported(plain, tmp_path, damage):
    (tmp_path / "manifest.json").write_text(damage)
    with pytest.raises(FormatError):
        Findings(tmp_path)


def test_damaged_columns_are_reported_or_do_not_matter(corpus, tmp_path):
    """A flipped bit is found, unless it is in unused bytes: then the answer is the same."""
    whole, printed = summarize(scan(corpus, tmp_path / "found")).to_json(), 0
    for name in ("documents.nd", "pairs.nd", "texts.nd"):
        path = tmp_path / "found" / name
        data = bytearray(path.read_bytes())
        for place in range(1, len(data), len(data) // 9):
            data[place] ^= 0x40
            path.write_bytes(data)
            try:
                assert summarize(Findings(tmp_path / "found")).to_json() == whole
            except FormatError:
                printed += 1
            data[place] ^= 0x40
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(FormatError):
            summarize(Findings(tmp_path / "found"))
        path.write_bytes(data)
    assert printed > 12


def test_numbers_add_up(corpus, tmp_path):
    config = nd.Config(filters=nd.Filters(min_words=40), verify=nd.Jaccard(0.8, 0.6))
    found = scan(corpus, tmp_path / "found", config)
    summary = summarize(found)
    short = sum(len(r["text"].split()) < 40 for p in corpus.glob("*.jsonl") for r in read_jsonl(p))
    assert summary.filtered == {"too short": short} and short
    assert summary.documents == summary.kept + summary.dropped + short
    assert [row[0] for row in summary.table] == [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    for threshold, gone, clusters in summary.table:
        other = summarize(found, threshold=threshold)
        assert (other.dropped, other.clusters) == (gone, clusters)
        fresh = summarize(
            scan(
                corpus,
                tmp_path / f"at{threshold}",
                nd.Config(filters=config.filters, verify=nd.Jaccard(threshold)),
            )
        )
        # A fresh scan looks for 99% of the pairs at its own threshold, the floor of the first is lower.
        assert abs(fresh.dropped - gone) <= 0.01 * gone + 1


def test_spikes_are_named(tmp_path):
    rows = [{"id": f"e{i}", "text": "Error 500, please log in"} for i in range(1200)]
    rows += [{"id": f"o{i}", "text": "..."} for i in range(1100)] + planted(40)
    summary = summarize(scan(write_jsonl(tmp_path / "in.jsonl", rows), tmp_path / "found"))
    assert [(spike.size, spike.keeper) for spike in summary.spikes] == [(1200, "e0"), (1100, "o0")]
    assert summary.empty == 1100 and any("Spikes" in line for line in summary.lines())


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([], 0),
        ([{"id": "1", "text": "one single document"}], 1),
        ([{"id": str(i), "text": ""} for i in range(50)], 50),
        ([{"id": str(i), "text": "the same"} for i in range(50)], 1),
        ([{"id": "x" * 100_000, "text": "long"}, {"id": "../../x", "text": "Long!"}], 1),
    ],
    ids=["empty", "one", "no words", "identical", "hostile ids"],
)
def test_tiny_corpora(tmp_path, rows, kept):
    found = scan(write_jsonl(tmp_path / "in.jsonl", rows), tmp_path / "found")
    assert summarize(found).kept == kept
    assert apply(found, f"{tmp_path}/out/", allow_mass_removal=True).written == kept
    assert len(read_jsonl(tmp_path / "out" / "in.jsonl")) == kept


def test_a_folder_of_nothing(tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(UnreadableInput, match="no files"):
        scan(tmp_path / "in", tmp_path / "found")
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("config", "finds"),
    [
        (nd.Config.of("simhash"), 0.5),
        (nd.Config.of("bits", radius=16), 0.5),
        (nd.Config.of("exact"), 0.0),
        (nd.Config(verify=nd.Containment(0.8, 0.7)), 0.99),
        (nd.Config(verify=nd.Cosine(0.8, 0.7)), 0.99),
        (nd.Config(templates=nd.Templates(0.3)), 0.9),
        (nd.Config(clusters="components"), 0.99),
    ],
    ids=["simhash", "bits", "exact", "containment", "cosine", "templates", "components"],
)
def test_other_methods_and_measures(corpus, plain, tmp_path, config, finds):
    found = scan(corpus, tmp_path / "found", config)
    pairs, usual = found.pairs.at_least(0.8), Findings(plain).pairs.at_least(0.8)
    ours, theirs = (set(zip(p.left.tolist(), p.right.tolist(), strict=True)) for p in (pairs, usual))
    assert np.array_equal(found.first, Findings(plain).first)
    assert len(ours & theirs) >= finds * len(theirs)
    assert (pairs.similarity >= 0.8).all() and summarize(found).exact >= 100
    if not config.near:
        assert not ours


def test_names_that_are_not_unicode(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff.jsonl")).write_text(
            '{"id": "a", "text": "some words"}\n'
        )
    except OSError:
        pytest.skip("this file system has Unicode names only (set TMPDIR to a folder on another)")
    found = Findings(scan(folder, tmp_path / "found").path)
    assert apply(found, tmp_path / "kept.jsonl").written == 1


def exact_pairs(data: Path, name: str, threshold: float) -> dict[tuple[str, str], float]:
    import gzip

    with gzip.open(data / name / "exact_pairs.tsv.gz", "rt") as file:
        next(file)
        rows = (line.split("\t") for line in file)
        return {tuple(sorted(row[:2])): float(row[2]) for row in rows if float(row[2]) >= threshold}


@pytest.mark.parametrize(
    ("name", "html"), [("electron_i18n_rev", "main"), ("wiki_html_variants", "whole"), ("tldr_short", "main")]
)
def test_recall_on_real_text(data, tmp_path, name, html):
    found = scan(data / name / "docs.jsonl.gz", tmp_path / "found", nd.Config(html=html), threads=2)
    write_pairs(found, tmp_path / "pairs.jsonl", implied=True)
    rows = read_jsonl(tmp_path / "pairs.jsonl")
    ours = {tuple(sorted((row["left"], row["right"]))) for row in rows}
    truth = exact_pairs(data, name, 0.8)
    assert len(ours) == len(rows) and len(truth) > 100
    assert len(ours & truth.keys()) >= 0.99 * len(truth)


@pytest.mark.slow
def test_no_member_of_a_licence_is_far_from_its_keeper(data, tmp_path):
    found = scan(
        data / "licenses" / "docs.jsonl.gz", tmp_path / "found", nd.Config.of(threshold=0.7), threads=2
    )
    clusters = found.cut().clusters
    members = np.flatnonzero(~clusters.kept)
    features = nd.Shingles().extract([*found.texts(members), *found.texts(clusters.keeper[members])])
    rows = np.arange(len(members))
    exact = similarity.jaccard(features, rows, rows + len(members))
    assert len(members) > 2000 and exact.min() >= 0.7
    assert np.allclose(exact, clusters.similarity[members])


@pytest.mark.slow
def test_huge_and_many(tmp_path):
    # Few long words: it is the bytes that matter here.
    words = " ".join(random.Random(1).choices([f"word{i:030}" for i in range(50_000)], k=3_000_000))
    huge = [{"id": "a", "text": words}, {"id": "b", "text": words + " end"}, {"id": "c", "text": "short"}]
    assert len(words) > 100_000_000
    found = scan(write_jsonl(tmp_path / "huge.jsonl", huge), tmp_path / "huge", threads=2)
    assert summarize(found).kept == 2
    same = [{"id": str(i), "text": "the very same words over and over again"} for i in range(100_000)]
    found = scan(write_jsonl(tmp_path / "same.jsonl", same), tmp_path / "same", threads=2)
    assert summarize(found).exact == 99_999


@pytest.mark.slow
def test_one_counter_apart(tmp_path):
    """Documents that differ in one number are not compared one by one: work grows in proportion to them."""
    base, count = " ".join(random.Random(1).choices(WORDS_OF_A_PAGE, k=120)), 30_000
    rows = [{"id": str(i), "text": f"{base} visitor {i} today"} for i in range(count)]
    found = scan(write_jsonl(tmp_path / "in.jsonl", rows), tmp_path / "found", threads=2)
    counts = found.manifest["counts"]
    assert summarize(found).kept == 1, counts
    assert counts["candidates"] < 200 * count and counts["pairs"] < 200 * count


WORDS_OF_A_PAGE = [f"page{i}" for i in range(2000)]
