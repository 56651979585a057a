"""Who gets no answer: requests that say one thing twice, and pages of other sites."""

import json

import httpx
import pytest
from support.serving import Service

from neardup.http.access import check_framing, check_single
from neardup.http.limits import Refused

PAGES = ["/", "/try", "/page/style.css", "/page/try.js"]


def sent(server: Service, head: str, body: str = "") -> tuple[int, bytes]:
    """Status and body of an answer to these very bytes."""
    with server.connect() as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body.encode())
        data = b""
        while part := connection.recv(65536):
            data += part
    response, _, rest = data.partition(b"\r\n\r\n")
    return int(response.split()[1]), rest


BODY = '{"id": "twice", "text": "a page"}'
HEAD = f"POST /v1/seen HTTP/1.1\nConnection: close\nHost: localhost\nContent-Length: {len(BODY)}"


@pytest.mark.parametrize(
    "second",
    [
        "Host: localhost",
        "Host: evil.example",
        "Origin: http://localhost\nOrigin: http://evil.example",
        "Origin: http://evil.example\nOrigin: http://localhost",
        "Authorization: Bearer a\nAuthorization: Bearer b",
        f"Content-Length: {len(BODY) - 1}",
        "Sec-Fetch-Site: cross-site\nSec-Fetch-Site: same-origin",
        "Content-Type: application/json\nContent-Type: application/x-ndjson",
        "Content-Encoding: gzip\nContent-Encoding: identity",
    ],
)
def test_what_decides_is_said_once(texts, second):
    assert sent(texts, HEAD, BODY)[0] == 200
    status, body = sent(texts, f"{HEAD}\n{second}", BODY)
    assert status == 400
    # Two lengths that differ are refused by the server itself, which has no JSON.
    if body:
        name = second.split(":")[0].lower()
        assert name in json.loads(body)["reason"] and json.loads(body)["request_id"]


CHUNKED = HEAD.replace(f"Content-Length: {len(BODY)}", "Transfer-Encoding: chunked")
CHUNKS = f"{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    "coding",
    ["chunked\nTransfer-Encoding: chunked", "chunked, chunked", "gzip, chunked", "identity", "xchunked", ""],
)
def test_a_body_comes_in_chunks_or_as_a_whole(texts, coding):
    assert sent(texts, CHUNKED, CHUNKS)[0] == 200
    assert sent(texts, CHUNKED.replace("chunked", coding), CHUNKS)[0] == 400


@pytest.mark.parametrize("length", [f"{len(BODY)}, {len(BODY)}", f"+{len(BODY)}", "-1", "0x10", "", "9" * 30])
def test_a_length_is_one_number(texts, length):
    assert sent(texts, HEAD.replace(f"{len(BODY)}", length), BODY)[0] == 400


@pytest.mark.parametrize("lines", ["{}\n{}", "{1}\n{0}"])
def test_chunks_beside_a_length_end_the_connection(texts, lines):
    """The server drops the length, or shows both headers, which is refused: granian 2.2 shows a length that is first. A
    proxy that went by the length would take what is left for the next request."""
    framing = lines.format(f"Content-Length: {len(CHUNKS)}", "Transfer-Encoding: chunked")
    head = HEAD.replace("Connection: close\n", "").replace(f"Content-Length: {len(BODY)}", framing)
    smuggled = "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n"
    status, rest = sent(texts, head, CHUNKS + smuggled)
    if status != 400 or b"not both" not in rest:
        assert status == 200 and b"connection: close" not in rest
    assert rest.count(b"HTTP/1.1") == 0


def test_chunks_beside_a_length_are_refused_if_the_server_shows_them():
    chunked = {b"transfer-encoding": b"chunked"}
    assert check_framing(chunked) and not check_framing({b"content-length": b"5"})
    with pytest.raises(Refused) as refused:
        check_framing(chunked | {b"content-length": b"5"})
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "more", [f"{len(BODY)}", f"0{len(BODY)}", f"{len(BODY)}\nContent-Length: {len(BODY)}"]
)
def test_lengths_that_agree_are_one(texts, more):
    """The server joins them, as RFC 9110 (8.6) allows, and no body becomes a request: what follows a body of this very
    length is the next request."""
    twice = HEAD.replace("Connection: close\n", "") + f"\nContent-Length: {more}"
    status, rest = sent(texts, twice, f"{BODY}{HEAD}\n\n{BODY}".replace("\n", "\r\n"))
    assert status == 200 and rest.count(b"HTTP/1.1 200") == 1


def test_two_lengths_that_agree_are_refused_if_the_server_shows_them():
    """This one joins them, as RFC 9110 allows; another might not."""
    length = (b"content-length", b"5")
    check_single([(b"host", b"localhost"), length])
    with pytest.raises(Refused) as refused:
        check_single([length, (b"host", b"localhost"), length])
    assert refused.value.status == 400 and "content-length" in refused.value.reason


def test_other_headers_may_be_there_twice(texts):
    assert sent(texts, f"{HEAD}\nAccept: text/html\nAccept: */*\nVia: a\nVia: b", BODY)[0] == 200


@pytest.mark.parametrize("path", ["/v1/health", "/try"])
def test_also_where_no_token_is_asked_for(texts, path):
    head = f"GET {path} HTTP/1.1\nConnection: close\nHost: localhost"
    assert sent(texts, head)[0] == 200
    assert sent(texts, f"{head}\nHost: localhost")[0] == 400


@pytest.mark.parametrize("path", [*PAGES, "/v1/stats", "/v1/live", "/metrics"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_get_nothing(http, path, site):
    response = http.get(path, headers={"sec-fetch-site": site, "sec-fetch-mode": "no-cors"})
    assert response.status_code == 403 and "other sites" in response.json()["reason"]
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert http.get(path, headers={"sec-fetch-site": "same-origin"}).status_code == 200
    assert http.get(path, headers={"sec-fetch-site": "none"}).status_code == 200


def test_a_link_from_elsewhere_leads_to_a_page_and_to_nothing_else(http):
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert http.get("/try", headers=link).status_code == 200
    assert http.get("/try", headers={**link, "sec-fetch-dest": "iframe"}).status_code == 403
    assert http.get("/v1/stats", headers=link).status_code == 403


@pytest.mark.parametrize("path", [*PAGES, "/v1/stats", "/v1/health", "/nothing", "/v1/documents/nobody"])
def test_no_answer_can_be_embedded_by_others(http, path):
    assert http.get(path).headers["cross-origin-resource-policy"] == "same-origin"
    tag = http.get(path).headers.get("etag")
    if tag is not None:
        again = http.get(path, headers={"if-none-match": tag})
        assert again.status_code == 304 and again.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/try", "GET, HEAD"),
        ("DELETE", "/page/style.css", "GET, HEAD"),
        ("PUT", "/v1/seen", "POST"),
        ("POST", "/v1/documents/nobody", "DELETE, GET"),
        ("OPTIONS", "/v1/health", "GET"),
    ],
)
def test_a_method_that_is_not_served(http, method, path, allowed):
    response = http.request(method, path)
    assert response.status_code == 405 and response.headers["allow"] == allowed
    assert (
        allowed in response.json()["reason"]
        and response.json()["request_id"] == response.headers["x-request-id"]
    )


def test_pages_under_another_name_are_not_served(http):
    assert http.get("/", headers={"host": "evil.example"}).status_code == 403


def test_head_has_no_body(texts):
    response = httpx.head(f"{texts.url}/v1/stats", trust_env=False)
    assert response.status_code == 405 and response.headers["allow"] == "GET" and response.content == b""
