"""`neardup index`, as a user types it."""

from __future__ import annotations

import json

import pytest
from support.command import run

import neardup as nd
from neardup.cli import main

pytestmark = pytest.mark.process

FERRY = (
    "The ferry leaves the north pier at eight and returns at noon, except on public holidays, when it stays in the "
    "harbour all day long and the crew wait for the weather to turn"
)


@pytest.fixture
def files(tmp_path):
    lines = [
        {"id": "a", "text": FERRY, "site": "one"},
        {"id": "b", "text": FERRY + " soon", "site": "two"},
        {"id": "c", "text": "Whisk the eggs with the sugar until pale, then fold in the flour"},
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "q.txt").write_text(FERRY)
    return tmp_path


@pytest.fixture
def answers(capsys):
    """Runs a command in this process, which spares the start of another, and gives its lines of JSON."""

    def tell(*arguments, code=0):
        try:
            main(["index", *map(str, arguments), "--json"])
            got = 0
        except SystemExit as ended:
            got = ended.code
        out, err = capsys.readouterr()
        assert got == code, err
        return [json.loads(line) for line in out.splitlines()]

    return tell


def test_a_whole_life(files, answers):
    index, documents = files / "i.nd", files / "d.jsonl"
    [added] = answers("add", index, documents)
    assert (added["documents"], added["new"], added["duplicates"]) == (3, 2, 1)
    seen = answers("seen", index, documents)
    assert [(line["id"], line["new"], line["duplicate_of"]) for line in seen] == [
        ("a", True, None),
        ("b", False, "a"),
        ("c", True, None),
    ]
    [found] = answers("search", index, files / "q.txt")
    assert [hit["id"] for hit in found["hits"]] == ["a", "b"]
    assert len(answers("search", index, files / "q.txt", "--first")[0]["hits"]) == 1
    [stored] = answers("get", index, "b")
    assert stored["meta"]["site"] == "two" and stored["keeper"] == "a"
    assert [member["id"] for member in answers("cluster", index, "b")[0]["members"]] == ["a", "b"]
    assert answers("stats", index)[0]["documents"] == 3
    assert answers("verify", index)[0]["sound"]
    answers("backup", index, files / "copy.nd")
    for name in ("e.jsonl", "e.parquet"):
        assert answers("export", index, files / name)[0]["documents"] == 3
        assert answers("import", files / f"{name}.nd", files / name)[0]["documents"] == 3
    assert answers("reindex", index, files / "sim.nd", "--method", "simhash")[0]["documents"] == 3
    [again] = answers(
        "reindex", index, files / "min.nd", "--method", "minhash", "--from", documents, "--store", "none"
    )
    assert again["documents"] == 3
    assert answers("recover", index, files / "saved.nd")[0] == {"documents": 3, "lost": 0}
    answers("key", index, files / "key")
    assert answers("remove", index, "a", "nobody")[0] == {"removed": 1}
    assert answers("cluster", index, "b")[0]["keeper"] == "b"
    answers("compact", index)
    assert answers("forget", index, "--expired")[0] == {"removed": 0}
    assert answers("forget", index, "--before", "2100-01-01")[0] == {"removed": 2}
    text = run("index", "stats", str(index)).stdout.decode()
    assert "documents  0" in text


def test_create_says_how(files, answers):
    answers("create", files / "m.nd", "--method", "minhash", "--threshold", "0.7", "--store", "none")
    assert answers("add", files / "m.nd", files / "d.jsonl")[0]["duplicates"] == 1
    config = files / "c.toml"
    config.write_text('[fingerprint]\nkind = "simhash"\n[search]\nkind = "covering"\nradius = 3\n')
    answers("create", files / "s.nd", "--config", config)
    [made] = answers("create", files / "t.nd", "--method", "simhash", "--sample", files / "d.jsonl")
    assert "tf-idf(count," in made["scheme"]
    answers("seen", files / "t.nd", files / "d.jsonl")
    assert answers("search", files / "t.nd", files / "q.txt")[0]["hits"][0]["id"] == "a"


