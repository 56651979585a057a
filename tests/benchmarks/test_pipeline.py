"""The end-to-end benchmark itself: rivals agree where there is no doubt, what is measured is so, checks can fail."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from benchmarks import recall
from benchmarks.pipeline import checks, corpus, table, truth
from benchmarks.pipeline.__main__ import versions
from benchmarks.pipeline.corpus import Corpus
from benchmarks.pipeline.engines import ours
from benchmarks.pipeline.measure import run
from support.machines import MACHINE

ROOT = Path(__file__).parents[2]
PLAN = tomllib.loads((ROOT / "benchmarks" / "pipeline" / "cases.toml").read_text("utf-8"))
RIVALS = [name for name in PLAN["engine"] if name != "ours"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Sixty documents: twenty of 200 random words, each twice more, once with the last word changed. Rows i and i + 20
    and i + 40 belong together, and no others."""
    rng = random.Random(1)
    words = [
        "".join(rng.choices("abcdefghij", k=6)) for _ in range(10_000)
    ]  # letters: datatrove folds digits
    texts = [" ".join(rng.choices(words, k=200)) for _ in range(20)]
    texts += texts + [text.rpartition(" ")[0] + " changed" for text in texts]
    found = Corpus("tiny", tmp_path_factory.mktemp("tiny"))
    with found.path.open("w") as out:
        for row, text in enumerate(texts):
            out.write(json.dumps({"id": f"d{row:09d}", "text": text}) + "\n")
    pairs = [(row, row + 20 * step) for row in range(20) for step in (1, 2)]
    corpus.save(found, truth.measured(pairs, found.texts(range(60))))
    return found


def together(labels: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


EXPECTED = {(row, row + 20, row + 40) for row in range(20)}


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("name", RIVALS)
def test_rivals_agree_on_plain_copies(name: str, tiny: Corpus, tmp_path: Path):
    engine = PLAN["engine"][name]
    own = ROOT / "benchmarks" / engine.get("environment", ".venv") / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    if versions(python, engine["packages"]) is None:
        pytest.skip("a rival is not installed (make bench-pipeline)")
    out = tmp_path / "labels.npy"
    script = [python, "-m", f"benchmarks.pipeline.engines.{name}", str(tiny.path), str(out), "2"]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(tmp_path),
        "HF_HOME": str(tmp_path / "hf"),
    }
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert together(np.load(out)) == EXPECTED


@pytest.mark.process
def test_ours_agrees_and_its_cost_is_measured(tiny: Corpus, tmp_path: Path):
    out = tmp_path / "findings"
    command = ours.command(tiny.path, out, 2)
    cost = run(command, folder=tmp_path, environment=dict(os.environ), timeout=600)
    assert cost.code == 0, cost.errors
    made = ours.read(out, cost.output, 60)
    assert together(made.keepers) == EXPECTED
    assert cost.cpu > 0 and 0 < cost.wall < 600 and cost.peak > 20e6
    found = truth.score(tiny, made.keepers, made.keepers, made.pairs, made.first)
    assert (found["recall"], found["removal_precision"], found["pair_precision"]) == (1, 1, 1)
    assert (found["clusters"], found["removed"], found["known_pairs"]) == (20, 40, 40)


@pytest.mark.process
def test_memory_of_descendants_counts_and_a_timeout_ends_them(tmp_path: Path):
    held = "import sys,time;held=bytearray(b'x')*{0};time.sleep({1});sys.exit(3)"
    inner = held.format(80_000_000, 1)
    outer = (
        "import subprocess,sys;held=bytearray(b'x')*60_000_000;"
        f"sys.exit(subprocess.call([sys.executable,'-c',{inner!r}]))"
    )
    cost = run([sys.executable, "-c", outer], folder=tmp_path, environment=dict(os.environ), timeout=600)
    assert cost.code == 3
    assert 140e6 < cost.peak < 260e6 and cost.anonymous > 140e6
    (tmp_path / "left").write_bytes(b"x" * 1000)
    forever = [sys.executable, "-c", "import time;time.sleep(1000)"]
    cost = run(forever, folder=tmp_path, environment=dict(os.environ), timeout=0.5)
    assert cost.code == -9 and cost.wall < 500 and cost.disk >= 1000


