"""scan, apply, clusters, explain -f, config and completion as their users see them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from support.command import run
from support.corpora import planted, read_jsonl, write_jsonl

import neardup as nd

pytestmark = pytest.mark.process
ROWS = planted(60)
HANGS = "<div>" * 50_000


@pytest.fixture(scope="module")
def scanned(tmp_path_factory) -> tuple[str, dict]:
    """A findings folder, and what --json said of it."""
    folder = tmp_path_factory.mktemp("scanned")
    path = write_jsonl(folder / "in.jsonl", ROWS)
    result = run("scan", path, "-o", str(folder / "found"), "--json", "--floor", "0.6")
    assert result.returncode == 0, result.stderr
    return str(folder / "found"), json.loads(result.stdout)


def test_scan_says_what_it_found(scanned):
    _, said = scanned
    assert said["documents"] == len(ROWS) == said["kept"] + said["dropped"] and said["floor"] == 0.6
    assert said["exact"] >= 20 and said["table"][0][0] == 0.6


def test_the_default_folder_is_named_after_the_input(tmp_path, monkeypatch):
    (tmp_path / "crawl").mkdir()
    write_jsonl(tmp_path / "crawl" / "a.jsonl", ROWS[:5])
    monkeypatch.chdir(tmp_path)
    for named, folder in (
        ("crawl/a.jsonl", "a.jsonl.findings"),
        ("crawl/*.jsonl", "crawl.findings"),
        ("crawl/", "crawl.findings"),
    ):
        assert run("scan", named, "--overwrite").returncode == 0
        assert Path(folder, "manifest.json").exists()
    monkeypatch.chdir(tmp_path / "crawl")
    result = run("scan", ".")
    assert result.returncode == 0 and b"neardup apply crawl.findings" in result.stdout
    assert run("scan", ".", "--overwrite").returncode == 0


def test_apply_writes_everything_asked_for(scanned, tmp_path):
    found, said = scanned
    names = {name: str(tmp_path / f"{name}.jsonl") for name in ("out", "pairs", "clusters")}
    options = [part for name, path in names.items() for part in (f"--{name}", path)]
    result = run("apply", found, *options, "--implied", "--json")
    answer = json.loads(result.stdout)
    assert result.returncode == 0 and answer["written"] == said["kept"] == len(read_jsonl(names["out"]))
    assert answer["pairs"] == len(read_jsonl(names["pairs"]))
    assert answer["clusters"] == len(read_jsonl(names["clusters"]))
    looser = json.loads(
        run("apply", found, "-o", str(tmp_path / "k.jsonl"), "--threshold", "0.6", "--json").stdout
    )
    assert looser["dropped"] == said["table"][0][1]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["apply", "FOUND"], 2, "--out"),
        (["apply", "FOUND", "-o", "OUT.jsonl", "--threshold", "0.5"], 1, "--floor"),
        (["apply", "FOUND", "-o", "OUT.jsonl", "--threshold", "7"], 2, "7"),
        (["apply", "FOUND", "-o", "OUT.jsonl", "--keep", "best"], 2, "newest:FIELD"),
        (["apply", "FOUND", "-o", "OUT.jsonl", "--keep", "score:rank"], 1, "no document has a number"),
        (["apply", "FOUND", "-o", "OUT.odd"], 1, "format"),
        (["apply", "FOUND", "-o", "OUT/no/kept.jsonl"], 1, "does not exist"),
        (["apply", "TMP", "-o", "OUT.jsonl"], 1, "no findings"),
        (["clusters", "TMP"], 1, "no findings"),
        (["clusters", "FOUND", "--id", "nobody"], 1, "nobody"),
        (["explain", "-f", "FOUND", "d0", "nobody"], 1, "nobody"),
        (["scan", "TMP", "-o", "OUT"], 2, "no files"),
        (["scan", "TMP/none.jsonl", "-o", "OUT"], 1, "no such file"),
        (["scan", "FOUND/manifest.json", "-o", "FOUND"], 1, "holds some of the inputs"),
        (["scan", "x.jsonl", "--threshold", "nan", "-o", "OUT"], 1, "nan"),
        (["config", "--method", "exact", "--search", "odd"], 2, "odd"),
        (["config", "--method", "minhash", "--search", "psm"], 2, "--search is for codes"),
        (["config", "--preset", "news", "--radius", "3"], 2, "--radius is for codes"),
        (["completion", "tcsh"], 2, "tcsh"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_are_reported_plainly_and_leave_nothing(scanned, tmp_path, arguments, code, says):
    (tmp_path / "empty").mkdir()
    places = {"FOUND": scanned[0], "TMP": str(tmp_path / "empty"), "OUT": str(tmp_path / "out")}
    for name, place in places.items():
        arguments = [argument.replace(name, place) for argument in arguments]
    result = run(*arguments)
    assert result.returncode == code and says in result.stderr.decode(), result.stderr
    assert os.listdir(tmp_path) == ["empty"]


def test_a_radius_counts_wherever_codes_are_searched(tmp_path):
    simhash = tmp_path / "simhash.toml"
    simhash.write_text('[fingerprint]\nkind = "simhash"\n')
    for options, kind in (
        (["--search", "psm"], "psm"),
        (["--preset", "news", "--search", "scan"], "scan"),
        (["--method", "bits"], "join"),
        (["--config", str(simhash)], "join"),
    ):
        result = run("config", *options, "--radius", "4")
        assert result.returncode == 0, result.stderr
        search = tomllib.loads(result.stdout.decode())["search"]
        assert (search["kind"], search["radius"]) == (kind, 4)


def test_clusters_and_explain_agree(scanned):
    found, said = scanned
    listed = json.loads(run("clusters", found, "--json", "--by", "borderline", "--most", "1000").stdout)
    assert listed["clusters"] == said["clusters"] == len(listed["listed"])
    least = [cluster["least"] for cluster in listed["listed"]]
    assert least == sorted(least) and least[0] >= 0.8
    keeper, member = listed["listed"][0]["keeper"], listed["listed"][0]["members"][-1]
    explained = json.loads(run("explain", "-f", found, keeper, member["id"], "--json").stdout)
    assert explained["jaccard"] == pytest.approx(member["similarity"])
    assert any("keeper" in reason for reason in explained["reasons"])
    assert any(reason.startswith(f"{member['id']} is dropped") for reason in explained["reasons"])
    one = json.loads(run("clusters", found, "--json", "--id", member["id"]).stdout)["listed"]
    assert [cluster["keeper"] for cluster in one] == [keeper]
    samples = {run("clusters", found, "--by", "sample", "--most", "3", "--seed", s).stdout for s in "123"}
    assert len(samples) == 3


def test_explain_uses_the_measure_of_the_scan(tmp_path):
    words = ROWS[0]["text"].split()
    rows = [
        {"id": "all", "text": " ".join(words)},
        {"id": "part", "text": " ".join(words[: len(words) // 2])},
    ]
    path, found = write_jsonl(tmp_path / "in.jsonl", rows), str(tmp_path / "found")
    assert run("scan", path, "-o", found, "--measure", "containment").returncode == 0
    out = run("explain", "-f", found, "all", "part").stdout.decode()
    assert out.startswith("near-duplicate  Containment 1.000 >= threshold 0.8"), out
    assert "part is dropped: 1.000 similar to all, which is kept" in out


def test_a_closed_pipe_is_quiet(scanned):
    shell = f"'{sys.executable}' -m neardup clusters '{scanned[0]}' --most 1000 --members 1000 | head -1"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=300)
    assert result.stderr == b"" and b"documents" in result.stdout


def test_hostile_ids_and_texts_do_not_reach_the_terminal(tmp_path):
    text = "the quick brown fox jumps over the lazy dog again and again until night falls on the hills"
    rows = [
        {"id": "\x1b[31mred\n[/bold]", "text": f"\x1b]0;title\x07 {text}"},
        {"id": "nul\x00\x9b31m", "text": f"{text} \x1b[2J"},
        {"id": "[/red]", "text": text.upper()},
    ]
    path, found = write_jsonl(tmp_path / "in.jsonl", rows), str(tmp_path / "found")
    outputs = [run("scan", path, "-o", found, "--threshold", "0.5"), run("clusters", found)]
    outputs.append(run("explain", "-f", found, rows[0]["id"], "[/red]"))
    outputs.append(run("explain", "-f", found, "[/red]", "\x1b[31mnobody"))
    (tmp_path / "\x1b[31m.jsonl").write_text("")
    outputs.append(run("scan", str(tmp_path / "\x1b[31m.jsonl"), "-o", "/no/such/\x1b[31m"))
    assert [result.returncode for result in outputs] == [0, 0, 0, 1, 1]
    for result in outputs:
        shown = (result.stdout + result.stderr).decode()
        assert not {c for c in shown if not c.isprintable()} - {"\n"}, result
    assert run("apply", found, "-o", str(tmp_path / "kept.ids")).returncode in (0, 1)


def test_pages_that_hang_the_parser_are_rejected(tmp_path):
    (tmp_path / "in").mkdir()
    page = "<html><body><main><p>{}</p></main></body></html>"
    for i in range(4):
        (tmp_path / "in" / f"{i}.html").write_text(page.format(ROWS[i]["text"]))
    (tmp_path / "in" / "bomb.html").write_text(HANGS)
    for method, rejected in (("main", {"HTML: timeout": 1}), ("none", {})):
        found = tmp_path / f"found-{method}"
        result = run(
            "scan",
            str(tmp_path / "in"),
            "-o",
            str(found),
            "--html",
            method,
            "--json",
            "--allow-rejects",
            "0.5",
        )
        said = json.loads(result.stdout)
        rejects = read_jsonl(found / "documents.rejects.jsonl")
        assert said["rejected"] == rejected and said["documents"] == 5 - len(rejects)
        assert [reject["file"] for reject in rejects] == ["bomb.html"] * len(rejected)


def test_config_round_trips(tmp_path):
    options = [
        "--method",
        "simhash",
        "--threshold",
        "0.7",
        "--width",
        "3",
        "--keep",
        "first",
        "--min-words",
        "9",
    ]
    path = tmp_path / "x.toml"
    path.write_bytes(run("config", *options).stdout)
    assert run("config", "--config", str(path)).stdout == path.read_bytes()
    config = nd.Config.load(path)
    assert config.compared.width == 3 and config.keep.by == "first" and config.filters.min_words == 9
    assert json.loads(run("config", "--config", str(path), "--json").stdout) == config.to_plain()
    again = run("config", "--config", str(path), "--threshold", "0.9").stdout.decode()
    assert nd.Config.from_plain(tomllib.loads(again)) == config.with_threshold(0.9, 0.8)
    path.write_text("threshhold = 1")
    result = run("config", "--config", str(path))
    assert result.returncode == 1 and b"threshhold" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    assert b"_NEARDUP_COMPLETE" in run("completion", shell).stdout


def test_the_cursor_comes_back_after_control_c(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", planted(8000))
    main, side = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "neardup",
        "scan",
        path,
        "-o",
        str(tmp_path / "found"),
        "--memory",
        "64MB",
    ]
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=side, env=environment)
    os.close(side)
    shown = b""
    while b"\x1b[?25l" not in shown:
        shown += os.read(main, 1000)
    process.send_signal(signal.SIGINT)
    until = time.monotonic() + 300
    while time.monotonic() < until:
        try:
            data = os.read(main, 1000)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        shown += data
    process.wait(300)
    os.close(main)
    assert process.returncode == 130 and b"Traceback" not in shown
    # Hiding twice is undone by showing once: what counts is how the terminal is left.
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l")
