"""What a hostile or clumsy client cannot do, while /v1/health still answers."""

import asyncio
import gzip
import json
import socket
import time
import zlib

import httpx
import pytest
from support.serving import HealthWatch, Service, served

from neardup.http.limits import Budget, LateTasks, Refused, RequestLimits, check_depth, read_body


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A server with low limits."""
    with served(
        tmp_path_factory.mktemp("small") / "index.nd", "--max-body", "1MB", "--max-requests", "8"
    ) as server:
        yield server


def answer_of(connection: socket.socket) -> tuple[int, dict]:
    """Status and JSON of one answer on a bare connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        assert part, data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split()[1]), json.loads(body)


def asked(server: Service, status: int) -> None:
    """Ask until this is the answer; a busy machine may take a while to get there."""
    deadline, response = time.monotonic() + 300, 0
    while response != status:
        assert time.monotonic() < deadline, response
        sent = {"id": "s", "text": "a"}
        response = httpx.post(f"{server.url}/v1/seen", json=sent, trust_env=False, timeout=300).status_code


def test_half_open_connections_hold_up_nobody(small):
    held = [small.connect() for _ in range(300)]
    try:
        for number, connection in enumerate(held):
            if number % 3 == 1:
                connection.sendall(b"POST /v1/seen HTTP/1.1\r\nHost: localhost\r\nX-Slow")
            elif number % 3 == 2:
                connection.sendall(b"GET / HTTP/1.1\r\n")
        with HealthWatch(small) as watch:
            response = httpx.post(
                f"{small.url}/v1/seen", json={"id": "h", "text": "still here"}, trust_env=False, timeout=300
            )
            assert response.status_code == 200
        watch.check()
    finally:
        for connection in held:
            connection.close()


def test_slow_bodies_are_bounded_in_number(small):
    """Requests whose bodies do not come fill all places; one more gets an answer to try again later, and health still
    answers."""
    head = b"POST /v1/seen HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    held = [small.connect() for _ in range(8)]
    try:
        for connection in held:
            connection.sendall(head)
        asked(small, 429)
        with HealthWatch(small) as watch:
            busy = httpx.post(
                f"{small.url}/v1/seen", json={"id": "s", "text": "a"}, trust_env=False, timeout=300
            )
            assert busy.status_code == 429 and busy.json()["reason"] and busy.headers["retry-after"] == "1"
            # Those who watch the service must see that it is busy.
            counts = httpx.get(f"{small.url}/metrics", trust_env=False, timeout=300)
            assert counts.status_code == 200 and "neardup_requests_in_work 8.0" in counts.text
        watch.check()
    finally:
        for connection in held:
            connection.close()
    asked(small, 200)  # places of connections that have gone are free again


def test_wide_and_heavy_json_holds_up_nobody(texts):
    """As much as a body may hold of what takes the longest: empty lines, lines that are no JSON, small values."""
    most = 16_000_000
    wide = b",".join(b'"%d":%d' % (n, n) for n in range(1_000_000))
    heavy = {
        "/v1/documents": [b"\n" * most, b"{}\n" * 99_999, b'{"id":"x"}\n' * 99_999, b"[" * most],
        "/v1/seen": [b'{"id":"w","text":"a","meta":{%s}}' % wide, b'{"id":"w","meta":' + b"[" * (most - 20)],
        "/v1/collapse": [b'{"results":[' + b",".join([b'{"id":"a"}'] * 1_000_000) + b"]}"],
        "/v1/compare": [b'{"left":[' + b"[]," * 5_000_000 + b'[]],"right":""}'],
    }
    with (
        HealthWatch(texts) as watch,
        httpx.Client(base_url=texts.url, trust_env=False, timeout=300) as http,
    ):
        for route, bodies in heavy.items():
            kind = "application/x-ndjson" if route == "/v1/documents" else "application/json"
            for body in bodies:
                response = http.post(route, content=body, headers={"content-type": kind})
                assert response.status_code in (200, 413, 422), response.text
                said = response.json()
                assert said.get("reason") or (said["documents"] == 0 and said["rejects"])
    watch.check()


