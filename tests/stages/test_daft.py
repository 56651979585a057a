"""Daft runs the stages: the kept documents are those of `scan`, and other rows in the same run are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import neardup as nd
from neardup.errors import ConfigError

# Not in the test extra: 150 MB, and it holds back the version of pyarrow that all other tests use.
daft = pytest.importorskip("daft", reason="daft is not installed (pip install 'neardup[daft]')")


def rows(count: int) -> list[dict[str, object]]:
    found = []
    for n in range(count):
        base = n - n % 2
        text = " ".join(f"word{(base * 37 + at * at * 11) % 4999}" for at in range(60))
        found.append({"id": f"page {n}", "text": text + (" copied" if n % 4 == 1 else f" {n} " * 40), "n": n})
    return found


def scanned(tmp_path: Path, count: int) -> tuple[Path, list[str]]:
    """A corpus of three files, and the ids that a scan keeps."""
    corpus = tmp_path / "in"
    corpus.mkdir()
    lines = [json.dumps(row) + "\n" for row in rows(count)]
    for number in range(3):
        part = lines[len(lines) * number // 3 : len(lines) * (number + 1) // 3]
        (corpus / f"{number}.jsonl").write_text("".join(part))
    found = nd.scan(corpus, tmp_path / "scan")
    nd.apply(found, tmp_path / "kept.jsonl", allow_mass_removal=True)
    return corpus, [json.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("given", ["frame", "files"])
def test_the_answers_are_those_of_a_scan(tmp_path: Path, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from neardup.stages import daft as adapter

    monkeypatch.setattr(adapter, "ROWS", 25)  # several files
    corpus, expected = scanned(tmp_path, 90)
    inputs = daft.from_pylist(rows(90)) if given == "frame" else corpus
    kept = adapter.dedup(inputs, tmp_path / "run", tasks=2, allow_mass_removal=True).to_pydict()
    assert kept["id"] == expected and 30 < len(expected) < 90
    assert kept["n"] == [int(id.split()[1]) for id in expected]
    found = nd.Findings(tmp_path / "run" / "findings")
    assert found.cut().kept.sum() == len(expected)

    # The same call again uses what is there; another config, or other rows, are refused.
    again = adapter.dedup(inputs, tmp_path / "run", tasks=2, allow_mass_removal=True, write="dropped")
    assert sorted(again.to_pydict()["id"] + expected) == sorted(str(row["id"]) for row in rows(90))
    with pytest.raises(Exception, match="other inputs, settings or tasks"):
        adapter.find_duplicates(inputs, tmp_path / "run", nd.Config.of(threshold=0.5), tasks=2)
    if given == "frame":
        with pytest.raises(ConfigError, match="a run of other rows"):
            adapter.dedup(daft.from_pylist(rows(89)), tmp_path / "run", tasks=2)


def test_what_it_does_not_take(tmp_path: Path) -> None:
    from neardup.stages import daft as adapter

    with pytest.raises(ConfigError, match="not list"):
        adapter.dedup([1, 2], tmp_path / "run")
    (tmp_path / "page.txt").write_text("a text of some words")
    with pytest.raises(ConfigError, match="Parquet, JSONL or CSV"):
        adapter.dedup(tmp_path / "page.txt", tmp_path / "run", tasks=1)
