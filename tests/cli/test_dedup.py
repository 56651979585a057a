"""`neardup dedup` as its user sees it: files in, the documents worth keeping out."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest
from support.command import run

from neardup import sample

STORY = "The ferry leaves the north pier at eight each morning and returns at noon except on public holidays"
OTHER = (
    "Whisk the eggs with the sugar until they are pale then fold in the flour and the melted butter slowly"
)


def jsonl(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def corpus(tmp_path):
    rows = [
        {"url": "a", "body": STORY, "n": 1},
        {"url": "b", "body": STORY.upper() + "!", "n": 2},
        {"url": "c", "body": STORY + " and on the day after", "n": 3},
        {"url": "d", "body": OTHER, "n": 4},
        {"url": "e", "body": "", "n": 5},
    ]
    return jsonl(tmp_path / "in.jsonl", rows)


def test_kept_documents_keep_their_columns(corpus, tmp_path):
    before = hashlib.sha256(Path(corpus).read_bytes()).hexdigest()
    out = tmp_path / "kept.jsonl"
    result = run("dedup", corpus, "--text", "body", "--id", "url", "--threshold", "0.7", "-o", str(out))
    assert result.returncode == 0, result.stderr
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"url": "c", "body": STORY + " and on the day after", "n": 3},
        {"url": "d", "body": OTHER, "n": 4},
        {"url": "e", "body": "", "n": 5},
    ]
    assert b"5 documents: 3 kept, 2 dropped" in result.stdout
    assert hashlib.sha256(Path(corpus).read_bytes()).hexdigest() == before


def test_json_says_what_explains_each(corpus, tmp_path):
    arguments = ["dedup", corpus, "--text", "body", "--id", "url", "--threshold", "0.7", "--json"]
    said = json.loads(run(*arguments).stdout)
    assert said["kept"] == 3 and said["exact"] == 1 and said["empty"] == 1 and said["out"] is None
    findings = str(tmp_path / "found")
    assert json.loads(run(*arguments, "--findings", findings).stdout)["findings"] == findings
    (listed,) = json.loads(run("clusters", findings, "--json").stdout)["listed"]
    assert listed["keeper"] == "c" and {m["id"] for m in listed["members"] if not m["kept"]} == {"a", "b"}


def test_bad_lines_are_rejected_and_the_rest_is_read(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"id": 1, "text": "fine words"}\n{"id": 2, "text": \n{"id": 3, "text": 7}\n\xff\xfe\n')
    out = tmp_path / "kept.jsonl"
    result = run("dedup", str(path), "-o", str(out), "--allow-rejects", "1")
    assert result.returncode == 0 and len(out.read_text().splitlines()) == 2
    rejects = [
        json.loads(line) for line in Path(f"{out}.findings/documents.rejects.jsonl").read_text().splitlines()
    ]
    assert len(rejects) == 2 and all(reject["reason"] and reject["row"] for reject in rejects)
    assert b"4 rows read: 2 documents, 2 rejected" in result.stdout


def test_other_formats_and_compression(tmp_path):
    (tmp_path / "in.csv").write_text(f'id,text\n1,"{STORY}"\n2,"{STORY.lower()}"\n3,"{OTHER}"\n')
    out = tmp_path / "kept.jsonl.gz"
    assert run("dedup", str(tmp_path / "in.csv"), "-o", str(out)).returncode == 0
    lines = gzip.decompress(out.read_bytes()).splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["1", "3"]


def test_html_pages(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    for name, menu, body in (
        ("a", "Home | News", STORY),
        ("b", "Start | Shop | Login", STORY),
        ("c", "Home", OTHER),
    ):
        page = (
            f"<html><head><title>x</title></head><body><nav>{menu}</nav><main><p>{body}. {body}!</p></main>"
        )
        (folder / f"{name}.html").write_text(page)
    said = json.loads(run("dedup", str(folder), "--json").stdout)
    assert said["documents"] == 3 and said["kept"] == 2


def test_mass_removal_is_stopped(tmp_path):
    path = jsonl(tmp_path / "in.jsonl", [{"id": i, "text": STORY} for i in range(200)])
    out = tmp_path / "kept.jsonl"
    result = run("dedup", path, "-o", str(out))
    assert result.returncode == 1 and b"--allow-mass-removal" in result.stderr and not out.exists()
    assert run("dedup", path, "-o", str(out), "--allow-mass-removal").returncode == 0
    assert len(out.read_text().splitlines()) == 1


def test_the_sample_is_the_same_for_any_threads(tmp_path):
    outs = []
    for threads in ("1", "2"):
        out = tmp_path / f"kept{threads}.jsonl"
        assert run("dedup", str(sample.path()), "-o", str(out), "--threads", threads).returncode == 0
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["/no/such/file.jsonl"], 1, "no such file"),
        (["IN", "--threshold", "2"], 2, "threshold"),
        (["IN", "--text", "nothing"], 1, "nothing"),
        (["IN", "-o", "/no/such/folder/kept.jsonl"], 1, "/no/such/folder"),
        (["IN", "-o", "kept.odd"], 1, "format"),
        ([], 2, "INPUTS"),
    ],
)
def test_mistakes_are_reported_plainly(corpus, arguments, code, says):
    extra = ["--text", "body"] if "--text" not in arguments else []
    result = run("dedup", *[corpus if a == "IN" else a for a in arguments], *(extra if arguments else []))
    assert result.returncode == code and says.lower() in result.stderr.decode().lower(), result.stderr
