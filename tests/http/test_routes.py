"""Every route, as a client sees it."""

import gzip
import json
import threading
from hashlib import sha256
from urllib.parse import quote

import httpx
import pytest

import neardup as nd

FERRY = (
    "The ferry leaves the north pier at eight and returns at noon, except on public holidays, when it stays in the "
    "harbour all day and the crew paint the railings, mend the nets and wait for the weather to turn."
)
HOSTILE = [
    "../../etc/passwd",
    "a\0b",
    "<script>alert(1)</script>",
    "%2e%2e/",
    "/",
    "//x?y#z",
    ".",
    "..",
    "bulk",
    "é 🌊",
    "x" * 8192,
]


def words(start: int, count: int = 60) -> str:
    return " ".join(f"w{start * 1000 + n}" for n in range(count))


def path(id: str) -> str:
    return quote(id, safe="").replace(".", "%2E")


def test_seen_distinguishes_new_from_duplicate(http):
    first = http.post("/v1/seen", json={"id": "seen/1", "text": FERRY, "meta": {"lang": "en"}})
    assert first.status_code == 200
    assert first.json() == {
        "id": "seen/1",
        "new": True,
        "duplicate_of": None,
        "distance": None,
        "similarity": None,
    }
    second = http.post("/v1/seen", json={"id": "seen/2", "text": FERRY + " Dogs ride free."}).json()
    assert not second["new"] and second["duplicate_of"] == "seen/1" and 0.8 <= second["similarity"] < 1
    again = http.post("/v1/seen", json={"id": "seen/1", "text": FERRY}).json()
    assert again["duplicate_of"] in (None, "seen/2")  # never itself


def test_search_finds_and_remembers_nothing(http):
    http.post("/v1/seen", json={"id": "search/1", "text": words(1)})
    for _ in range(2):
        hits = http.post("/v1/search", json={"text": words(1)}).json()["hits"]
        assert hits == [{"id": "search/1", "distance": 0, "similarity": 1.0}]
    assert http.post("/v1/search", json={"text": words(1), "id": "search/1"}).json() == {"hits": []}
    assert http.post("/v1/search", json={"text": words(999), "first": True}).json() == {"hits": []}


def test_html_is_read_as_text(http):
    head = "<head><title>t</title><script>var x = 1</script></head>"
    page = f"<html>{head}<body><main><p>{words(2)}</p></main></body></html>"
    assert http.post("/v1/seen", json={"id": "html/1", "html": page}).json()["new"]
    assert http.post("/v1/search", json={"text": words(2)}).json()["hits"][0]["id"] == "html/1"
    assert http.post("/v1/search", json={"html": page}).json()["hits"][0]["id"] == "html/1"


def test_document_can_be_added_read_and_removed(http):
    added = http.post(
        "/v1/documents", json={"id": "doc/1", "text": words(3), "meta": {"n": [1, {"m": None}]}, "ttl": 1e6}
    )
    assert added.status_code == 201 and added.json()["new"]
    http.post("/v1/documents", json={"id": "doc/2", "text": words(3) + " more"})
    found = http.get(f"/v1/documents/{path('doc/1')}").json()
    assert (
        found["text"] == words(3) and found["meta"] == {"n": [1, {"m": None}]} and found["keeper"] == "doc/1"
    )
    assert found["expires"] - found["added"] == pytest.approx(1e6)
    cluster = http.get(f"/v1/clusters/{path('doc/2')}").json()
    assert cluster["keeper"] == "doc/1" and [one["id"] for one in cluster["members"]] == ["doc/1", "doc/2"]
    assert http.delete(f"/v1/documents/{path('doc/1')}").json() == {"removed": 1}
    assert http.get(f"/v1/clusters/{path('doc/2')}").json()["keeper"] == "doc/2"
    for method, route in (("GET", "documents"), ("DELETE", "documents"), ("GET", "clusters")):
        gone = http.request(method, f"/v1/{route}/{path('doc/1')}")
        assert gone.status_code == 404 and gone.json()["reason"] == "there is no document of this id"


@pytest.mark.parametrize("id", HOSTILE, ids=lambda id: repr(id[:12]))
def test_ids_are_data(http, id):
    text = words(10**4 + HOSTILE.index(id))
    assert http.post("/v1/documents", json={"id": id, "text": text}).status_code == 201
    assert http.get(f"/v1/documents/{path(id)}").json()["id"] == id
    assert http.get(f"/v1/clusters/{path(id)}").json()["keeper"] == id
    assert http.delete(f"/v1/documents/{path(id)}").json() == {"removed": 1}


