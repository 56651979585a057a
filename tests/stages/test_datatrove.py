"""Blocks in datatrove pipelines: the answers are those of `scan`, and other documents are noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from neardup.errors import ConfigError, DataError

pytestmark = pytest.mark.usefixtures("datatrove")


def pages(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Documents of which every third is a changed copy of one before it; some have no text."""
    found = []
    for n in range(start, start + count):
        base = n - n % 3
        words = [f"word{(base * 37 + at * at * 11) % 4999}" for at in range(80)]
        text = " ".join(words) + (" copied once more" if n % 3 == 1 else "")
        if n % 3 == 2:
            text = " ".join(f"own{(n * 53 + at * at * 7) % 4999}" for at in range(80))
        found.append({"id": f"page {n}", "text": "" if n % 17 == 5 else text, "host": f"h{n % 4}"})
    return found


def written(folder: Path, files: int) -> Path:
    folder.mkdir()
    rows = pages(120)
    for number in range(files):
        part = rows[len(rows) * number // files : len(rows) * (number + 1) // files]
        (folder / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    return folder


def kept_ids(folder: Path) -> list[str]:
    files = sorted(folder.glob("*.jsonl"))
    return [json.loads(line)["id"] for path in files for line in path.read_text().splitlines()]


@pytest.mark.parametrize("tasks", [1, 3])
def test_the_answers_are_those_of_a_scan(tmp_path: Path, tasks: int) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    from neardup.stages.datatrove import DropDuplicates, SaveDocuments, find_duplicates

    corpus, run, found = written(tmp_path / "in", 3), tmp_path / "run", tmp_path / "found"
    reader = JsonlReader(str(corpus))
    dropped = JsonlWriter(str(tmp_path / "dropped"), compression=None)
    steps = [
        [reader, SaveDocuments(run)],
        *find_duplicates(run, found, nd.Config()),
        [
            reader,
            DropDuplicates(run, found, dropped, allow_mass_removal=True),
            JsonlWriter(str(tmp_path / "kept"), compression=None),
        ],
    ]
    for number, step in enumerate(steps):
        # One worker: tasks one after another, in this process.
        LocalPipelineExecutor(step, tasks=tasks, workers=1, logging_dir=str(tmp_path / f"log{number}")).run()
    scanned = nd.scan(corpus, tmp_path / "scan")
    expected = set(scanned.ids(np.flatnonzero(scanned.cut().kept)))
    # datatrove's reader leaves documents without text out.
    without = {row["id"] for row in pages(120) if not row["text"]}
    assert sorted(kept_ids(tmp_path / "kept")) == sorted(expected - without)
    assert sorted(kept_ids(tmp_path / "kept") + kept_ids(tmp_path / "dropped")) == sorted(
        row["id"] for row in pages(120) if row["text"]
    )
    assert 20 < len(kept_ids(tmp_path / "dropped")) < 60


def test_other_documents_are_refused(tmp_path: Path) -> None:
    from datatrove.data import Document

    from neardup.stages.datatrove import DropDuplicates, SaveDocuments, Stage, find_duplicates

    run, found = tmp_path / "run", tmp_path / "found"
    documents = [Document(row["text"] or "nothing here", row["id"]) for row in pages(30)]
    with pytest.raises(ConfigError, match="there are fingerprint, exact"):
        Stage("sort", run, found)
    (first, *later) = find_duplicates(run, found)
    list(SaveDocuments(run).run(documents, 0, 2))
    with pytest.raises(DataError, match="the documents of task 1 are not saved"):
        list(first[0].run(None, 0, 2))
    list(SaveDocuments(run).run([], 1, 2))
    with pytest.raises(DataError, match="holds no findings"):
        list(DropDuplicates(run, found).run(documents, 0, 2))
    for rank in (0, 1):
        list(first[0].run(None, rank, 2))
    with pytest.raises(ConfigError, match="begun with 2 tasks, and this pipeline has 3"):
        list(later[0][0].run(None, 0, 3))
    for step in later:
        for rank in (0, 1):
            list(step[0].run(None, rank, 2))
    drop = DropDuplicates(run, found, allow_mass_removal=True)
    kept = [document.id for document in drop.run(documents, 0, 2)]
    assert 15 < len(kept) < 30 and list(drop.run([], 1, 2)) == []
    with pytest.raises(DataError, match="fewer documents than were saved"):
        list(drop.run(documents[:-1], 0, 2))
    for others in ([*documents, Document("one more", "x")], list(reversed(documents))):
        with pytest.raises(DataError, match="read the same ones in the same order"):
            list(drop.run(others, 0, 2))