def test_declared_size_is_refused_before_it_is_sent(small):
    with small.connect() as connection, HealthWatch(small) as watch:
        connection.sendall(
            b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n"
        )
        status, said = answer_of(connection)
        assert status == 413 and "200,000,000" in said["reason"]
    watch.check()


def test_200_megabytes_without_a_declared_size(small):
    chunk = b"x" * 65536
    part = b"%x\r\n%s\r\n" % (len(chunk), chunk)
    sent = 0
    with small.connect() as connection, HealthWatch(small) as watch:
        connection.sendall(b"POST /v1/seen HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while sent < 200_000_000:
                connection.sendall(part)
                sent += len(chunk)
        except OSError:
            pass  # it would not hear more
    assert sent < 200_000_000, "the connection was ended when it was too much"
    watch.check()
    assert httpx.get(f"{small.url}/v1/ready", trust_env=False).status_code == 200


def test_gzip_bombs(small):
    bomb = gzip.compress(bytes(300_000_000), 9)
    assert len(bomb) < 1_000_000
    twice = gzip.compress(gzip.compress(bytes(30_000_000), 9), 9)
    with (
        HealthWatch(small) as watch,
        httpx.Client(base_url=small.url, trust_env=False, timeout=300) as http,
    ):
        for route in ("/v1/seen", "/v1/documents", "/v1/search"):
            response = http.post(route, content=bomb, headers={"content-encoding": "gzip"})
            assert response.status_code == 413 and "unpacked" in response.json()["reason"]
        assert http.post("/v1/seen", content=twice, headers={"content-encoding": "gzip"}).status_code == 422
        assert http.post("/v1/seen", content=b"no", headers={"content-encoding": "gzip"}).status_code == 422
        cut = gzip.compress(b'{"id": "g", "text": "packed"}')
        assert (
            http.post("/v1/seen", content=cut[:-4], headers={"content-encoding": "gzip"}).status_code == 422
        )
        assert http.post("/v1/seen", content=cut, headers={"content-encoding": "gzip"}).status_code == 200
        for other in ("br", "deflate", "gzip, gzip", "zstd"):
            response = http.post(
                "/v1/seen", content=zlib.compress(b"{}"), headers={"content-encoding": other}
            )
            assert response.status_code == 415 and response.json()["reason"]
    watch.check()


def test_deep_json(small):
    deep = [
        b'{"id": "d", "text": "t", "meta": {"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}}",
        b'{"id": "d", "text": "t", "meta": ' + b'{"a":' * 150_000,
        b"[" * 900_000,
    ]
    with (
        HealthWatch(small) as watch,
        httpx.Client(base_url=small.url, trust_env=False, timeout=300) as http,
    ):
        for body in deep:
            for route in ("/v1/seen", "/v1/search", "/v1/documents", "/v1/collapse", "/v1/compare"):
                response = http.post(route, content=body)
                assert response.status_code == 422 and response.json()["reason"], (route, body[:40])
            lines = http.post("/v1/documents", content=body, headers={"content-type": "application/x-ndjson"})
            assert lines.status_code == 200 and lines.json()["rejected"] == 1
    watch.check()


def test_clients_that_do_not_read_hold_up_nobody(small):
    """Answers nobody takes: the sender's buffers fill, and others are served."""
    ids = "\n".join(json.dumps({"id": f"{'r' * 500}{n}", "text": f"text {n}"}) for n in range(1000))
    request = (
        b"POST /v1/documents?answers=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
        b"Content-Length: %d\r\n\r\n" % len(ids)
    ) + ids.encode()
    held = []
    try:
        for _ in range(4):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", small.port))
            connection.sendall(request)
            held.append(connection)
        with HealthWatch(small) as watch:
            asked(small, 200)
        watch.check()
    finally:
        for connection in held:
            connection.close()


def test_pages_in_a_browser_are_not_served(small):
    with httpx.Client(base_url=small.url, trust_env=False, timeout=300) as http:
        post = {"content": b'{"id": "b", "text": "t"}', "headers": {"content-type": "text/plain"}}
        post["headers"]["origin"] = "https://evil.example"
        assert http.post("/v1/seen", **post).status_code == 403
        assert http.get("/v1/stats", headers={"host": "evil.example"}).status_code == 403
        assert http.get("/v1/stats", headers={"origin": small.url}).status_code == 200


def test_token(tmp_path):
    token = "correct-horse-battery"
    file = tmp_path / "token"
    file.write_text(token + "\n")
    with (
        served(tmp_path / "index.nd", "--host", "0.0.0.0", "--token-file", str(file)) as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http,
    ):
        for given in (None, "Bearer", f"Bearer {token}x", f"bearer {token}", f"Basic {token}", "Bearer \xff"):
            headers = {} if given is None else {"authorization": given.encode("latin-1")}
            for route in ("/v1/stats", "/metrics", "/v1/openapi.json", "/v1/nothing"):
                response = http.get(route, headers=headers)
                assert response.status_code == 401 and response.headers["www-authenticate"] == "Bearer"
            assert http.post("/v1/seen", json={"id": "a", "text": "b"}, headers=headers).status_code == 401
        assert http.get("/v1/health").status_code == 200 and http.get("/v1/ready").status_code == 200
        good = {"authorization": f"Bearer {token}"}
        assert http.get("/v1/stats", headers=good).json()["documents"] == 0
        assert http.post("/v1/seen", json={"id": "a", "text": "b"}, headers=good).status_code == 200
    assert not any(token in line for line in server.logs)


def fed(*messages: dict):
    """A receive channel that gives these messages, and then nothing any more."""
    waiting = list(messages)

    async def receive() -> dict:
        if not waiting:
            await asyncio.sleep(60)
        return waiting.pop(0)

    return receive


def part(body: bytes, more: bool = True) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize(
    ("messages", "declared", "status"),
    [
        ([], 5, 408),
        ([part(b"ab")], 5, 408),
        ([part(b"ab"), {"type": "http.disconnect"}], 5, 400),
        ([{"type": "http.disconnect"}], 5, 400),
        ([part(b"x" * 60), part(b"x" * 60)], 0, 413),
        ([part(b"x" * 101, False)], 0, 413),
        ([], 101, 413),
        ([part(b"x" * 60), part(b"x" * 30)], 0, 429),
    ],
)
def test_bodies_are_bounded_and_what_was_taken_is_given_back(messages, declared, status):
    budget = Budget(80 if status == 429 else 1000)
    with pytest.raises(Refused) as refused:
        asyncio.run(read_body(fed(*messages), RequestLimits(body=100), budget, LateTasks(0.05), declared))
    assert refused.value.status == status and budget.taken == 0


def test_bodies_arrive_whole():
    budget = Budget(1000)
    for messages, declared in (
        ([part(b"abc", False)], 3),
        ([part(b"abc")], 3),
        ([part(b"a"), part(b"bc", False)], 0),
    ):
        assert (
            asyncio.run(read_body(fed(*messages), RequestLimits(body=100), budget, LateTasks(1), declared))
            == b"abc"
        )
    assert budget.taken == 9


def test_one_timer_serves_all_bodies():
    """Each is cancelled when its own time is over, and those that arrive in time are not."""

    async def main() -> list[str]:
        late, found = LateTasks(0.05), []

        async def one(name: str, *messages: dict) -> None:
            try:
                await read_body(fed(*messages), RequestLimits(body=100), Budget(1000), late, 3)
                found.append(f"{name} here")
            except Refused as refused:
                found.append(f"{name} {refused.status}")

        first, second = (asyncio.ensure_future(one(name)) for name in ("first", "second"))
        await one("third", part(b"abc"))
        await first
        last = asyncio.ensure_future(one("last"))
        await second
        await last
        await one("fifth", part(b"abc"))
        return found

    assert asyncio.run(main()) == ["third here", "first 408", "second 408", "last 408", "fifth here"]


@pytest.mark.parametrize(("depth", "taken"), [(32, True), (33, False)])
def test_depth_is_inclusive(depth, taken):
    value: object = 1
    for number in range(depth):
        value = {"a": value} if number % 2 else [value, 2]
    if taken:
        check_depth(value, 32)
    else:
        with pytest.raises(Refused):
            check_depth(value, 32)