def test_wrong_clusters_score_badly(tiny: Corpus):
    one = np.zeros(60, np.int64)
    found = truth.score(tiny, one, one)
    assert found["recall"] == 1 and found["removal_precision"] < 0.1 and found["pair_precision"] < 0.1
    alone = np.arange(60)
    first = np.concatenate([alone[:20], alone])[:60]
    first[40:] = alone[40:]
    found = truth.score(tiny, alone, alone, (alone[:0], alone[:0]), first)
    assert found["recall"] == 0 and found["removal_precision"] is None and found["removed"] == 0
    assert found["reported_recall"] == 0.5  # copies of the same words need no listing


def test_words_of_the_truth():
    assert truth.tokens("Straße, don't 4x_y ﬁn") == ["strasse", "don", "t", "4x_y", "fin"]
    assert truth.tokens("漢字 हिन्दी") == ["漢", "字", "हिन्दी"]
    assert truth.jaccard(list("abcdef"), list("abcdeg")) == 1 / 3
    assert truth.jaccard([], []) == 0


COST = {"seconds": 1.0, "cpu_seconds": 1.0}
PARTS = {
    **{name: COST for name in ("scan", "dedup", "simhash", "bits")},
    "help": 0.05,
    "ten_documents": 0.3,
    "stages": {"read": [1.2, 0.6]},
    "bound": {"parse": 0.2, "both": 1.0},
    **{name: COST | {"ratio": 1.1} for name in ("library list", "library arrow")},
}


def result() -> dict:
    """What a run gives in which every aim holds."""
    score = {"recall": 1.0, "removal_precision": 1.0, "known_pairs": 10, "pair_precision": 1.0, "clusters": 3}
    rows = []
    for name, documents, seconds in (
        ("real", 80_000, 2.5),
        ("100k", 100_000, 2),
        ("300k", 300_000, 6),
        ("1m", 10**6, 20),
    ):
        size = 400e6 if name == "real" else documents * 2000
        rows.append(
            {"corpus": name, "engine": "ours", "seconds": seconds, "documents": documents, "bytes": int(size)}
            | {"mb_per_second": size / 1e6 / seconds, "peak_bytes": 300 * documents + 10**8, "part": False}
            | {"score": score, "cpu_seconds": 1.0, "disk_bytes": documents, "holds": "", "versions": {}}
        )
    rivals = (("real", "daft", 3.1), ("real", "rensa", 13), ("real", "gaoya", 9), ("real", "datasketch", 23))
    for name, engine, times in (*rivals, ("1m", "daft", 3.1)):
        row = copy.deepcopy(next(row for row in rows if row["corpus"] == name))
        slow = {"seconds": row["seconds"] * times, "mb_per_second": row["mb_per_second"] / times}
        rows.append(row | slow | {"engine": engine, "cpu_seconds": 3.6, "part": engine == "datasketch"})
    facts = {"documents": 1, "bytes": 1, "sha256": "0" * 64}
    corpora = {name: facts for name in PLAN["corpus"]}
    return {
        "rows": rows,
        "parts": PARTS,
        "corpora": corpora,
        "threads": 2,
        "machine": MACHINE,
        "date": "2026-01-01",
        "commit": "c",
    }


def test_aims_hold_and_can_fail():
    good = result()
    assert all(one["holds"] for one in checks.judge(PLAN["aims"], good))

    def failing(change) -> list[str]:
        made = result()
        change({(row["corpus"], row["engine"]): row for row in made["rows"]})
        return [one["says"] for one in checks.judge(PLAN["aims"], made) if not one["holds"]]

    def slower(rows):
        rows["real", "daft"]["seconds"] = 7.4

    def greedy(rows):
        rows["1m", "ours"]["peak_bytes"] = 450_000_001

    def imprecise(rows):
        rows["1m", "ours"]["score"] = rows["1m", "ours"]["score"] | {"removal_precision": 0.999}

    def steeper(rows):
        rows["1m", "ours"]["seconds"] = 30

    assert [says for says in failing(slower) if "daft" in says]
    assert [says for says in failing(greedy) if "memory" in says]
    assert len(failing(imprecise)) == 2
    assert [says for says in failing(steeper) if "time per document" in says]
    without = result()
    without["rows"] = [row for row in without["rows"] if row["engine"] != "rensa"]
    assert [one for one in checks.judge(PLAN["aims"], without) if not one["holds"] and "rensa" in one["says"]]


