"""What a request may use: memory is checked before it is taken, and nobody works for a client that is gone."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from support.serving import Service, served

import neardup as nd
from neardup.http.app import make_app
from neardup.http.deadline import Deadline
from neardup.http.limits import RequestLimits

LARGE, MANY = 8 << 20, 24


def peak(server: Service) -> int:
    """The most memory the server has had so far, in bytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc (run it on Linux)")
def test_stored_texts_are_not_loaded_beyond_the_budget(tmp_path):
    with nd.Index(tmp_path / "index.nd") as index:
        for number in range(MANY):
            words = f"ferry {number} pier noon "
            index.add([nd.Document(f"{number}", words * (LARGE // len(words)))])
    with (
        served(tmp_path / "index.nd", "--max-body", "1MB") as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http,
    ):
        http.post("/v1/collapse", json={"results": [{"id": "a", "text": "ferry"}]})
        before = peak(server)
        replies = http.post("/v1/collapse", json={"results": [{"id": f"{n}"} for n in range(MANY)]})
        assert replies.status_code == 413
        assert peak(server) - before < 2 * LARGE  # not one of them was unpacked whole
        assert "send fewer results" in replies.json()["reason"]
        assert http.post("/v1/collapse", json={"results": [{"id": "0", "text": "x"}]}).status_code == 200


def words(number: int) -> str:
    """A text that takes seconds to compare: close to the largest, all of its words differ."""
    return " ".join(f"{number}w{n}" for n in range(110_000))


def request(number: int) -> bytes:
    body = json.dumps({"left": words(number), "right": words(number + 1)}).encode()
    head = f"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def send_and_hang_up(server: Service, many: int) -> None:
    with ExitStack() as held, httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http:
        for number in range(many):
            sent = request(2 * number)
            held.enter_context(server.connect()).sendall(sent)
        deadline = time.monotonic() + 300
        while http.get("/v1/live").json()["in_work"] < many // 2:
            assert time.monotonic() < deadline, "the requests are in work by now"


def test_work_for_clients_that_hung_up_is_cancelled(tmp_path):
    with (
        served(tmp_path / "index.nd") as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http,
    ):
        send_and_hang_up(server, 12)
        deadline = time.monotonic() + 300
        while http.get("/v1/live").json()["in_work"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        counts = http.get("/metrics").text
        found = re.search(r'neardup_requests_total\{route="/v1/compare",status="499"\} (\d+)', counts)
        assert found and int(found.group(1)) >= 4
        assert http.post("/v1/compare", json={"left": "a", "right": "b"}).status_code == 200


def test_sigterm_ends_in_time_whatever_runs(tmp_path):
    """Forty comparisons take minutes; the process has 20 seconds, and gives most of them up."""
    with served(tmp_path / "index.nd") as server:
        send_and_hang_up(server, 40)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=600) == 0
    logged = [json.loads(line) for line in server.logs]
    assert logged[-1]["event"] == "stopped"
    assert sum(line.get("status") in (499, 503) for line in logged) >= 10


SHORT = """
import sys
from neardup.http.limits import RequestLimits
from neardup.http.run import serve
from neardup.http.server import ListenAddress
from neardup.index import Index
limits = RequestLimits(drain_seconds=4)
serve(lambda: Index(sys.argv[1]), ListenAddress(port=0), limits, started=lambda url: print(url, flush=True))
"""


def test_clients_that_still_wait_at_the_end_are_refused(tmp_path):
    command = [sys.executable, "-c", SHORT, str(tmp_path / "index.nd")]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        ExitStack() as held,
    ):
        held.callback(process.kill)
        server = Service(process, process.stdout.readline().strip())
        connections = []
        for number in range(30):
            sent = request(2 * number)
            connections.append(held.enter_context(server.connect()))
            connections[-1].sendall(sent)
        deadline = time.monotonic() + 300
        while httpx.get(f"{server.url}/v1/live", trust_env=False, timeout=300).json()["in_work"] < 20:
            assert time.monotonic() < deadline, "the requests are in work by now"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=600) == 0
        replies = [connection.recv(12) for connection in connections]
    assert set(replies) <= {b"HTTP/1.1 200", b"HTTP/1.1 503", b""} and replies.count(b"HTTP/1.1 503") >= 10


def test_a_deadline_waits_for_no_thread():
    code = """
import threading, time
from neardup.http.deadline import Deadline
with Deadline(0.5) as deadline:
    threading.Thread(target=time.sleep, args=(600,)).start()
    deadline.start()
    deadline.start()
    time.sleep(600)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, check=False)
    said = json.loads(done.stderr)
    assert done.returncode == 0 and said["event"] == "stopped" and "given up" in said["reason"]


def test_a_deadline_that_was_kept_ends_nothing():
    with Deadline(0.05) as deadline:
        deadline.start()
    time.sleep(0.2)


def test_a_slow_request_has_its_time_and_no_more():
    """The index is never opened here: texts are tried in the only thread for it, which is taken."""
    application, services = make_app(RequestLimits(answer_seconds=0.2), indexed=False)
    service = services[""]
    body = b'{"left": "a text"}'
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/try",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-length", b"%d" % len(body))],
    }
    sent: list[dict] = []

    async def ask() -> None:
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict:
            while not waiting:
                await asyncio.sleep(60)
            return waiting.pop()

        async def send(message: dict) -> None:
            sent.append(message)

        await application(scope, receive, send)

    free = threading.Event()
    service.trying.submit(free.wait, 60)
    try:
        asyncio.run(ask())
    finally:
        free.set()
        service.close()
    assert sent[0]["status"] == 503 and b"within 0.2 seconds" in sent[1]["body"]
    assert application.in_work == 0
