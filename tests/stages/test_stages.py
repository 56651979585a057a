"""A scan as tasks: the findings are those of `scan`, for any number of tasks, and after a task was killed."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command_server import command_folder

import neardup as nd
from neardup import stages
from neardup.errors import ConfigError, DataError, UnreadableInput
from neardup.findings.scan_steps import reading_columns
from neardup.search import crowds
from neardup.stages.plan import Resources

NEARDUP = [sys.executable, "-m", "neardup"]
COLUMNS = reading_columns(
    text=None, id=None, format=None, include=(), exclude=(), ext=(), hidden=False, no_ignore=False,
    encoding=None, delimiter=None,
)  # fmt: skip
FILES = ("documents.nd", "pairs.nd", "texts.nd", "documents.rejects.jsonl")


def split(data: Path, name: str, folder: Path, files: int = 16, most: int = 100_000) -> Path:
    """A labelled set as a folder of JSONL files, one of them with a line that is no JSON."""
    with gzip.open(data / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = file.readlines()[:most]
    folder.mkdir()
    for number in range(files):
        part = lines[len(lines) * number // files : len(lines) * (number + 1) // files]
        (folder / f"{number:02}.jsonl").write_text("".join(part), encoding="utf-8")
    with (folder / "03.jsonl").open("a") as file:
        file.write("no JSON\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    return folder


def staged(corpus: Path, run: Path, out: Path, tasks: int, config: nd.Config) -> nd.Findings:
    for task in range(tasks):
        stages.fingerprint([corpus], run, task, tasks, config, columns=COLUMNS)
    for stage in (stages.exact, stages.shuffle, stages.verify):
        for task in range(tasks):
            stage(run, task)
    return stages.cluster(run, out)


def same(here: Path, there: Path) -> None:
    """The same findings byte by byte, and the same account."""
    for name in FILES:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
    one, other = (json.loads((folder / "manifest.json").read_text()) for folder in (here, there))
    different = {name for name in one if one[name] != other.get(name)}
    assert different <= {"created", "seconds", "threads", "counts", "checksum", "memory"}
    counts = {name for name in one["counts"] if one["counts"][name] != other["counts"][name]}
    assert counts <= {"shards"}


CONFIGS = {
    "minhash": nd.Config(),
    "low": nd.Config.of(threshold=0.5, keep=nd.Keep(by="first")),
    "simhash": nd.Config(
        fingerprint=nd.Simhash(), features=nd.Shingles(1), search=nd.search.Join(6), verify=nd.Jaccard(0.6)
    ),
    "exact": nd.Config.of("exact"),
    "supers": nd.Config.of("supers"),
    "digits": nd.Config.of(features=nd.Shingles(5, normalize=nd.Normalize(digits="fold"))),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_findings_are_those_of_a_scan(data: Path, tmp_path: Path, name: str) -> None:
    corpus = split(
        data, "tldr_short" if name in ("low", "digits") else "k8s_docs_rev", tmp_path / "in", most=400
    )
    config = CONFIGS[name]
    nd.scan(corpus, tmp_path / "scan", config)
    for tasks in (1, 5):
        staged(corpus, tmp_path / f"run{tasks}", tmp_path / f"found{tasks}", tasks, config)
        same(tmp_path / "scan", tmp_path / f"found{tasks}")


def test_large_groups_of_equal_fingerprints(tmp_path: Path) -> None:
    """Pairs that are implied, buckets that are capped: the same with tasks."""
    chance = np.random.default_rng(5)
    words = [f"w{number}" for number in range(300)]
    base = [" ".join(chance.choice(words, 60)) for _ in range(3)]
    corpus = tmp_path / "in"
    corpus.mkdir()
    for number in range(6):
        rows = []
        for row in range(100):
            text = base[row % 3].split()
            # The order of two words changes the text; one more sentence at the end changes few shingles.
            text += [["also"], ["also", "this"], ["and", str(row % 7)]][number % 3]
            rows.append(json.dumps({"id": f"{number}-{row}", "text": " ".join(text) + "!" * (row % 5)}))
        (corpus / f"{number}.jsonl").write_text("\n".join(rows) + "\n")
    config = nd.Config(search=nd.LSH(20, 5, cap=20, spread=2), verify=nd.Jaccard(0.6), protect=())
    nd.scan(corpus, tmp_path / "scan", config)
    staged(corpus, tmp_path / "run", tmp_path / "found", 4, config)
    same(tmp_path / "scan", tmp_path / "found")


def test_large_buckets_without_duplicates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of such buckets are verified while tables are joined, each table by some task."""
    monkeypatch.setattr(crowds, "FREE", 1 << 16)  # small corpora are checked as large ones are
    monkeypatch.setattr(crowds, "PER_ROW", 2)
    draw = random.Random(2)
    base = [f"w{draw.randrange(50_000)}" for _ in range(60)]
    texts = []
    for _ in range(2500):
        words = list(base)
        for place in draw.sample(range(60), 2):
            words[place] = f"w{draw.randrange(1 << 20)}"
        texts.append(" ".join(words))
    (tmp_path / "in").mkdir()
    for number in range(5):
        lines = (json.dumps({"id": f"{number}-{i}", "text": t}) for i, t in enumerate(texts[number::5]))
        (tmp_path / "in" / f"{number}.jsonl").write_text("\n".join(lines) + "\n")
    config = nd.Config()
    expected = nd.scan(tmp_path / "in", tmp_path / "expected", config)
    assert expected.manifest["counts"]["capped"] > 0
    staged(tmp_path / "in", tmp_path / "run", tmp_path / "found", 3, config)
    same(tmp_path / "found", tmp_path / "expected")