def test_only_what_got_worse_is_a_regression():
    """A missed aim is none, if it was missed before too."""
    before = result()
    before["rows"][0]["seconds"] = 10.0
    before["checks"] = checks.judge(PLAN["aims"], before)
    assert not all(one["holds"] for one in before["checks"])
    assert checks.regressions(before, before["checks"], PLAN["regression"]) == []
    assert checks.regressions({}, before["checks"], PLAN["regression"]) == []
    after = copy.deepcopy(before)
    after["rows"][0]["seconds"] = 14.0
    after["rows"][0]["score"] = after["rows"][0]["score"] | {"recall": 0.98}
    found = checks.regressions(before, checks.judge(PLAN["aims"], after), PLAN["regression"])
    assert any("daft on the clock" in one for one in found) and any("real: recall" in one for one in found)
    assert not any("CPU" in one or "1m" in one for one in found)


def test_the_page_says_what_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(table, "TEN_MILLION", tmp_path / "ten-million.json")
    made = result()
    made["rows"].append({"corpus": "real", "engine": "gaoya", "not_run": "gaoya not installed"})
    made["checks"] = [{"says": "a ratio", "holds": False}]
    page = table.page(made)
    assert "**does not hold**: a ratio" in page and "gaoya was not run: gaoya not installed" in page
    assert "| **ours** | 160.0 |  | 2.5 |" in page
    assert "Not run yet" in page and "to parse and fingerprint it 1.00" in page
    row = {
        "documents": 10,
        "bytes": 10,
        "seconds": 1.0,
        "mb_per_second": 1.0,
        "cpu_seconds": 1,
        "peak_bytes": 10,
    }
    large = {"small": row, "large": row, "killed_after_shards": 3, "resumed": {"seconds": 1.0}}
    table.TEN_MILLION.write_text(
        json.dumps(large | {"commit": "c", "same_bytes": True, "time_per_document": 1.0})
    )
    assert "killed (SIGKILL) after 3 shards" in table.page(made)


@pytest.mark.slow
def test_a_corpus_is_the_same_every_time(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert (data / "tldr_short").is_dir()
    settings = {"kind": "real", "sets": ["tldr_short"], "documents": 2000, "median": 300}
    made = []
    for name in ("one", "other"):
        monkeypatch.setattr(corpus, "CACHE", tmp_path / name)
        made.append(corpus.build("real", settings, share=0.5))
    one, other = made
    assert one.facts == other.facts and one.facts["documents"] == 1000 + 1900
    assert all(np.array_equal(a, b) for a, b in zip(one.truth.columns(), other.truth.columns(), strict=True))
    assert (one.truth.words >= 0.8).sum() > 100
    ids = [json.loads(line)["id"] for line in one.path.read_bytes().splitlines()]
    assert ids == [f"d{row:09d}" for row in range(len(ids))]
    part = one.first(1)
    assert (
        1e6 <= part.facts["bytes"] < 1.1e6
        and part.path.read_bytes() == one.path.read_bytes()[: part.facts["bytes"]]
    )
    assert len(part.truth) == 0 or part.truth.right.max() < part.facts["documents"]


def test_recall_is_counted_against_brute_force(data: Path, monkeypatch: pytest.MonkeyPatch):
    assert (data / "tldr_short").is_dir()
    ids, texts = recall.load("tldr_short")
    file, lowest = recall.exact("tldr_short", ids)
    assert lowest == 0.3
    row = recall.compare("tldr_short", texts, file, 0.8)
    assert row["exact_pairs"] == 190 and not recall.judge([row])
    # A pipeline that loses a tenth of its pairs and makes one up is caught.
    said = recall.pipeline(texts, 0.8)
    spoiled = recall.Reported(set(sorted(said.pairs)[19:]) | {(0, 1)}, said.bands, 0)
    monkeypatch.setattr(recall, "pipeline", lambda texts, threshold: spoiled)
    row = recall.compare("tldr_short", texts, file, 0.8)
    assert (row["missed_by_search"], row["wrong"], row["recall"]) == (19, 1, 0.9)
    assert len(recall.judge([row])) == 2
    assert "Not reached" in recall.table({"rows": [row], "commit": "c", "failures": recall.judge([row])})
