"""`neardup codes`: files of codes on the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from reference.engine import brute
from support.command import run as run_process
from support.corpora import planted, write_jsonl

from neardup.cli import main

ENDINGS = ("parquet", "npy", "raw", "hex", "seg", "segz")


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: bytes
    stderr: bytes


@pytest.fixture(autouse=True)
def captured(capfdbinary):
    """What commands print, for `run`."""
    _capture.append(capfdbinary)
    yield
    _capture.pop()


_capture: list = []


def run(*arguments: str) -> Done:
    """A command in this process, which is quicker than one of its own."""
    code = 0
    try:
        main(arguments)
    except SystemExit as ended:
        code = ended.code
    printed = _capture[-1].readouterr()
    return Done(code, printed.out, printed.err)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codes")
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, 500, dtype=np.uint64)
    words[250:] = words[:250] ^ (np.uint64(1) << rng.integers(0, 64, 250, dtype=np.uint64))
    np.save(folder / "codes.npy", words)
    for ending in ENDINGS:
        if ending != "npy":
            main(
                [
                    "codes",
                    "make",
                    str(folder / "codes.npy"),
                    "--from",
                    "codes",
                    "-o",
                    f"{folder}/codes.{ending}",
                ]
            )
    return folder, words


def answer(*arguments: str) -> dict:
    done = run("codes", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_documents_to_codes_to_hits(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", planted(60))
    out = tmp_path / "codes.parquet"
    said = answer("make", str(path), "--out", str(out))
    assert (
        said["codes"] + said["empty"] == said["account"]["rows"]["documents"]
        and said["bytes"] == out.stat().st_size
    )
    output = answer("info", str(out), "--verify")
    assert (output["margins"], output["ids"], output["bits"], output["verified"]) == (True, True, 64, True)
    assert output["chance_hits"] < 1e-9 and output["safe_radius"] > 15
    for search in ("exact", "psm"):
        found = answer("join", str(out), "--radius", "6", "--search", search)
        assert found["hits"] == len(found["found"]) > 0 and found["columns"] == ["left", "right", "distance"]
    (tmp_path / "stored").mkdir()
    assert answer("batch", str(out), str(tmp_path / "stored"), "--append", "--search", "psm")["hits"] == 0
    asked = (
        "batch",
        str(out),
        str(tmp_path / "stored"),
        "--radius",
        "6",
        "--search",
        "psm",
        "--recall",
        "0.9",
    )
    recall = answer(*asked)["search"]
    assert recall["relative"] >= recall["least"] >= 0.9 == recall["target"]
    printed = run("codes", *asked, "-o", str(tmp_path / "stored" / "hits.csv")).stdout
    assert (
        b"exact, instead of psm" in printed if recall["exact"] else b"recall within radius 6 R' = " in printed
    )
    bits = answer("make", str(path), "--out", str(tmp_path / "bits.hex"), "--method", "bits", "--bits", "128")
    assert bits["codes"] == said["codes"]
    # No file is replaced, and none is left incomplete.
    refused = run("codes", "make", str(path), "--out", str(out))
    assert refused.returncode == 1 and b"--overwrite" in refused.stderr
    assert run("codes", "make", str(path), "--out", str(out), "--overwrite").returncode == 0
    assert run("codes", "make", str(tmp_path / "no.jsonl"), "--out", str(tmp_path / "no.seg")).returncode == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "bits.hex",
        "codes.parquet",
        "in.jsonl",
        "stored",
    ]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_hits_from_every_format(made, ending):
    folder, words = made
    query, row, distance = brute(words[:, None], words[:, None], 2)
    expected = sorted(zip(query.tolist(), row.tolist(), distance.tolist(), strict=True))
    file = str(folder / f"codes.{ending}")
    wide = ["--bits", "64"]
    found = answer("search", file, file, "--radius", "2", *wide)
    assert sorted(map(tuple, found["found"])) == expected and found["hits"] == len(expected)
    pairs = answer("join", file, "--radius", "2", *wide)
    assert sorted(map(tuple, pairs["found"])) == [hit for hit in expected if hit[0] < hit[1]]
    batch = answer("batch", file, str(folder / "codes.seg"), "--radius", "2", "--memory", "16MB", *wide)
    assert sorted(map(tuple, batch["found"])) == expected
    output = answer("info", file, *wide)
    assert (output["rows"], output["bits"]) == (500, 64)
    spread = answer("distribution", file, *wide)
    assert spread["codes"] == 500 == sum(spread["buckets"])


def test_hits_as_tables(made, tmp_path):
    folder, _ = made
    file = str(folder / "codes.hex")
    printed = run("codes", "join", file, "--radius", "1", "-q")
    lines = printed.stdout.decode().splitlines()
    assert lines[0] == "left\tright\tdistance" and len(lines) == 251
    assert b"250 hits" in printed.stderr
    for ending in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"hits.{ending}"
        said = answer("join", file, "--radius", "1", "--out", str(out))
        assert said["hits"] == 250 and said["out"] == str(out) and "found" not in said
        again = run("codes", "join", file, "--radius", "1", "--out", str(out))
        assert again.returncode == 1 and b"exists already" in again.stderr
    assert (tmp_path / "hits.csv").read_text().splitlines()[0] == "left,right,distance"
    given = run_process("codes", "search", "-", file, "--mode", "first", "-q", stdin=b"0123456789abcdef\n")
    assert given.returncode == 0 and given.stdout == b""


def test_compress(made, tmp_path):
    folder, _ = made
    said = answer("compress", str(folder / "codes.npy"), "--out", str(tmp_path / "c.segz"))
    assert said["codes"] == 500 and 40 < said["bits_per_code"] < 64
    found = answer("search", str(folder / "codes.npy"), str(tmp_path / "c.segz"), "--radius", "0")
    assert found["hits"] >= 500
    bare = answer("compress", str(folder / "codes.seg"), "--out", str(tmp_path / "d.segz"), "--no-rows")
    assert bare["bytes"] < said["bytes"] - 8 * 400


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("info", "none.hex"), b"there is no such file"),
        (("info", "BAD.hex", "--verify"), b"line 2: a code has 16 hexadecimal digits"),
        (("info", "codes.raw"), b"give --bits"),
        (("info", "codes.npy", "--radius", "65"), b"at most the 64 bits"),
        (("search", "codes.npy", "codes.npy", "--search", "psm"), b"margins"),
        (("search", "codes.npy", "codes.npy", "--memory", "10KB"), b"more than the 10KB allowed"),
        (("batch", "codes.npy", "codes.npy"), b"a segment file"),
        (("batch", "codes.npy", "codes.seg", "--memory", "1KB"), b"memory"),
        (("batch", "codes.npy", "codes.seg", "--append"), b"only a folder"),
        (("join", "codes.npy", "codes.hex", "--search", "psm"), b"join of two files is exact"),
        (("distribution", "codes.npy", "--buckets", "3"), b"power of two"),
        (("compress", "codes.npy", "--out", "x.segz", "--block", "65"), b"multiples of 8"),
        (("make", "codes.npy", "codes.seg", "--from", "codes", "--out", "x.seg"), b"name one file"),
        (("make", "codes.npy", "--from", "codes", "--out", "x.doc"), b"no format of codes"),
    ],
)
def test_wrong_calls_say_what_to_do(made, tmp_path, arguments, message):
    folder, _ = made
    (folder / "BAD.hex").write_text("0123456789abcdef\nxyz\n")
    here = [str(folder / a) if "." in a and not a.startswith("x.") else a for a in arguments]
    done = run("codes", *[str(tmp_path / a) if a.startswith("x.") else a for a in here])
    assert done.returncode in (1, 2) and message in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []
