"""`neardup repeats` as its user sees it."""

import hashlib
import json
from pathlib import Path

import pytest
from support.command import run

from neardup import sample

LINE = "All rights reserved by the owners of this site and their friends"
STORY = " ".join(f"word{i}" for i in range(60))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "in.jsonl"
    rows = [
        {"url": "a", "body": f"First page.\n{LINE}.\n{STORY}", "n": 1},
        {"url": "b", "body": f"Second page.\n{LINE.upper()}\nAs they say: {STORY}!", "n": 2},
        {"url": "c", "body": LINE, "n": 3},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_lines_are_stripped(corpus, tmp_path):
    before = hashlib.sha256(Path(corpus).read_bytes()).hexdigest()
    out, report = tmp_path / "out.jsonl", tmp_path / "report.jsonl"
    arguments = ["--text", "body", "--id", "url", "--unit", "line", "--drop-empty", "-o", str(out)]
    result = run("repeats", corpus, *arguments, "--report", str(report))
    assert result.returncode == 0, result.stderr
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"url": "a", "body": f"First page.\n{LINE}.\n{STORY}", "n": 1},
        {"url": "b", "body": f"Second page.\nAs they say: {STORY}!", "n": 2},
    ]
    (described,) = [json.loads(line) for line in report.read_text().splitlines()]
    assert described["count"] == described["documents"] == 3 and described["words"] == 12
    assert [place["id"] for place in described["occurrences"]] == ["a", "b", "c"]
    assert (
        b"1 repeated line of at least 8 words" in result.stdout
        and b"1 document has no words" in result.stdout
    )
    assert hashlib.sha256(Path(corpus).read_bytes()).hexdigest() == before


def test_passages_are_cut(corpus, tmp_path):
    out = tmp_path / "out.jsonl"
    result = run("repeats", corpus, "--text", "body", "-o", str(out), "--json")
    said = json.loads(result.stdout)
    assert said["unit"] == "passage" and said["distinct"] == 1 and said["top"][0]["words"] == 60
    texts = [json.loads(line)["body"] for line in out.read_text().splitlines()]
    assert texts == [f"First page.\n{LINE}.\n{STORY}", f"Second page.\n{LINE.upper()}\nAs they say:", LINE]


def test_nothing_is_written_without_out(corpus, tmp_path):
    result = run(
        "repeats", corpus, "--text", "body", "--unit", "paragraph", "--min-length", "5", "--least", "3"
    )
    assert result.returncode == 0 and b"0 bytes (0.0%) would be cut" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_the_sample(tmp_path):
    outs = []
    for settings in (["--threads", "1"], ["--threads", "2", "--memory", "1MB", "--scratch", str(tmp_path)]):
        out = tmp_path / f"{len(outs)}.parquet"
        result = run("repeats", str(sample.path()), "-o", str(out), *settings)
        assert result.returncode == 0 and b"repeated passages" in result.stdout, result.stderr
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["/no/such/file.jsonl"], 1, "no such file"),
        (["IN", "--unit", "page"], 2, "unit"),
        (["IN", "--min-length", "1"], 1, "min_length"),
        (["IN", "--memory", "lots"], 1, "lots"),
        (["IN", "--out", "IN"], 1, "one of the inputs"),
        (["IN", "-o", "/no/such/folder/out.jsonl"], 1, "/no/such/folder"),
        ([], 2, "INPUTS"),
    ],
)
def test_mistakes_are_reported_plainly(corpus, arguments, code, says):
    result = run(
        "repeats",
        *[corpus if a == "IN" else a for a in arguments],
        *(["--text", "body"] if arguments else []),
    )
    assert result.returncode == code and says.lower() in result.stderr.decode().lower(), result.stderr


def test_what_pages_say_is_not_obeyed_by_a_terminal(tmp_path):
    path = tmp_path / "in.jsonl"
    rows = [{"id": f"{n}\a", "text": f"{n}\n\x9b2J\a {LINE}"} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("repeats", str(path), "--unit", "line")
    assert result.returncode == 0 and LINE[:40] in result.stdout.decode(), result.stderr
    assert not {"\a", "\x9b"} & set(result.stdout.decode())