def test_mistakes_are_said_plainly(files, answers):
    for code, words, arguments in (
        (1, "no index here", ["search", files / "no.nd", files / "q.txt"]),
        (1, "no index here", ["remove", files / "no.nd", "a"]),
        (1, "sample", ["create", files / "i.nd", "--method", "simhash"]),
        (2, "--before", ["forget", files / "i.nd", "--before", "soon"]),
        (2, "either", ["forget", files / "i.nd"]),
        (1, "not empty", ["add", files, files / "d.jsonl"]),
        (1, "no document", ["get", files / "j.nd", "zz"]),
        (1, "already", ["create", files / "j.nd"]),
        (1, "no document", ["cluster", files / "j.nd", "zz"]),
    ):
        if any(str(argument).endswith("j.nd") for argument in arguments) and not (files / "j.nd").exists():
            answers("create", files / "j.nd")
        result = run("index", *map(str, arguments))
        assert result.returncode == code, (arguments, result.stderr)
        assert words in result.stderr.decode(), (arguments, result.stderr)


def test_damage_is_reported(files, answers):
    answers("add", files / "i.nd", files / "d.jsonl")
    answers("compact", files / "i.nd")
    for file in (files / "i.nd" / "cache").iterdir():
        file.write_bytes(b"junk")
    [health] = answers("verify", files / "i.nd", code=1)
    assert not health["sound"]
    answers("compact", files / "i.nd")
    assert answers("verify", files / "i.nd")[0]["sound"]
    (files / "i.nd" / "index.sqlite").write_bytes(b"junk" * 10_000)
    result = run("index", "stats", str(files / "i.nd"))
    assert result.returncode == 1 and b"neardup index recover" in result.stderr


def page(text):
    menu = "".join(f"<li><a href='/{i}'>Section {i}</a></li>" for i in range(30))
    return f"<html><body><nav><ul>{menu}</ul></nav><main><p>{text}</p></main><footer>Contact</footer></body></html>"


