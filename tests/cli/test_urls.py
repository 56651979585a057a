"""`neardup urls` and `neardup mirrors` as their users see them."""

import io
import json
import sys
from dataclasses import dataclass

import pytest
from support import command

import neardup as nd
from neardup import sample
from neardup.cli import main

URLS = b"http://WWW.example.com/a?utm_source=x\nhttps://example.com/a/\n\nhttps://example.com/b\nnot one\n"
CRAWL = str(sample.path("crawl.tsv"))


@dataclass
class Done:
    returncode: int
    stdout: bytes
    stderr: bytes


def run(*arguments, stdin=b""):
    """The command within this process: starting one takes longer than all it does here."""
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin, b"", b"")
    )
    try:
        main(arguments)
        code = 0
    except SystemExit as ended:
        code = ended.code
    finally:
        (_, out, err), (sys.stdin, sys.stdout, sys.stderr) = (sys.stdin, sys.stdout, sys.stderr), kept
    out.flush()
    err.flush()
    return Done(code, out.buffer.getvalue(), err.buffer.getvalue())


def lines(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


def test_canonical_forms_in_order():
    done = run("urls", stdin=URLS)
    assert lines(done) == [
        "https://example.com/a",
        "https://example.com/a",
        "https://example.com/b",
        "not one",
    ]
    assert b"1 of 4 are no URLs" in done.stderr


def test_as_a_process_of_its_own():
    done = command.run("urls", "-", "-", stdin=URLS)
    assert lines(done) == lines(run("urls", stdin=URLS))
    assert command.run("mirrors").returncode == 2


def test_groups_frontier_and_explain():
    assert lines(run("urls", "-", "--groups", stdin=URLS)) == [
        "https://example.com/a",
        "  http://WWW.example.com/a?utm_source=x",
        "  https://example.com/a/",
    ]
    frontier = run("urls", "--frontier", stdin=URLS)
    assert lines(frontier) == ["http://WWW.example.com/a?utm_source=x", "https://example.com/b", "not one"]
    assert b"4 URLs, 3 kept, 1 were there already" in frontier.stderr
    printed = lines(run("urls", "--explain", stdin=URLS))
    assert printed[0] == "http://WWW.example.com/a?utm_source=x"
    assert [line.split()[0] for line in printed[1:5]] == ["host-case", "scheme", "www", "tracking"]
    assert printed[-1] == "  is no URL and is not changed"


def test_json_of_each():
    rows = [json.loads(line) for line in lines(run("urls", "--json", stdin=URLS))]
    assert rows[0] == {
        "url": "http://WWW.example.com/a?utm_source=x",
        "canonical": "https://example.com/a",
        "parsed": True,
    }
    assert rows[3]["parsed"] is False
    [group] = [json.loads(line) for line in lines(run("urls", "--groups", "--json", stdin=URLS))]
    assert len(group["urls"]) == 2
    first = json.loads(lines(run("urls", "--explain", "--json", stdin=URLS))[0])
    assert first["steps"][0] == {
        "rule": "host-case",
        "before": first["url"],
        "after": first["steps"][0]["after"],
    }
    kept = [json.loads(line) for line in lines(run("urls", "--frontier", "--json", stdin=URLS))]
    assert [row["canonical"] for row in kept] == ["https://example.com/a", "https://example.com/b", "not one"]


def test_files_columns_and_switches(tmp_path):
    (tmp_path / "pages.jsonl").write_text('{"link": "http://www.a.com/?from=1&gclid=2"}\n{"link": [5]}\n')
    source = str(tmp_path / "pages.jsonl")
    done = run("urls", source, "--column", "link", "--off", "www", "--drop", "from", "--keep", "gclid")
    assert lines(done) == ["https://www.a.com/?gclid=2"]
    assert b"1 row could not be read: wrong type" in done.stderr
    out = tmp_path / "out.txt"
    assert lines(run("urls", source, "--column", "link", "--on", "path-case", "--out", str(out))) == []
    assert out.read_text() == "https://a.com/?from=1\n"


def test_the_rules_are_listed():
    rows = [json.loads(line) for line in lines(run("urls", "--list-rules", "--off", "www", "--json"))]
    state = {row["rule"]: row["state"] for row in rows}
    assert state["www"] == "off" and state["scheme"] == "on" and state["host-encoding"] == "standard"
    assert any(line.startswith("off     www") for line in lines(run("urls", "--list-rules", "--off", "www")))


def test_redirects_with_a_circle(tmp_path):
    (tmp_path / "moved.tsv").write_text(
        "http://a.com/1\thttp://a.com/2\nhttp://b.com/x\thttp://b.com/y\nhttp://b.com/y\thttp://b.com/x\n"
    )
    done = run("urls", "--redirects", str(tmp_path / "moved.tsv"), stdin=b"http://a.com/1\nhttp://b.com/x\n")
    assert lines(done) == ["https://a.com/2", "https://b.com/x"]
    assert b"form a circle" in done.stderr


def test_learn_save_and_use(tmp_path):
    rules = tmp_path / "rules.toml"
    said = lines(run("urls", "--contents", CRAWL, "--out", str(rules)))
    assert said[0] == "300 URLs; 6 of 8 proposed rules accepted"
    assert "accept  shop.example.com: view never changes the page" in said
    assert len(nd.urls.UrlRules.load(rules).sites) == 6
    url = b"http://m.shop.example.com/en/help/files.html?view=list\n"
    assert lines(run("urls", "--rules", str(rules), stdin=url)) == ["https://shop.example.com/help/files"]
    rows = [json.loads(line) for line in lines(run("urls", "--contents", CRAWL, "--json"))]
    assert [row["accepted"] for row in rows].count(True) == 6 and rows[-1]["counter_examples"]
    (tmp_path / "pairs.tsv").write_text(
        "".join(f"http://a.com/{i}?r=1\thttp://a.com/{i}?r=2\n" for i in range(3))
    )
    assert "accept  a.com: r never changes the page" in lines(
        run("urls", "--learn", str(tmp_path / "pairs.tsv"))
    )


def test_mirrors_for_people_and_machines():
    said = lines(run("mirrors", "--contents", CRAWL))
    assert said[0] == "300 URLs, 0 pairs: 8 mirrors in 4 groups"
    assert "    33 pages match: 82% of 40 on the left, 94% of 35 on the right" in said
    facts = json.loads(run("mirrors", "--contents", CRAWL, "--json").stdout)
    assert len(facts["mirrors"]) == 8 and facts["groups"][0]["preferred"] == "handbook.example.org/"
    page = lines(run("mirrors", "--contents", CRAWL, "--page", "http://handbook.example.org/login"))
    assert page[1:] == [
        "  https://mirror.example.net/pub/handbook/login  (not seen; worth a try)",
        "  https://cdn.example.org/login",
    ]
    [row] = lines(run("mirrors", "--contents", CRAWL, "--page", "http://cdn.example.org/login", "--json"))
    assert json.loads(row)["preferred"] == "https://handbook.example.org/login"


def test_mirrors_from_pairs_of_ids(tmp_path):
    (tmp_path / "pairs.csv").write_text("id_a,id_b\n" + "".join(f"a{i},b{i}\n" for i in range(5)))
    ids = "id\turl\n" + "".join(f"{h}{i}\thttp://{h}.com/{i}\n" for h in "ab" for i in range(5))
    (tmp_path / "ids.tsv").write_text(ids)
    (tmp_path / "urls.txt").write_text("http://a.com/0\nhttp://c.com/0\n")
    options = [str(tmp_path / "pairs.csv"), "--ids", str(tmp_path / "ids.tsv")]
    assert "name all URLs with --urls" in run("mirrors", *options).stdout.decode()
    facts = json.loads(run("mirrors", *options, "--urls", str(tmp_path / "urls.txt"), "--json").stdout)
    assert [(m["left"], m["right"], m["matched"]) for m in facts["mirrors"]] == [("a.com/", "b.com/", 5)]
    assert facts["urls"] == 11
    (tmp_path / "ids.tsv").write_text("a0\thttp://a.com/0\n")
    done = run("mirrors", *options)
    assert done.returncode == 1 and b"id 'b0' has no URL" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["urls", "--off", "wwww"], 2, b"no rule 'wwww'"),
        (["urls", "--off", "host-encoding"], 2, b"part of parsing"),
        (["urls", "nowhere.txt"], 1, b"no such file"),
        (["urls", "--rules", "nowhere.toml"], 1, b"nowhere.toml"),
        (["urls", "--learn", "nowhere.tsv"], 1, b"nowhere.tsv"),
        (["mirrors"], 2, b"PAIRS"),
        (["mirrors", "nowhere.tsv"], 1, b"no such file"),
    ],
)
def test_mistakes_are_reported_without_a_traceback(arguments, code, says):
    done = run(*arguments)
    assert done.returncode == code and says in done.stderr
