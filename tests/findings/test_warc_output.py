"""apply writes WARC again: kept records as they were, revisit records that refer to the keeper for the others."""

import gzip

import pytest
from support.archives import captured, http_response, records_of, warc_record
from support.command import run

import neardup as nd
from neardup.errors import ConfigError, DataError

WORDS = (
    "The old harbour bridge will close for repairs in March and the town expects the work to take six weeks"
)
PAGE = f"<html><body><p>{WORDS}.</p></body></html>"
LONGER = f"<html><body><p>{WORDS} or even more.</p></body></html>"
OTHER = "<html><body><p>Whisk the eggs with the sugar until pale, then fold in the flour.</p></body></html>"


def archive():
    return [
        warc_record("warcinfo", b"software: a crawler\r\n", "application/warc-fields", "urn:uuid:info"),
        captured(1, "http://a/", http_response(PAGE)),
        warc_record("request", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request", "urn:uuid:r"),
        captured(2, "http://b/", http_response(LONGER)),
        captured(3, "http://c/", http_response(OTHER)),
        captured(4, "http://old/", http_response("moved", "301 Moved Permanently")),
        captured(5, "http://c2/", http_response(OTHER), date="2026-03-04T05:06:07Z"),
    ]


@pytest.fixture
def findings(tmp_path):
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(map(gzip.compress, archive())))
    nd.scan(tmp_path / "crawl.warc.gz", tmp_path / "found", nd.Config.of(html="whole"))
    return tmp_path / "found"


@pytest.mark.parametrize("name", ["kept.warc", "kept.warc.gz"])
def test_revisit_records(tmp_path, findings, name):
    applied = nd.apply(findings, tmp_path / name)
    assert (applied.written, applied.documents) == (2, 4)
    before, after = records_of(b"".join(archive())), records_of((tmp_path / name).read_bytes())
    assert [kind for kind, *_ in after] == [
        "warcinfo", "revisit", "request", "response", "response", "response", "revisit",
    ]  # fmt: skip
    for place in (0, 2, 3, 4, 5):  # everything but the duplicates is as it was
        assert after[place][:3] == before[place][:3]

    near, headers = after[1][1], {name: after[1][1][name] for name in after[1][1]}
    assert near["WARC-Refers-To"] == before[3][1]["WARC-Record-ID"]
    assert near["WARC-Refers-To-Target-URI"] == "http://b/" and near["WARC-Target-URI"] == "http://a/"
    assert near["WARC-Refers-To-Date"] == "2026-01-02T03:04:05Z"
    assert near["WARC-Profile"] == "urn:neardup:revisit:near-duplicate"
    assert headers["WARC-Record-ID"] != before[1][1]["WARC-Record-ID"]
    assert after[1][2] == http_response("")  # the HTTP headers without the page

    same = after[6][1]
    assert same["WARC-Profile"].endswith("/identical-payload-digest")
    assert same["WARC-Refers-To"] == before[4][1]["WARC-Record-ID"]
    assert same["WARC-Date"] == "2026-03-04T05:06:07Z"


def test_what_is_written_can_be_scanned_again(tmp_path, findings):
    nd.apply(findings, tmp_path / "kept.warc.gz")
    found = nd.scan(tmp_path / "kept.warc.gz", tmp_path / "again", nd.Config.of(html="whole"))
    assert found.cut().kept.all() and len(found) == 2
    nd.apply(tmp_path / "again", tmp_path / "twice.warc.gz")
    assert (tmp_path / "twice.warc.gz").read_bytes() == (tmp_path / "kept.warc.gz").read_bytes()


def test_a_folder_gets_a_file_for_each_input(tmp_path):
    folder = tmp_path / "crawl"
    folder.mkdir()
    parts = archive()
    (folder / "one.warc").write_bytes(b"".join(parts[:4]))
    (folder / "two.warc.gz").write_bytes(b"".join(map(gzip.compress, parts[4:])))
    nd.scan(folder, tmp_path / "found", nd.Config.of(html="whole"))
    nd.apply(tmp_path / "found", f"{tmp_path / 'out'}/")
    one = records_of((tmp_path / "out" / "one.warc").read_bytes())
    two = records_of((tmp_path / "out" / "two.warc.gz").read_bytes())
    assert [kind for kind, *_ in one + two].count("revisit") == 2


def test_a_keeper_in_another_file(tmp_path):
    (tmp_path / "a.warc").write_bytes(captured(1, "http://a/", http_response(OTHER)))
    (tmp_path / "b.warc").write_bytes(captured(2, "http://b/", http_response(OTHER)))
    nd.scan([tmp_path / "a.warc", tmp_path / "b.warc"], tmp_path / "found", nd.Config.of(html="whole"))
    nd.apply(tmp_path / "found", tmp_path / "kept.warc")
    records = records_of((tmp_path / "kept.warc").read_bytes())
    assert [kind for kind, *_ in records] == ["response", "revisit"]
    assert records[1][1]["WARC-Refers-To-Target-URI"] == "http://a/"


def test_what_is_refused(tmp_path, findings):
    with pytest.raises(ConfigError, match="revisit records of the dropped ones"):
        nd.apply(findings, tmp_path / "dropped.warc", write="dropped")
    with pytest.raises(ConfigError, match=r"name it .warc or .warc.gz"):
        nd.apply(findings, tmp_path / "kept.warc.zst")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "some words"}\n')
    nd.scan(tmp_path / "a.jsonl", tmp_path / "other")
    with pytest.raises(ConfigError, match="only WARC inputs"):
        nd.apply(tmp_path / "other", tmp_path / "kept.warc")
    assert [path.name for path in tmp_path.glob("*.warc*")] == ["crawl.warc.gz"]


def test_a_damaged_archive_is_not_copied(tmp_path):
    data = b"".join(map(gzip.compress, archive()))
    (tmp_path / "crawl.warc.gz").write_bytes(data[:-30])
    config = nd.Config.of(html="whole")
    nd.scan(tmp_path / "crawl.warc.gz", tmp_path / "found", config, allow_rejects=0.5)
    with pytest.raises(DataError, match="is damaged and cannot be copied as WARC"):
        nd.apply(tmp_path / "found", tmp_path / "kept.warc.gz")
    assert not (tmp_path / "kept.warc.gz").exists()


def test_on_the_command_line(tmp_path):
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(map(gzip.compress, archive())))
    ran = run(
        "dedup", str(tmp_path / "crawl.warc.gz"), "--html", "whole", "-o", str(tmp_path / "kept.warc.gz")
    )
    assert ran.returncode == 0, ran.stderr
    assert [kind for kind, *_ in records_of((tmp_path / "kept.warc.gz").read_bytes())].count("revisit") == 2
