"""SIGTERM: what is in work is finished, what was acknowledged is there, the exit code is 0. At any moment."""

import json
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest
from support.command import start
from support.serving import served

import neardup as nd
from neardup.http.server import ListenAddress


def test_sigterm_during_load_loses_nothing_acknowledged(tmp_path):
    stored: list[str] = []
    refused: list[int] = []

    with served(tmp_path / "index.nd") as server:

        def send(number: int) -> None:
            with httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http:
                for turn in range(100_000):
                    id = f"{number}-{turn}"
                    try:
                        answer = http.post("/v1/seen", json={"id": id, "text": f"page {id} of load"})
                    except httpx.TransportError:
                        return
                    if answer.status_code != 200:
                        refused.append(answer.status_code)
                        return
                    stored.append(id)

        workers = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for worker in workers:
            worker.start()
        deadline = time.monotonic() + 300
        while len(stored) < 50 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.stop() == 0
        for worker in workers:
            worker.join()
    assert len(stored) >= 50 and set(refused) <= {503}
    with nd.Index(tmp_path / "index.nd", mode="read") as index:
        assert all(id in index for id in stored)
        assert len(index) <= len(stored) + 8
    events = [json.loads(line) for line in server.logs]
    assert events[0]["event"] == "ready" and events[-1]["event"] == "stopped"
    assert events[-1]["unfinished"] == 0  # it did not wait until the time for that was over


def test_requests_in_work_are_answered(tmp_path):
    lines = "\n".join(json.dumps({"id": str(n), "text": f"some words about {n} " * 20}) for n in range(4000))
    found = []
    with served(tmp_path / "index.nd") as server:
        post = threading.Thread(
            target=lambda: found.append(
                httpx.post(
                    f"{server.url}/v1/documents",
                    content=lines,
                    headers={"content-type": "application/x-ndjson"},
                    trust_env=False,
                    timeout=300,
                )
            )
        )
        post.start()
        deadline = time.monotonic() + 300
        live = f"{server.url}/v1/live"
        while not found and not httpx.get(live, trust_env=False, timeout=300).json()["in_work"]:
            assert time.monotonic() < deadline, "the request has arrived by now"
        assert server.stop() == 0
        post.join()
    assert found and (found[0].status_code == 503 or found[0].json()["documents"] == 4000)


def test_a_server_that_fails_while_the_index_is_opened_is_no_success():
    """The port was free when it was looked at, and is not when it is listened on."""
    code = """
import socket, time
from neardup.http import server as listening
from neardup.http import run
taken = socket.create_server(("127.0.0.1", 0))
listening._free_port = lambda _: taken.getsockname()[1]
run.serve(lambda: time.sleep(600), listening.ListenAddress())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, check=False)
    [*_, said] = done.stderr.decode().splitlines()
    assert done.returncode == 1, done.stderr
    assert json.loads(said)["event"] == "stopped" and "in use" in json.loads(said)["reason"]
    assert "stack" not in said.lower()


@pytest.mark.parametrize("delay", [0.0, 0.4, 0.8, 1.3])
def test_sigterm_while_starting(tmp_path, delay):
    process = start("serve", str(tmp_path / "index.nd"), "--port", "0")
    time.sleep(delay)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=300)
    # Before the command itself runs, Python ends as the signal says; there is nothing to be finished then.
    assert process.returncode in (0, -signal.SIGTERM) and "Traceback" not in errors
    if '"ready"' in errors:
        assert process.returncode == 0
    with nd.Index(tmp_path / "index.nd") as index:
        assert len(index) == 0


def test_interrupt_is_no_failure_either(tmp_path):
    with served(tmp_path / "index.nd") as server:
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=300) == 0


def test_what_cannot_be_served_is_said_in_a_line(tmp_path, texts):
    def refusal(*options: str) -> str:
        process = start("serve", str(tmp_path / "index.nd"), "--port", "0", *options)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 1 and "Traceback" not in errors
        return errors

    assert "needs a token" in refusal("--host", "0.0.0.0")
    with pytest.raises(nd.ConfigError, match="16 printable"):
        ListenAddress("0.0.0.0", token="short")
    with nd.Index(tmp_path / "index.nd"):
        assert "write" in refusal()  # another process writes to it
    assert "cannot listen" in refusal("--port", str(texts.port))