def run_command(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [str(command_folder() / "neardup"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


@pytest.mark.process
@pytest.mark.parametrize(("name", "tasks"), [("k8s_docs_rev", 4), ("tldr_short", 16)])
def test_separate_processes_of_which_one_is_killed(data: Path, tmp_path: Path, name: str, tasks: int) -> None:
    corpus = split(data, name, tmp_path / "in", most=400)
    done = run_command("scan", corpus, "--out", tmp_path / "scan")
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    # The first task is killed on its way, and the script starts it again.
    first = ["stage", "fingerprint", str(corpus), "--run", str(run), "--task", "0", "--tasks", str(tasks)]
    process = subprocess.Popen([*NEARDUP, *first], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not (run / "fingerprint").exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    script = Path(__file__).parents[2] / "examples" / "tasks.sh"
    environment = dict(os.environ) | {"PATH": f"{command_folder()}:{os.environ['PATH']}"}
    places = [str(corpus), str(tmp_path / "found"), str(tmp_path / "kept")]
    done = subprocess.run(
        ["sh", str(script), *places, str(tasks), "--allow-mass-removal"],
        capture_output=True, text=True, timeout=600, env=environment | {"RUN": str(run)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    same(tmp_path / "scan", tmp_path / "found")
    nd.apply(tmp_path / "scan", f"{tmp_path / 'applied'}/", allow_mass_removal=True)
    written = sorted(path.name for path in (tmp_path / "applied").iterdir())
    assert sorted(path.name for path in (tmp_path / "kept").glob("[!.]*")) == written
    for file in written:
        assert (tmp_path / "kept" / file).read_bytes() == (tmp_path / "applied" / file).read_bytes()


def test_a_task_done_is_not_done_again_and_an_unfinished_stage_is_named(data: Path, tmp_path: Path) -> None:
    corpus, run = split(data, "tldr_short", tmp_path / "in", most=200), tmp_path / "run"
    config = nd.Config()
    with pytest.raises(DataError, match="holds no run; begin with `neardup stage fingerprint"):
        stages.exact(run, 0)
    stages.fingerprint([corpus], run, 0, 3, config, columns=COLUMNS)
    shard = run / "fingerprint" / "00000" / "00000.shard"
    before = shard.stat().st_mtime_ns
    stages.fingerprint([corpus], run, 0, 3, config, columns=COLUMNS)
    assert shard.stat().st_mtime_ns == before
    with pytest.raises(DataError, match=r"stage fingerprint is not finished: run its tasks 1, 2 "):
        stages.exact(run, 0)
    with pytest.raises(ConfigError, match="a run of other inputs, settings or tasks"):
        stages.fingerprint([corpus], run, 1, 4, config, columns=COLUMNS)
    with pytest.raises(ConfigError, match="a run of other inputs, settings or tasks"):
        stages.fingerprint([corpus], run, 1, 3, nd.Config.of(threshold=0.6), columns=COLUMNS)
    with pytest.raises(ConfigError, match="task 3 of 3: tasks are numbered from 0"):
        stages.fingerprint([corpus], run, 3, 3, config, columns=COLUMNS)
    (corpus / "00.jsonl").write_text('{"text": "another"}\n')
    with pytest.raises((ConfigError, DataError)):
        stages.fingerprint([corpus], run, 1, 3, config, columns=COLUMNS)


def test_configs_that_need_the_whole_corpus_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "some words"}\n')
    pruned = nd.Config(filters=nd.Filters(prune=True))
    for config in (nd.Config.of("simhash"), nd.Config(templates=nd.Templates(0.5)), pruned):
        with pytest.raises(ConfigError, match="whole corpus"):
            stages.fingerprint([tmp_path / "a.jsonl"], tmp_path / "run", 0, 1, config, columns=COLUMNS)
        assert not (tmp_path / "run").exists()


def test_too_many_rejected_rows(tmp_path: Path) -> None:
    corpus = tmp_path / "in"
    corpus.mkdir()
    for number in range(3):
        (corpus / f"{number}.jsonl").write_text('{"text": "some words of a text"}\nno JSON\n')
    config = nd.Config()
    with pytest.raises(UnreadableInput):
        staged(corpus, tmp_path / "run", tmp_path / "found", 3, config)
    assert not (tmp_path / "found").exists()
    assert len((tmp_path / "found.rejects.jsonl").read_text().splitlines()) == 3
    found = stages.cluster(
        tmp_path / "run", tmp_path / "found", allow_rejects=0.5, resources=Resources(threads=2)
    )
    rows = found.manifest["account"]["rows"]
    assert (rows["read"], rows["documents"], sum(rows["rejected"].values())) == (6, 3, 3)
    assert sum(found.manifest["counts"]["rejected"].values()) == 3
    with pytest.raises(ConfigError, match="add --overwrite"):
        stages.cluster(tmp_path / "run", tmp_path / "found", allow_rejects=0.5)


@pytest.mark.process
def test_errors_of_the_command_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    done = run_command("stage", "verify", tmp_path / "run", "--task", 0)
    assert done.returncode == 1 and done.stderr.startswith("neardup: ") and "Traceback" not in done.stderr
    done = run_command(
        "stage", "fingerprint", "-", "--run", tmp_path / "run", "--task", 0, "--tasks", 1, input="x"
    )
    assert done.returncode == 1 and "standard input" in done.stderr


def test_output_is_never_written_over_something_else(tmp_path: Path) -> None:
    corpus = tmp_path / "in"
    corpus.mkdir()
    for number in range(2):
        (corpus / f"{number}.jsonl").write_text('{"text": "some words of a text"}\n')
    nd.scan(corpus, tmp_path / "found")
    before = [path.read_bytes() for path in sorted(corpus.iterdir())]
    with pytest.raises(ConfigError, match="is not empty"):
        stages.filter_inputs(tmp_path / "found", corpus, 0, 2, allow_mass_removal=True)
    assert [path.read_bytes() for path in sorted(corpus.iterdir())] == before
    for task in (0, 1, 0):
        stages.filter_inputs(tmp_path / "found", tmp_path / "kept", task, 2, allow_mass_removal=True)
    with pytest.raises(ConfigError, match="the output of other findings"):
        stages.filter_inputs(
            tmp_path / "found", tmp_path / "kept", 0, 2, write="dropped", allow_mass_removal=True
        )
