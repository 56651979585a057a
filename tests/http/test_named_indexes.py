"""Several indexes in one service, and tokens that are each for some of them."""

import json
from pathlib import Path

import httpx
import pytest
from support.command import run
from support.serving import served

from neardup.errors import ConfigError
from neardup.http.access import EVERY, Grant
from neardup.http.client import Client, ServiceError
from neardup.http.server import ListenAddress
from neardup.http.tokens import check_name, read_grants
from neardup.scrapy.options import Options
from neardup.scrapy.seen_store import ServiceMemory

FERRY = "The ferry leaves the north pier at eight and returns at noon"
NETS = "The crew mend the nets on the quay in winter while the tide is out"
CRAWLER, SEARCH, BOARD = "the-crawler-writes-pages", "the-search-reads-news", "the-dashboard-reads-all"
TOKENS = f"""
[crawler]
token = "{CRAWLER}"
write = ["pages"]
read = ["news"]

[search]
token = "{SEARCH}"
read = ["news"]

[dashboard]
token = "{BOARD}"
read = ["*"]
"""


def secret(file: Path, text: str = TOKENS, mode: int = 0o600) -> Path:
    file.write_text(text)
    file.chmod(mode)
    return file


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """One index without a name, two with names, and tokens for them."""
    folder = tmp_path_factory.mktemp("several")
    named = [f"--index={name}={folder / name}.nd" for name in ("pages", "news")]
    with served(folder / "main.nd", *named, "--tokens", str(secret(folder / "tokens.toml"))) as server:
        yield server


def asked(server, token: str, method: str, path: str, **sent) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.request(method, server.url + path, headers=headers, trust_env=False, timeout=300, **sent)


def test_each_index_has_its_own_documents_and_its_own_owners(several):
    for name in ("pages", "news"):
        answer = asked(several, CRAWLER, "POST", f"/v1/indexes/{name}/seen", json={"id": name, "text": FERRY})
        assert answer.status_code == (200 if name == "pages" else 403), answer.text
    assert "only reads" in answer.json()["reason"]
    found = [
        asked(several, CRAWLER, "POST", f"/v1/indexes/{name}/search", json={"text": FERRY}).json()["hits"]
        for name in ("pages", "news")
    ]
    assert [hit["id"] for hit in found[0]] == ["pages"] and found[1] == []
    assert asked(several, CRAWLER, "GET", "/v1/indexes/pages/documents/pages").json()["text"] == FERRY
    assert asked(several, CRAWLER, "GET", "/v1/indexes/news/documents/pages").status_code == 404


def test_an_index_that_a_token_may_not_read_is_not_there(several):
    for path in ("/v1/stats", "/v1/indexes/pages/stats", "/v1/indexes/never/stats"):
        answer = asked(several, SEARCH, "GET", path)
        assert (answer.status_code, answer.json()["reason"]) == (404, "there is nothing at this path")
    answer = asked(several, SEARCH, "POST", "/v1/indexes/pages/seen", json={"id": "x", "text": NETS})
    assert answer.status_code == 404
    assert asked(several, SEARCH, "GET", "/v1/indexes/news/stats").status_code == 200
    for token in (CRAWLER[:-1], "not-one-of-the-tokens"):
        for path in ("/v1/indexes/news/stats", "/v1/indexes/never/stats", "/v1/indexes"):
            assert asked(several, token, "GET", path).status_code == 401


def test_what_is_listed_and_described_is_what_a_token_may_read(several):
    def listed(token: str) -> dict[str, tuple[str, bool]]:
        answer = asked(several, token, "GET", "/v1/indexes").json()["indexes"]
        assert all(one["state"] == "ready" for one in answer)
        return {one["name"]: (one["path"], one["writes"]) for one in answer}

    pages, news = ("/v1/indexes/pages", True), ("/v1/indexes/news", False)
    assert listed(CRAWLER) == {"pages": pages, "news": news}
    assert listed(SEARCH) == {"news": news}
    assert listed(BOARD) == {"default": ("/v1", False), "pages": (pages[0], False), "news": news}
    described = {
        token: set(asked(several, token, "GET", "/v1/openapi.json").json()["paths"])
        for token in (SEARCH, BOARD)
    }
    assert "/v1/indexes/news/seen" in described[SEARCH]
    assert not any("pages" in path or path == "/v1/seen" for path in described[SEARCH])
    assert {"/v1/seen", "/v1/indexes/pages/seen", "/v1/indexes/news/documents/{id}"} <= described[BOARD]
    for path in described[BOARD]:
        answer = asked(several, BOARD, "PATCH", path.replace("{id}", "x"))
        assert answer.status_code == 405, path


def test_pages_of_an_index_that_is_not_there_for_a_token(several, tmp_path):
    """The page that tries texts asks whether there is an index: there is none for this token, and no number of it."""
    hidden = asked(several, SEARCH, "GET", "/v1/live").json()
    assert (hidden["state"], hidden["routes"], hidden["history"], hidden["index"]) == ("none", [], [], None)
    assert asked(several, BOARD, "GET", "/v1/live").json()["state"] == "ready"
    tried = asked(several, SEARCH, "POST", "/v1/try", json={"left": FERRY, "right": NETS})
    assert tried.status_code == 200


