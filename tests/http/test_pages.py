"""The service's pages and what they ask for."""

import json
import time

import httpx
import pytest
from support.serving import served

from neardup.pages.files import CSP

TOKEN = "a-token-of-sixteen-or-more"
PAGES = ["/", "/try", "/page/style.css", "/page/dom.js", "/page/live.js", "/page/try.js", "/page/trial.js"]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_its_policy_and_is_not_sent_twice(http, path):
    answer = http.get(path)
    assert answer.status_code == 200 and answer.headers["content-security-policy"] == CSP
    again = http.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304 and again.content == b""
    assert http.head(path).headers["content-length"] == str(len(answer.content))


@pytest.mark.parametrize(
    "path", ["/page/serving.py", "/page/..%2fserving.py", "/page/", "/live.html", "/page/../../etc"]
)
def test_there_are_no_other_files(http, path):
    assert http.get(path).status_code == 404


def test_pages_take_nothing(http):
    assert http.post("/", content=b"x").status_code in (404, 405)
    assert http.put("/try", content=b"x").status_code == 405


def test_live_counts_and_remembers_the_last_hits(http):
    before = http.get("/v1/live").json()
    for id_ in ("live-a", "live-b"):
        http.post(
            "/v1/seen", json={"id": id_, "text": "the heron stands in the shallow water of the live index"}
        )
    lines = "".join(
        json.dumps({"id": f"live-{i}", "text": "the heron stands in the shallow water of the live index"})
        + "\n"
        for i in range(70)
    )
    http.post("/v1/documents", content=lines, headers={"content-type": "application/x-ndjson"})
    after = http.get("/v1/live").json()
    assert after["state"] == "ready" and after["in_work"] == 0
    assert after["new"] - before["new"] == 1 and after["duplicates"] - before["duplicates"] == 71
    assert len(after["hits"]) == 50  # and no more, however many there were
    last = after["hits"][0]
    assert last["id"] == "live-69" and last["duplicate_of"] == "live-a" and last["similarity"] == 1.0
    assert abs(last["at"] - time.time()) < 60 and "heron" not in json.dumps(after)
    routes = {one["route"]: one for one in after["routes"]}
    assert routes["/v1/seen"]["requests"] >= 2 and 0 < routes["/v1/seen"]["p50"] <= routes["/v1/seen"]["p99"]
    assert after["index"]["documents"] == http.get("/v1/stats").json()["documents"]


def test_try_compares_and_remembers_nothing(http):
    documents = http.get("/v1/stats").json()["documents"]
    asked = {
        "left": "one two three four five six",
        "right": "one two three four five seven",
        "threshold": 0.5,
    }
    answer = http.post("/v1/try", json=asked).json()
    assert answer["pair"]["jaccard"] == pytest.approx(1 / 3) and not answer["pair"]["duplicate"]
    assert (
        len(answer["left"]["bits"]) == 64
        and len(answer["left"]["sketch"]) == answer["bands"] * answer["rows"]
    )
    assert http.post("/v1/try", json={"left": "one"}).json()["right"] is None
    assert http.get("/v1/stats").json()["documents"] == documents


def test_try_is_bounded(http):
    assert http.post("/v1/try", json={"left": "x" * (1 << 18)}).status_code == 200
    assert http.post("/v1/try", json={"left": "x" * ((1 << 18) + 1)}).status_code == 413
    assert http.post("/v1/try", json={"left": "x", "threshold": 0}).status_code == 422
    assert http.post("/v1/try", content=b'{"left": "\\ud800"}').status_code == 422


def test_the_public_seed_is_the_only_one_shown(texts, http):
    """What a trial shows is the same on every service: it says nothing of this index's own seed."""
    from neardup.pipeline.trace import trial

    shown = http.post("/v1/try", json={"left": "a page about a ferry"}).json()
    assert shown["left"]["code"] == trial("a page about a ferry").left.code
    scheme = http.get("/v1/live").json()["index"]["scheme"]
    assert "seed=secret-" in scheme


def test_with_a_token_pages_are_open_and_numbers_are_not(tmp_path):
    with (
        served(tmp_path / "index.nd", environment={"NEARDUP_TOKEN": TOKEN}) as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=300) as client,
    ):
        assert client.get("/").status_code == client.get("/try").status_code == 200
        for expected in (401, 200):
            assert client.get("/v1/live").status_code == expected
            assert client.post("/v1/try", json={"left": "a"}).status_code == expected
            client.headers["authorization"] = f"Bearer {TOKEN}"


def test_pages_of_other_origins_learn_nothing(http):
    for route in ("/v1/live", "/v1/stats"):
        assert http.get(route, headers={"origin": "http://evil.example"}).status_code == 403
        assert http.get(route, headers={"host": "evil.example"}).status_code == 403
