"""Keep policies after a scan: by any field of the inputs, by source, and for each language."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command import run
from support.corpora import read_jsonl, write_jsonl

import neardup as nd
from neardup.clusters.keepers import Keep, field_value

pytestmark = pytest.mark.process
TEXT = "the ferry leaves the north pier at eight each morning and returns at noon except on holidays"
VALUES = {
    "a": {"date": "2024-05-01", "views": 7, "site": "x"},
    "b": {"date": "2026-01-31T12:00:00+02:00", "views": "12.5", "site": "y"},
    "c": {"date": "2026-01-31T11:00:00Z", "views": None, "site": "y"},
    "d": {"date": "yesterday", "views": -3, "site": "x"},
    "e": {"views": 2},
}


@pytest.fixture(scope="module")
def scanned(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("policies")
    path = write_jsonl(folder / "in.jsonl", [{"id": id, "text": TEXT, **more} for id, more in VALUES.items()])
    assert run("scan", path, "-o", str(folder / "found")).returncode == 0
    return folder


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("newest:date", "c"),
        ("oldest:date", "a"),
        ("highest:views", "b"),
        ("lowest:views", "d"),
        ("score:views", "b"),
        ("last", "e"),
    ],
)
def test_any_field_decides_after_the_scan_as_in_it(scanned, tmp_path, policy, kept):
    found, path = str(scanned / "found"), str(scanned / "in.jsonl")
    arguments = ["--keep", policy, "--allow-mass-removal", "--out"]
    result = run("apply", found, *arguments, str(tmp_path / "after.jsonl"))
    assert result.returncode == 0, result.stderr
    assert [row["id"] for row in read_jsonl(tmp_path / "after.jsonl")] == [kept]
    result = run("dedup", path, *arguments, str(tmp_path / "at-once.jsonl"))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "at-once.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()


def test_a_field_without_values_is_an_error(scanned, tmp_path):
    result = run(
        "apply", str(scanned / "found"), "--keep", "newest:published", "--out", str(tmp_path / "x.jsonl")
    )
    assert result.returncode == 1 and b"'published'" in result.stderr


def test_an_input_that_changed_is_an_error(tmp_path):
    path = Path(write_jsonl(tmp_path / "in.jsonl", [{"id": i, "text": TEXT, "n": i} for i in range(3)]))
    assert run("scan", str(path), "-o", str(tmp_path / "found")).returncode == 0
    path.write_bytes(path.read_bytes().replace(b'"n": 1', b'"n": 9'))
    result = run("clusters", str(tmp_path / "found"), "--keep", "highest:n")
    assert result.returncode == 1 and b"has changed since it was scanned" in result.stderr


def test_the_source_may_be_chosen_afterwards(scanned, tmp_path):
    arguments = ["--source", "site", "--among", "within", "--allow-mass-removal", "--out"]
    for command in (["apply", str(scanned / "found")], ["dedup", str(scanned / "in.jsonl")]):
        out = tmp_path / f"{command[0]}.jsonl"
        result = run(*command, *arguments, str(out))
        assert result.returncode == 0, result.stderr
        assert [row["id"] for row in read_jsonl(out)] == ["a", "b", "e"]


def test_one_of_each_language(tmp_path):
    english = (
        "the ferry leaves the harbour every morning and comes back in the evening with many people on board"
    )
    german = "die Fähre verlässt den Hafen jeden Morgen und kommt am Abend mit vielen Menschen an Bord zurück"
    path = write_jsonl(
        tmp_path / "in.jsonl",
        [
            {"id": f"{name}{i}", "text": text}
            for i in range(3)
            for name, text in (("en", english), ("de", german))
        ],
    )
    assert run("scan", path, "-o", str(tmp_path / "found")).returncode == 0
    from neardup.findings import Findings
    from neardup.findings.decision_log import DecisionLog

    made = Findings(tmp_path / "found")
    rows = sorted((made.row_of("en0"), made.row_of("de0")))
    DecisionLog(made).add("accept", rows[0], rows[1], 0.9)  # a person takes them for the same
    for more, kept in ((["--by-language"], {"en0", "de0"}), (["--by-language", "--many", "2"], 4), ([], 1)):
        out = tmp_path / "out.jsonl"
        arguments = ["--allow-mass-removal", "--overwrite", "--keep", "first", "--out", str(out)]
        assert run("apply", str(tmp_path / "found"), *more, *arguments).returncode == 0
        ids = {row["id"] for row in read_jsonl(out)}
        assert ids == kept if isinstance(kept, set) else len(ids) == kept


def test_values_are_numbers_or_dates():
    day = 86400.0
    for value, expected in (
        (3, 3.0),
        ("3.5", 3.5),
        (" -1e3 ", -1000.0),
        ("1970-01-02", day),
        ("1970-01-02T00:00:00Z", day),
        ("1970-01-02T02:00:00+02:00", day),
        ("1970-01-02 00:00:00", day),
        (np.float32(2), 2.0),
        (10**400, float("inf")),
    ):
        assert field_value(value) == expected
    for value in (None, True, "soon", [], {}, "", float("nan")):
        assert np.isnan(field_value(value))
    times = Keep(by="newest", score="when")
    for value in ("1970", 19700101, "19700101", 0, "1970-01-01"):
        assert times.value_of({"when": value}) == 0.0
    for value in (1704067200, "1704067200000", 1704067200 * 10**6, 1704067200 * 10**9, "2024", 20240101):
        assert times.value_of({"when": value}) == 1704067200.0
    assert times.value_of({"when": 20240199}) == 20240199, "no day of the calendar"
    assert Keep(by="highest", score="when").value_of({"when": 20240101}) == 20240101
    with pytest.raises(nd.ConfigError, match="newest"):
        Keep(by="newest")
    assert json.loads(
        json.dumps(nd.Config(keep=Keep(by="oldest", score="date", by_language=True)).to_plain())
    )


def test_documents_without_a_value_are_counted(tmp_path):
    words = " ".join(f"word{n}" for n in range(40))
    dates = ["2024-01-05", None, "", "last week", "20240301", "2024-02-01T10:00:00+02:00"]
    rows = [{"id": str(n), "text": f"{words} {'x' * n}", "date": date} for n, date in enumerate(dates)]
    path, found, out = tmp_path / "in.jsonl", tmp_path / "found", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = b"3 documents have no number or ISO date in the field 'date', and are kept only if no duplicate has one"
    scanned = run("scan", str(path), "--keep", "newest:date", "--out", str(found))
    assert scanned.returncode == 0 and said in scanned.stdout
    for policy, kept in (("newest:date", "4"), ("oldest:date", "0"), ("highest:date", "5")):
        done = run("apply", str(found), "--keep", policy, "--out", str(out), "--overwrite")
        assert done.returncode == 0 and said in done.stdout, done.stderr
        assert [row["id"] for row in read_jsonl(out)] == [kept]
    done = run("apply", str(found), "--keep", "longest", "--out", str(out), "--overwrite")
    assert b"ISO date" not in done.stdout