def test_numbers_are_of_each_index_and_for_those_who_may_read_it(several):
    answer = asked(several, CRAWLER, "POST", "/v1/indexes/pages/seen", json={"id": "n", "text": NETS})
    assert answer.status_code == 200
    live = asked(several, CRAWLER, "GET", "/v1/indexes/pages/live").json()
    assert live["state"] == "ready" and live["new"] >= 1
    assert "/v1/seen" in {route["route"] for route in live["routes"]}
    text = {token: asked(several, token, "GET", "/metrics").text for token in (SEARCH, BOARD)}
    counted = 'neardup_requests_total{index="pages",route="/v1/seen",status="200"}'
    assert counted in text[BOARD] and counted not in text[SEARCH]
    assert 'neardup_index_documents{index="pages"}' in text[BOARD]
    assert (
        'neardup_index_ready{index="pages"} 1.0' in text[BOARD] and "neardup_index_ready 1.0" in text[BOARD]
    )
    assert "neardup_index_documents 0.0" in text[BOARD] and 'index="pages"' not in text[SEARCH]
    assert 'neardup_index_documents{index="news"} 0.0' in text[SEARCH]


def test_the_client_and_a_crawl_name_the_index(several):
    with Client(several.url, index="pages", token=CRAWLER) as client:
        assert client.ready() and client.seen("tide tables for May and June", id="tides").new
        assert client.get("tides") is not None
        assert client.compare(FERRY, NETS)["duplicate"] is False
    crawl = Options(service=several.url, service_index="pages", token=CRAWLER)
    memory = ServiceMemory(crawl)
    verdict = memory.seen(["again"], ["Tide tables, for May and June!"])[0]
    memory.close()
    assert verdict.duplicate_of == "tides"
    with Client(several.url, index="news", token=CRAWLER) as client, pytest.raises(ServiceError) as refused:
        client.seen(FERRY, id="x")
    assert refused.value.status == 403
    with pytest.raises(ConfigError):
        Client(several.url, index="../main")
    with pytest.raises(ConfigError):
        Options(index="pages.nd", service_index="pages")


def test_without_an_index_without_a_name(tmp_path):
    """The routes of such an index are not there; each page belongs to an index that is named."""
    with served(None, f"--index=pages={tmp_path / 'pages.nd'}") as server:
        assert asked(server, "none", "GET", "/v1/ready").status_code == 200
        assert asked(server, "none", "POST", "/v1/seen", json={"id": "a", "text": FERRY}).status_code == 404
        answer = asked(server, "none", "POST", "/v1/indexes/pages/seen", json={"id": "a", "text": FERRY})
        assert answer.json()["new"]
        assert asked(server, "none", "GET", "/").status_code == 200
        assert asked(server, "none", "GET", "/v1/live").json()["state"] == "none"
        assert server.stop() == 0
    logged = [json.loads(line) for line in server.logs]
    assert [line["index"] for line in logged if line["event"] == "ready"] == ["pages"]


def test_one_index_that_cannot_be_opened_ends_the_service(tmp_path):
    (tmp_path / "file").write_text("no index")
    answer = run("serve", "--port=0", f"--index=a={tmp_path / 'a.nd'}", f"--index=b={tmp_path / 'file'}")
    assert answer.returncode == 1 and b"Traceback" not in answer.stderr
    assert run("index", "verify", str(tmp_path / "a.nd")).returncode == 0


def test_names_and_files_that_are_refused(tmp_path):
    for name in ("", "Pages", "a/b", "..", "a.b", "default", "x" * 64):
        with pytest.raises(ConfigError):
            check_name(name)
    names, one = ("", "pages"), 'token = "0123456789abcdef"\n'
    for text, why in (
        ("", "no token in it"),
        ("[a", "not TOML"),
        ("a = 1", "a table is needed"),
        ("[a]\nread = ['pages']", "there is no token"),
        (f"[a]\n{one}", "name the indexes"),
        (f"[a]\n{one}read = 'pages'", "a list of names"),
        (f"[a]\n{one}read = ['news']", "there are: default, pages"),
        (f"[a]\n{one}reads = ['pages']", "'reads' is not known"),
    ):
        with pytest.raises(ConfigError, match=why):
            read_grants(secret(tmp_path / "tokens", text), names)
    for mode in (0o640, 0o604, 0o620):
        with pytest.raises(ConfigError, match="chmod 600"):
            read_grants(secret(tmp_path / "tokens", f"[a]\n{one}read = ['*']", mode), names)
    text = f"[a]\n{one}read = ['default']\nwrite = ['pages']"
    (grant,) = read_grants(secret(tmp_path / "tokens", text, 0o600), names)
    assert grant == Grant("0123456789abcdef", frozenset({""}), frozenset({"pages"}))
    assert "0123456789abcdef" not in repr(grant)
    with pytest.raises(ConfigError, match="the same"):
        ListenAddress(grants=(grant, Grant(grant.token, frozenset({EVERY}))))
    with pytest.raises(ConfigError, match="needs a token"):
        ListenAddress("0.0.0.0")
    assert ListenAddress("0.0.0.0", grants=(grant,)).access.local is False


@pytest.mark.parametrize("given", [(), ("--index=pages",), ("--index=a=x", "--index=a=y"), ("--index=A=x",)])
def test_commands_that_are_refused(given):
    answer = run("serve", *given)
    assert answer.returncode == 1 and b"Traceback" not in answer.stderr and b"index" in answer.stderr.lower()
