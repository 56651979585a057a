"""`neardup evaluate`, `curve` and `calibrate` as their users see them."""

import gzip
import json
from itertools import islice

import pytest
from support.command import run

from neardup import sample

PAGES = str(sample.path())


@pytest.fixture
def tables(tmp_path):
    found, truth, near = (tmp_path / name for name in ("found.csv", "truth.tsv", "near.tsv"))
    found.write_text("id_a,id_b,similarity\na,b,0.9\nc,d,0.8\ne,f,0.7\na,z,0.95\n")
    truth.write_text("id_a\tid_b\tlabel\na\tb\t1\nc\td\t0\ne\tf\t0\ng\th\t2\n")
    near.write_text("id_a\tid_b\tjaccard\na\tb\t0.9\nc\td\t0.8\n")
    return [str(path) for path in (found, truth, near)]


def test_evaluate_says_what_is_right_and_wrong(tables):
    found, truth, near = tables
    shown = run("evaluate", found, "--truth", truth, "--similarity", near, "--threshold", "0.8")
    text = shown.stdout.decode()
    assert shown.returncode == 0, shown.stderr
    assert "4 pairs found, against labelled pairs" in text
    assert "1 right, 1 wrong" in text and "1 pairs are similar but labelled apart" in text
    assert "1 pairs are unlabelled: not counted" in text and "best F1" in text
    said = json.loads(run("evaluate", found, "--truth", truth, "--json").stdout)
    assert (said["right"], said["wrong"], said["missed"], said["unlabelled"]) == (1, 2, 1, 1)
    assert (
        said["precision"]["value"] == pytest.approx(1 / 3, abs=1e-6) and said["sweep"]["threshold"][-1] == 1
    )
    drawn = ["evaluate", found, "--truth", truth, "--json", "--bootstrap", "200"]
    assert run(*drawn).stdout == run(*drawn).stdout != run(*drawn, "--seed", "1").stdout
    strict = json.loads(run("evaluate", found, "--truth", truth, "--positive", "2", "--json").stdout)
    assert strict["right"] == 0 and strict["wrong"] == 3


def test_evaluate_reads_clusters(tmp_path):
    found = tmp_path / "found.jsonl"
    found.write_text('{"id": "page-009", "keeper": "page-205"}\n{"id": "page-001", "keeper": "page-002"}\n')
    shown = run("evaluate", str(found), "--truth", str(sample.path("truth.tsv")))
    assert shown.returncode == 0 and b"1 right, 1 wrong" in shown.stdout and b"B-cubed" in shown.stdout


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("id_a\tid_b\tlabel\na\tb\tperhaps\n", 1, "line 2: label is 'perhaps'"),
        ("id_a\tid_b\tlabel\na\tb\t0\n", 1, "nothing to find"),
        ("id_a\tid_b\tjaccard\na\tb\t0.5\n", 1, "threshold"),
        ("", 1, "is empty"),
    ],
)
def test_bad_truth_is_reported_plainly(tables, text, code, says):
    with open(tables[1], "w") as file:
        file.write(text)
    shown = run("evaluate", tables[0], "--truth", tables[1])
    assert shown.returncode == code and says in shown.stderr.decode() and not shown.stdout
    assert run("evaluate", tables[0]).returncode == 2
    assert run("evaluate", "/no/such.csv", "--truth", tables[1]).returncode == 1


def test_curves(tmp_path):
    shown = run("curve", "sketch", "--at", "0.9", "--at", "0.5")
    assert b"0.5832" in shown.stdout and b"1.53e-17" in shown.stdout
    said = json.loads(run("curve", "bands", "--bands", "20", "--rows", "5", "--at", "0.8", "--json").stdout)
    assert said["lines"][0]["y"][0] == pytest.approx(1 - (1 - 0.8**5) ** 20)
    assert b"20 x 6" in run("curve", "bands", "--threshold", "0.8").stdout
    picture = tmp_path / "radius.svg"
    shown = run(
        "curve", "radius", PAGES, "--radius", "3", "--plot", str(picture), "--at", "0.95", "--at", "1"
    )
    assert shown.returncode == 0 and b"measured" in shown.stdout and b"<svg" in picture.read_bytes()
    shown = run("curve", "edits", "--at", "0.05", "--radius", "8")
    assert shown.returncode == 0 and b"simhash H <= 8, measured" in shown.stdout.replace(b"\n", b" ")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["sketch", "--needed", "101"], 2, "needed"),
        (["sketch", "--at", "2"], 1, "0 to 1"),
        (["bands", "--bands", "3"], 2, "equally often"),
        (["radius", "--plot", "x.pdf"], 1, ".svg or .png"),
        (["radius", "--radius", "65"], 1, "radius"),
        (["edits", "/no/such/corpus.jsonl"], 1, "no such file"),
    ],
)
def test_mistakes_with_curves(arguments, code, says):
    shown = run("curve", *arguments)
    assert shown.returncode == code and says in shown.stderr.decode()


def test_calibrate_recommends_and_asks(tmp_path):
    labels, pages = tmp_path / "labels.jsonl", tmp_path / "pages.jsonl"
    with gzip.open(PAGES) as file:
        pages.write_bytes(b"".join(islice(file, 120)))
    arguments = ["calibrate", str(pages), "--labels", str(labels), "--label", "--questions", "6"]
    shown = run(*arguments, stdin=b"y\nwhat\ny\n?\n")  # and then the answers end
    assert shown.returncode == 0 and b"another run continues" in shown.stderr
    first = labels.read_text().splitlines()
    assert [json.loads(line)["label"] for line in first] == [1, 1, None]
    shown = run(*arguments, stdin=b"n\nq\n")
    second = labels.read_text().splitlines()
    assert second[:3] == first and len(second) == 4
    assert len({(row["left"], row["right"]) for row in map(json.loads, second)}) == 4
    text = shown.stdout.decode()
    assert "as 3 labels say" in text and "<- recommended" in text and "R(h)R'" in text
    picture = tmp_path / "calibration.png"
    plain = run("calibrate", str(pages), "--labels", str(labels), "--json", "--plot", str(picture))
    said = json.loads(plain.stdout)
    assert said["labels"] == 3 and said["recommended"]["setting"]["verified"] and said["reason"]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([PAGES, "--label"], 2, "--labels"),
        ([PAGES, "--labels", "/no/such/labels.jsonl"], 1, "no such file"),
        ([PAGES, "--threshold", "2"], 2, "threshold"),
        (["/no/such/corpus.jsonl"], 1, "no such file"),
        ([], 2, "CORPUS"),
    ],
)
def test_mistakes_with_calibrate(arguments, code, says):
    shown = run("calibrate", *arguments)
    assert shown.returncode == code and says in shown.stderr.decode(), shown.stderr


def test_without_labels_a_threshold_is_not_measured_against_a_threshold():
    text = run("calibrate", PAGES, "--borderline", "1").stdout.decode()
    rows = {line.split()[0]: line.split() for line in text.splitlines() if " x " in line}
    assert rows["0.8"][4:6] == rows["0.75"][4:6] == ["-", "-"]
    assert rows["unverified"][4] != "-"  # bands alone are measured against what they are for
    assert "No recommendation" in text