def test_bulk_names_the_lines_it_cannot_take(http):
    lines = [
        json.dumps({"id": "bulk/1", "text": words(5)}),
        "{broken",
        json.dumps({"id": "bulk/2", "text": words(5) + " end"}),
        json.dumps({"id": "", "text": "x"}),
        json.dumps({"id": "bulk/3"}),
        json.dumps({"id": "bulk/4", "html": f"<p>{words(6)}</p>"}),
    ]
    kind = {"content-type": "application/x-ndjson"}
    found = http.post("/v1/documents", content="\n".join(lines) + "\n", headers=kind)
    assert found.status_code == 200
    facts = found.json()
    assert (facts["documents"], facts["new"], facts["duplicates"], facts["rejected"]) == (3, 2, 1, 3)
    assert [one["line"] for one in facts["rejects"]] == [2, 4, 5]
    packed = gzip.compress("\n".join(lines).encode())
    answers = http.post(
        "/v1/documents",
        params={"answers": "true"},
        content=packed,
        headers={**kind, "content-encoding": "gzip"},
    )
    rows = [json.loads(line) for line in answers.text.splitlines()]
    assert [row.get("id") for row in rows] == ["bulk/1", None, "bulk/2", None, None, "bulk/4"]
    assert all(row["reason"] for row in rows if "id" not in row)


def test_of_lines_with_the_same_id_the_last_one_is_stored(http):
    """Whatever else they say: lines with a time to live are written apart from those without."""
    lines = [
        {"id": "again", "text": words(800)},
        {"id": "again", "text": words(801), "ttl": 1000},
        {"id": "beside", "text": words(802), "ttl": 1000},
        {"id": "again", "text": words(803)},
    ]
    body = "\n".join(json.dumps(one) for one in lines)
    kind = {"content-type": "application/x-ndjson"}
    facts = http.post("/v1/documents", content=body, headers=kind).json()
    assert (facts["documents"], facts["rejected"]) == (4, 0)
    stored = http.get("/v1/documents/again").json()
    assert (stored["text"], stored["expires"]) == (words(803), None)


def test_however_a_text_is_sent_it_is_the_same(codes):
    """Lines of ids and texts alone take a way of their own: they get the fingerprints that all others get."""
    texts = [
        words(n) + end
        for n, end in enumerate([" Größe 東京", ' 😀 \n\t"quoted" \\ end', " a\u0000b", ""], 700)
    ]
    kind = {"content-type": "application/x-ndjson"}

    def sent(name, **more):
        return [{"id": f"{name}/{n}", "text": text, **more} for n, text in enumerate(texts)]

    with httpx.Client(base_url=codes.url, trust_env=False, timeout=300) as http:
        for name, more, escaped in (
            ("plain", {}, True),
            ("letters", {}, False),
            ("more", {"meta": {"a": 1}}, True),
        ):
            lines = [json.dumps(one, ensure_ascii=escaped) for one in sent(name, **more)]
            body = "\n".join(lines).encode()
            facts = http.post("/v1/documents", content=body, headers=kind).json()
            assert (facts["documents"], facts["new"]) == (4, 4 if name == "plain" else 0)
        for one in sent("alone"):
            assert not http.post("/v1/seen", json=one).json()["new"]
        for n in range(len(texts)):
            stored = [
                http.get(f"/v1/documents/{path(f'{name}/{n}')}").json()
                for name in ("plain", "letters", "more", "alone")
            ]
            assert len({one["fingerprint"] for one in stored}) == 1
            assert {one["keeper"] for one in stored} == {f"plain/{n}"}


def test_compare(http):
    found = http.post("/v1/compare", json={"left": FERRY, "right": FERRY + " Dogs ride free."}).json()
    answer = nd.explain(FERRY, FERRY + " Dogs ride free.")
    assert (
        found["duplicate"]
        and found["similarity"] == answer.jaccard
        and found["distance"] == answer.bit_distance
    )
    pages = http.post(
        "/v1/compare", json={"left": f"<p>{FERRY}</p>", "right": f"<div>{FERRY}</div>", "html": True}
    )
    assert pages.json()["similarity"] == 1


def test_collapse(http):
    http.post("/v1/documents", json={"id": "fold/stored", "text": FERRY + " Cats too."})
    results = [
        {"id": "a", "text": FERRY},
        {"id": "b", "text": words(8)},
        {"id": "c", "html": f"<p>{FERRY} Dogs ride free.</p>"},
        {"id": "fold/stored"},
        {"id": "d", "text": words(8)},
    ]
    found = http.post("/v1/collapse", json={"results": results}).json()["results"]
    assert [(one["id"], one["rank"], [under["id"] for under in one["folded"]]) for one in found] == [
        ("a", 0, ["c", "fold/stored"]),
        ("b", 1, ["d"]),
    ]
    missing = http.post("/v1/collapse", json={"results": [{"id": "never"}]})
    assert missing.status_code == 422 and "result 0" in missing.json()["reason"]


