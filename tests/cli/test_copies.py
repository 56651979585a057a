"""Containment and copied passages on the command line."""

import json

from support.command import run

PAGE = " ".join(f"word{i}" for i in range(400))
EXCERPT = " ".join(f"word{i}" for i in range(100, 130))
OTHER = " ".join(f"other{i}" for i in range(90))


def corpus(tmp_path):
    path = tmp_path / "pages.jsonl"
    rows = {"page": PAGE, "excerpt": f"they wrote {EXCERPT} there", "other": OTHER}
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows.items()))
    return path


def test_scan_by_containment_finds_the_small_in_the_large(tmp_path):
    out = tmp_path / "findings"
    arguments = [
        "scan",
        str(corpus(tmp_path)),
        "--out",
        str(out),
        "--measure",
        "containment",
        "--threshold",
        "0.7",
    ]
    result = run(*arguments, "--json", "-q", "--reusable")
    assert result.returncode == 0, result.stderr
    pair = run("explain", "excerpt", "page", "-f", str(out), "--json")
    said = json.loads(pair.stdout)
    assert said["measure"] == "Containment"
    assert said["duplicate"] is True
    assert [(span["left"], span["right"], span["words"]) for span in said["spans"]] == [(2, 100, 30)]
    shown = run("explain", "excerpt", "page", "-f", str(out)).stdout.decode()
    assert "30 of 33 words of excerpt are in page, in 1 passage" in shown
    # What a reusable scan kept serves as a reference.
    again = run(*arguments[:3], str(tmp_path / "more"), *arguments[4:], "--against", str(out), "--json", "-q")
    assert again.returncode == 0, again.stderr
    jaccard = run(
        "scan", str(corpus(tmp_path)), "--out", str(tmp_path / "j"), "--threshold", "0.7", "--json", "-q"
    )
    one, other = (json.loads(answer.stdout) for answer in (result, jaccard))
    assert one != other


def test_config_chooses_the_probes():
    printed = run("config", "--measure", "containment", "--threshold", "0.8", "--floor", "0.5").stdout
    assert b"7 probes" in printed


def test_copies_lists_pairs_and_their_passages(tmp_path):
    path = corpus(tmp_path)
    shown = run("copies", str(path))
    assert shown.returncode == 0
    assert shown.stdout.startswith(b"3 documents: 1 pair shares a passage of 12 words or more (1 candidate)")
    assert b"[excerpt in page]" in shown.stdout
    answer = json.loads(run("copies", str(path), "--json").stdout)
    (pair,) = answer["pairs"]
    assert (pair["part"], pair["whole"], pair["words"], pair["longest"]) == ("excerpt", "page", 30, 30)
    assert json.loads(run("copies", str(path), "--words", "31", "--json").stdout)["pairs"] == []
    assert run("copies", str(path), "--words", "3", "--width", "4").returncode == 1
    assert run("copies", str(tmp_path / "none.jsonl")).returncode == 1


def test_a_scan_for_plagiarism_is_ranked_by_passages(tmp_path):
    path = tmp_path / "essays.jsonl"
    small = " ".join(f"small{i}" for i in range(60))
    texts = [PAGE, f"mine {EXCERPT} own", f"{PAGE[:2000]} more", small, f"{small} again", OTHER]
    path.write_text("".join(json.dumps({"id": f"d{i}", "text": t}) + "\n" for i, t in enumerate(texts)))
    out = tmp_path / "found"
    done = run("scan", str(path), "--preset", "plagiarism", "--out", str(out), "-q", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(run("clusters", str(out), "--json").stdout)
    assert said["by"] == "span"
    first, second = said["listed"]
    copied = len(set(PAGE[:2000].split()) & set(PAGE.split()))
    # A word that was cut short is a word of the page no more, but the last run of words counts all the same.
    assert [(m["id"], m["words"]) for m in first["members"]] == [("d0", 400), ("d2", copied), ("d1", 30)]
    assert [(m["id"], m["words"]) for m in second["members"]] == [("d3", 60), ("d4", 60)]
    shown = run("clusters", str(out)).stdout.decode()
    assert "30 words in passages" in shown
    assert "most words in shared passages first" in shown
    by_size = json.loads(run("clusters", str(out), "--by", "size", "--json").stdout)
    assert by_size["listed"][0]["members"][0]["words"] is None
    assert "in 1 passage" in run("explain", "d1", "d0", "-f", str(out)).stdout.decode()


def test_copies_of_pages_in_a_column_and_what_cannot_be_read(tmp_path):
    menu = "".join(f"<li><a href='/{i}'>Section {i}</a></li>" for i in range(30))
    texts = {"page": PAGE, "other": OTHER}
    rows = [
        {"id": name, "html": f"<html><nav><ul>{menu}</ul></nav><main><p>{text}</p></main></html>"}
        for name, text in texts.items()
    ]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "not JSON\n")
    said = json.loads(run("copies", str(path), "--json", "--allow-rejects", "1").stdout)
    assert said["account"]["rows"]["rejected"] == {"bad JSON": 1}
    assert said["documents"] == 2 and said["found"] == 0 and said["failed"] == {"bad JSON": 1}
