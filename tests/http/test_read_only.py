"""An index that is only read, beside its writer; and a token that only reads."""

import time
from pathlib import Path

import httpx
import pytest
from support.command import run
from support.serving import served

import neardup as nd
from neardup.errors import ConfigError
from neardup.http.server import ListenAddress

FERRY = "The ferry leaves the north pier at eight and returns at noon"
NETS = "The crew mend the nets on the quay in winter while the tide is out"
CHANGES = (
    ("POST", "/v1/seen", {"json": {"id": "x", "text": NETS}}),
    ("POST", "/v1/documents", {"json": {"id": "x", "text": NETS}}),
    (
        "POST",
        "/v1/documents",
        {"content": b'{"id": "x", "text": "t"}\n', "headers": {"content-type": "application/x-ndjson"}},
    ),
    ("DELETE", "/v1/documents/a", {}),
)


def hits(http: httpx.Client, text: str, headers: dict | None = None) -> list[str]:
    answer = http.post("/v1/search", json={"text": text}, headers=headers)
    assert answer.status_code == 200, answer.text
    return [hit["id"] for hit in answer.json()["hits"]]


def test_beside_the_writer(tmp_path):
    with nd.Index(tmp_path / "index.nd") as index:
        index.seen(FERRY, id="a")
        with (
            served(tmp_path / "index.nd", "--read-only") as server,
            httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http,
        ):
            assert hits(http, FERRY) == ["a"]
            assert http.get("/v1/ready").status_code == 200
            for method, path, sent in CHANGES:
                answer = http.request(method, path, **sent)
                assert answer.status_code == 403 and "only reads" in answer.json()["reason"]
            index.seen(NETS, id="b")
            index.remove("a")
            deadline = time.monotonic() + 300
            while hits(http, NETS) != ["b"] or hits(http, FERRY):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert http.get("/v1/stats").json()["documents"] == 1
            assert server.stop() == 0
    with nd.Index(tmp_path / "index.nd") as index:
        assert [entry.id for entry in index.documents()] == ["b"]


def test_an_index_that_is_not_there_is_not_made(tmp_path):
    answer = run("serve", str(tmp_path / "none.nd"), "--read-only", "--port", "0")
    assert answer.returncode and b"none.nd: there is no index" in answer.stderr
    assert not (tmp_path / "none.nd").exists()


def test_a_time_to_live_is_for_writers(tmp_path):
    answer = run("serve", str(tmp_path / "index.nd"), "--read-only", "--ttl", "5")
    assert answer.returncode and b"--ttl" in answer.stderr


def tokens(folder: Path) -> tuple[str, str, list[str]]:
    writer, reader = "a-token-that-writes", "a-token-that-reads"
    (folder / "writer").write_text(writer)
    (folder / "reader").write_text(reader)
    for file in ("writer", "reader"):
        (folder / file).chmod(0o600)
    options = ["--token-file", str(folder / "writer"), "--read-token-file", str(folder / "reader")]
    return writer, reader, options


def test_a_token_that_only_reads(tmp_path):
    writer, reader, options = tokens(tmp_path)
    writes, reads = ({"authorization": f"Bearer {token}"} for token in (writer, reader))
    with (
        served(tmp_path / "index.nd", *options) as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http,
    ):
        assert http.post("/v1/seen", json={"id": "a", "text": FERRY}, headers=writes).json()["new"]
        assert hits(http, FERRY, reads) == hits(http, FERRY, writes) == ["a"]
        for path in ("/v1/documents/a", "/v1/stats", "/v1/live", "/metrics"):
            assert http.get(path, headers=reads).status_code == 200
            assert http.get(path).status_code == 401
        for method, path, sent in CHANGES:
            headers = {**sent.get("headers", {}), **reads}
            answer = http.request(method, path, **{**sent, "headers": headers})
            assert answer.status_code == 403 and "this token only reads" in answer.json()["reason"]
        assert http.get("/v1/stats", headers=writes).json()["documents"] == 1
    assert not any(token in line for token in (writer, reader) for line in server.logs)


def test_tokens_that_are_refused():
    one, two = "a-token-that-writes", "a-token-that-reads"
    assert ListenAddress(token=one, reader=two).reader == two
    for token, reader in ((one, one), (None, two), (one, "short")):
        with pytest.raises(ConfigError):
            ListenAddress(token=token, reader=reader)
    assert one not in repr(ListenAddress(token=one, reader=two))
    assert two not in repr(ListenAddress(token=one, reader=two))