def test_pages_count_by_their_content_in_a_column_too(files, answers):
    """As for a scan: a shared menu does not make two pages of one site similar; and a text beside them is read as a
    text."""
    other = " ".join(f"egg{i}" for i in range(40))
    rows = [{"id": "x", "html": page(FERRY)}, {"id": "y", "html": page(other)}]
    (files / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (files / "note.txt").write_text("1 < 2 <b> stays")
    (files / "ferry.html").write_text(page(FERRY))
    index = files / "i.nd"
    answers("add", index, files / "pages.jsonl", files / "ferry.html", files / "note.txt")
    entries = {entry["id"]: entry["text"] for entry in answers("get", index, "x", "note.txt")}
    assert entries["x"].strip() == FERRY and entries["note.txt"] == "1 < 2 <b> stays"
    [found] = answers("search", index, files / "ferry.html")
    assert {hit["id"]: hit["similarity"] for hit in found["hits"]} == {"x": 1, "ferry.html": 1}
    [raw] = answers("search", index, files / "ferry.html", "--html", "none")
    assert raw["hits"] == []


def test_what_is_replaced_or_cannot_be_read_is_reported(files, answers):
    for name, text in (("one", FERRY), ("two", "Whisk the eggs with the sugar until pale and fold in")):
        (files / name).mkdir()
        (files / name / "n.txt").write_text(text)
    index = files / "i.nd"
    assert answers("add", index, files / "one")[0]["replaced"] == 0
    assert answers("add", index, files / "two")[0]["replaced"] == 1
    (files / "bad.jsonl").write_text('{"id": "z", "text": "a few words"}\nnot JSON\n')
    done = run("index", "seen", str(index), str(files / "bad.jsonl"), "--allow-rejects", "1")
    assert done.returncode == 0 and done.stdout.split() == [b"new", b"z"]
    assert b"1 could not be read: bad JSON" in done.stderr


@pytest.mark.parametrize("ttl", ["1e400", "nan", "-1", "1e18"])
def test_a_time_to_live_that_is_none(files, answers, ttl):
    answers("add", files / "i.nd", files / "d.jsonl", "--ttl", ttl, code=1)
    assert not (files / "i.nd").exists()


def test_reindex_keeps_the_settings_also_from_files(files, answers):
    answers("create", files / "i.nd", "--method", "minhash", "--threshold", "0.5", "--store", "none")
    answers("reindex", files / "i.nd", files / "new.nd", "--from", files / "d.jsonl")
    [facts] = answers("stats", files / "new.nd")
    assert facts["scheme"].startswith("minhash") and facts["documents"] == 3
    answers("reindex", files / "i.nd", files / "new.nd", "--from", files / "d.jsonl", code=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "minhash", "--radius", "3"], "--radius is for codes"),
        (["--method", "exact", "--radius", "0"], "--radius is for codes"),
        (["--method", "exact", "--threshold", "0.9"], "--threshold is for near-duplicates"),
        (["--threshold", "0.9", "--store", "none"], "with --store none use --radius"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(files, options, said, capsys):
    for command in (
        ["create", str(files / "i.nd")],
        ["reindex", str(files / "none.nd"), str(files / "i.nd")],
    ):
        with pytest.raises(SystemExit) as ended:
            main(["index", *command, *options])
        assert ended.value.code == 2 and said in capsys.readouterr().err
    assert not (files / "i.nd").exists()
    with pytest.raises(SystemExit) as ended:
        main(["dedup", str(files / "d.jsonl"), "--method", "minhash", "--radius", "3"])
    assert ended.value.code != 0 and "radius is for codes" in capsys.readouterr().err


def test_one_document_is_one_document(files, capsys):
    (files / "one.jsonl").write_text('{"id": "a", "text": "one page of a few words"}\n')
    index, export = str(files / "one.nd"), str(files / "one.export.jsonl")
    for said, *command in (
        ("1 document added", "add", index, str(files / "one.jsonl")),
        ("1 document, compact", "compact", index),
        ("1 document: all is sound", "verify", index),
        ("1 document written", "export", index, export),
        ("1 document in", "import", str(files / "again.nd"), export),
        ("1 document in", "reindex", index, str(files / "min.nd"), "--method", "minhash"),
        ("1 document saved", "recover", index, str(files / "saved.nd")),
    ):
        main(["index", *command])
        assert said in capsys.readouterr().out


def test_what_fails_leaves_nothing_behind(files, answers):
    answers("add", files / "i.nd", files / "d.jsonl")
    answers("export", files / "i.nd", files / "e.jsonl")
    lines = (files / "e.jsonl").read_text().splitlines()
    (files / "twice.jsonl").write_text("\n".join([*lines, lines[0]]))
    (files / "here").mkdir()
    before = sorted(files.rglob("*"))
    for target in ("new.nd", "a/b/new.nd", "here", "here/new.nd"):
        answers("import", files / target, files / "d.jsonl", "--key", files / "e.jsonl.key", code=1)
        answers("import", files / target, files / "twice.jsonl", "--key", files / "e.jsonl.key", code=1)
        answers("import", files / target, files / "none.jsonl", "--key", files / "e.jsonl.key", code=1)
        answers("create", files / target, "--method", "simhash", "--sample", files / "none.jsonl", code=1)
        answers("create", files / target, "--method", "simhash", code=1)
        answers("add", files / target, files / "none.jsonl", code=1)
        answers("recover", files / "none.nd", files / target, code=1)
        assert sorted(files.rglob("*")) == before, target
    answers("import", files / "here", files / "e.jsonl")
    assert answers("verify", files / "here")[0]["documents"] == 3


def test_ids_that_no_index_takes_stop_no_others(files, answers, capsys):
    odd = ["a\x1b[31mred", "x" * 9000, "\ud800", "../up", "last"]
    (files / "odd.jsonl").write_text(
        "".join(json.dumps({"id": id, "text": f"{FERRY} {id[:9]!r}"}) + "\n" for id in odd)
    )
    [added] = answers("add", files / "i.nd", files / "odd.jsonl", "--allow-rejects", "1")
    assert added["documents"] == 3 and sum(added["rejected"].values()) == 2
    assert any("8,192 bytes" in reason for reason in added["rejected"])
    main(["index", "get", str(files / "i.nd"), odd[0]])
    main(["index", "search", str(files / "i.nd"), str(files / "q.txt")])
    out = capsys.readouterr().out
    assert "red" in out and "\x1b" not in out
    for command in ("get", "remove", "cluster"):
        for id in ("\udcff", "", "x" * 9000):
            answers(command, files / "i.nd", id, code=1)


def test_reasons_are_printed_one_by_one_only_while_they_are_few():
    from neardup.cli.index_options import REASONS, accepted

    unread: dict[str, int] = {}
    batch = [nd.Document(f"{n:05d}" * 2000, "text") for n in range(REASONS + 50)] + [
        nd.Document("good", "text")
    ]
    assert [one.id for one in accepted(batch, unread)] == ["good"]
    assert len(unread) == REASONS + 1 and sum(unread.values()) == REASONS + 50
    assert unread["more that no index takes"] == 50
