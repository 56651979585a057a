"""What a capture brings along: its record id, place, digest, status and headers; and which responses are documents."""

import gzip

import pytest
from support.archives import captured, http_response, warc_record

import neardup as nd

PAGE = "<p>The ferry leaves the north pier at eight.</p>"


def archive():
    return [
        warc_record("warcinfo", b"software: a crawler\r\n", "application/warc-fields", "urn:uuid:info"),
        captured(1, "http://a/", http_response(PAGE, more="Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n")),
        warc_record("request", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request", "urn:uuid:r"),
        captured(
            2,
            "http://a/",
            http_response(PAGE),
            date="2026-02-02T03:04:05Z",
            more="WARC-Payload-Digest: sha1:ABC",
        ),
        captured(3, "http://old/", http_response("moved", "301 Moved Permanently")),
        captured(4, "http://gone/", http_response("not found", "404 Not Found")),
        captured(5, "http://part/", http_response("half a page", "206 Partial Content")),
        captured(6, "http://broken/", http_response("sorry", "500 Internal Server Error")),
        captured(7, "http://new/", http_response("created", "201 Created")),
    ]


@pytest.mark.parametrize("by", ["record", "file", None])
def test_fields_of_a_capture(tmp_path, by):
    records = archive()
    pieces = [gzip.compress(record) for record in records] if by == "record" else records
    data = gzip.compress(b"".join(records)) if by == "file" else b"".join(pieces)
    (tmp_path / "crawl.warc").write_bytes(data)
    reader = nd.read(tmp_path / "crawl.warc")
    documents = list(reader.documents())

    assert [d.id[-2:] for d in documents] == ["01", "02", "07"]
    assert all(d.id.startswith("urn:uuid:") for d in documents)
    assert [d.meta["url"] for d in documents] == ["http://a/", "http://a/", "http://new/"]
    assert [d.meta["date"][:7] for d in documents] == ["2026-01", "2026-02", "2026-01"]
    assert [d.meta["status"] for d in documents] == [200, 200, 201]
    places = [sum(map(len, pieces[:n])) for n in (1, 3, 8)]
    assert [d.meta["offset"] for d in documents] == ([None] * 3 if by == "file" else places)
    assert documents[1].meta["digest"] == "sha1:ABC"
    assert documents[0].meta["digest"].startswith("sha1:") and len(documents[0].meta["digest"]) == 37
    assert documents[0].meta["http_headers"].splitlines() == [
        "Content-Type: text/html; charset=utf-8",
        "Set-Cookie: a=1",
        "Set-Cookie: b=2",
    ]
    account = reader.account
    assert account.passed_over == {
        "WARC redirect": 1,
        "WARC error response": 2,
        "WARC response with a part of a page": 1,
    }
    assert account.rows == 7 and account.documents == 3 and not account.rejected


def test_captures_of_one_url_do_not_collide(tmp_path):
    pages = [
        captured(n, "http://a/", http_response(f"<p>News of day {n}: {'word ' * n}</p>")) for n in range(1, 6)
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(pages))
    assert len({d.id for d in nd.read(tmp_path / "a.warc").documents()}) == 5


def test_a_record_without_an_id_is_named_by_its_place(tmp_path):
    page = warc_record(
        "response", http_response(PAGE), "application/http; msgtype=response", None, "http://a/"
    )
    (tmp_path / "a.warc").write_bytes(page * 2)
    names = [d.id for d in nd.read(tmp_path / "a.warc").documents()]
    assert len(set(names)) == 2 and all(name.startswith("a.warc") for name in names)


def test_many_empty_members_keep_the_places_right(tmp_path):
    empty, record = gzip.compress(b""), captured(1, "http://a/", http_response(PAGE))
    (tmp_path / "a.warc.gz").write_bytes(
        empty * 500 + gzip.compress(record) + empty * 3 + gzip.compress(record)
    )
    offsets = [d.meta["offset"] for d in nd.read(tmp_path / "a.warc.gz").documents()]
    size = len(empty)
    assert offsets == [500 * size, 503 * size + len(gzip.compress(record))]