def test_stats_health_ready_metrics_and_the_document_of_the_routes(http):
    assert http.get("/v1/health").json() == {"status": "ok"}
    assert http.get("/v1/ready").json() == {"status": "ready"}
    assert http.get("/v1/stats").json()["store"] == "text"
    http.post("/v1/seen", json={"id": "metrics/1", "text": words(9)})
    text = http.get("/metrics").text
    assert (
        'neardup_requests_total{route="/v1/seen",status="200"}' in text and "neardup_index_documents" in text
    )
    routes = http.get("/v1/openapi.json").json()["paths"]
    assert {"/v1/seen", "/v1/search", "/v1/documents", "/v1/documents/{id}", "/v1/compare", "/v1/collapse",
            "/v1/clusters/{id}", "/v1/stats", "/v1/health", "/v1/ready", "/metrics"} <= set(routes)  # fmt: skip
    assert set(routes["/v1/documents"]["post"]["requestBody"]["content"]) == {
        "application/json",
        "application/x-ndjson",
    }


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "truncated"),
        (b"{", "truncated"),
        (b"[1]", "object"),
        (b'{"id": "x", "text": "\xff"}', "utf-8"),
        (b'{"id": "x", "text": "\\ud800"}', ""),
        (b'{"id": "x"}', "exactly one"),
        (b'{"id": "x", "text": "a", "html": "b"}', "exactly one"),
        (b'{"id": "", "text": "a"}', "length"),
        (b'{"id": 5, "text": "a"}', "str"),
        (b'{"id": "x", "text": "a", "txet": "b"}', "unknown field"),
        (b'{"id": "x", "text": "a", "ttl": -1}', "ttl"),
        (b'{"id": "x", "text": "a", "ttl": 1e400}', ""),
        (b'{"id": "x", "fingerprint": "00"}', "keeps texts"),
        (json.dumps({"id": "\u00e9" * 8000, "text": "a"}).encode(), "8,192"),
        (b'{"id": "' + b"x" * 1_000_000 + b'", "text": "a"}', "length"),
        (b'{"id": "x", "text": "a", "meta": ' + b'{"a":' * 40 + b"1" + b"}" * 41, "deeper"),
        (b'{"id": "x", "text": "a", "meta": ' + b'{"a":' * 100_000, ""),
        (b"[" * 1_000_000, ""),
    ],
)
@pytest.mark.parametrize("route", ["/v1/seen", "/v1/documents"])
def test_what_cannot_be_used_is_refused_with_a_reason(http, route, body, reason):
    refused = http.post(route, content=body, headers={"content-type": "application/json"})
    assert refused.status_code == 422, refused.text
    said = refused.json()
    assert reason.lower() in said["reason"].lower() and said["request_id"] == refused.headers["x-request-id"]


def test_unknown_routes_and_methods(http):
    assert http.get("/v2/seen").status_code == 404
    wrong = http.put("/v1/seen", json={})
    assert wrong.status_code == 405 and wrong.json()["reason"]
    assert http.get("/v1/seen").status_code == 405


def test_request_ids(http):
    assert http.get("/v1/health", headers={"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert http.get("/v1/health", headers={"x-request-id": "no good"}).headers["x-request-id"] != "no good"


def test_ready_fingerprints(codes):
    with nd.Index(codes.key.parent / "own.nd", store="none", seed=1) as index:
        digits = [
            code.tobytes().hex()
            for code in index.fingerprint([FERRY, FERRY + " Dogs ride free.", words(7)]).codes
        ]
        scheme = index.scheme
    with httpx.Client(base_url=codes.url, trust_env=False, timeout=300) as http:
        answer = [
            http.post("/v1/seen", json={"id": f"p{n}", "fingerprint": d}).json() for n, d in enumerate(digits)
        ]
        assert [one["new"] for one in answer] == [True, False, True] and answer[1]["duplicate_of"] == "p0"
        assert answer[1]["distance"] == 3
        hits = http.post("/v1/search", json={"fingerprint": digits[0], "scheme": scheme}).json()["hits"]
        assert [hit["id"] for hit in hits] == ["p0", "p1"]
        assert http.get("/v1/documents/p2").json()["fingerprint"] == digits[2]
        folded = http.post(
            "/v1/collapse", json={"results": [{"id": "p1"}, {"id": "p2"}, {"id": "p0"}]}
        ).json()
        assert [(one["id"], [f["id"] for f in one["folded"]]) for one in folded["results"]] == [
            ("p1", ["p0"]),
            ("p2", []),
        ]
        for wrong in ("0", "zz" * 8, "00" * 7, "0 " * 8):
            assert http.post("/v1/seen", json={"id": "x", "fingerprint": wrong}).status_code == 422
        other = http.post("/v1/seen", json={"id": "x", "fingerprint": digits[0], "scheme": "other"})
        assert other.status_code == 422 and "scheme" in other.json()["reason"]


@pytest.mark.parametrize("kind", ["text", "fingerprint"])
def test_exactly_one_caller_gets_the_answer_new(texts, codes, kind):
    """Sixteen threads, each with a connection of its own, send the same pages at the same time."""
    server = texts if kind == "text" else codes
    rounds, threads = 10, 16
    new: list[list[str]] = [[] for _ in range(rounds)]
    gate = threading.Barrier(threads)

    def ask(number: int) -> None:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http:
            for turn in range(rounds):
                sent = (
                    {"text": words(50_000 + turn)}
                    if kind == "text"
                    else {"fingerprint": sha256(b"%d" % turn).hexdigest()[:16]}
                )
                gate.wait()
                answer = http.post("/v1/seen", json={"id": f"{kind}-{turn}-{number}", **sent}).json()
                if answer["new"]:
                    new[turn].append(answer["id"])

    workers = [threading.Thread(target=ask, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [len(one) for one in new] == [1] * rounds
