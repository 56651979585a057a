"""The review page's server: who may come in, what it says, and how it ends."""

from __future__ import annotations

import gzip
import json
import resource
import shlex
import signal
import socket
import threading

import httpx
import pytest
from support.command import run
from support.reviewing import reviewed, run_cli, scanned

from neardup.findings import read_decisions
from neardup.findings.decision_log import DECISIONS


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return scanned(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def server(found):
    with reviewed(found) as server:
        yield server


def test_only_who_knows_the_address(server):
    with httpx.Client(base_url=server.base, trust_env=False, timeout=60) as client:
        for path in ("/api/state", "/api/overview", "/api/decisions", "/api/nothing"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert (
            client.post("/api/decisions", json={"decision": "accept", "left": 0, "right": 1}).status_code
            == 401
        )
        for path in ("/", "/review/main.js", "/page/style.css"):
            assert client.get(path).status_code == 200
    with server.client() as client:
        assert client.get("/api/state").status_code == 200
        assert client.get("/api/state", headers={"Host": "evil.example"}).status_code == 403
        assert client.get("/", headers={"Host": "evil.example:80"}).status_code == 403
        assert client.get("/api/state", headers={"Origin": "http://evil.example"}).status_code == 403
        assert client.post("/api/decisions", json={}, headers={"Origin": "null"}).status_code == 403
    assert server.base.startswith("http://127.0.0.1:") and len(server.token) >= 32


def test_a_strict_policy_and_no_cors(server):
    with server.client() as client:
        for path in ("/", "/review/review.css", "/api/state"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy and headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert not any(name.startswith("access-control") for name in headers)
        page = client.get("/").text
        assert "<style" not in page and "style=" not in page and page.count("<script") == 1


def test_other_sites_get_nothing(server):
    elsewhere = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    with server.client() as client:
        for path in ("/", "/review/main.js", "/api/state"):
            assert client.get(path, headers=elsewhere).status_code == 403
            assert client.get(path, headers={"sec-fetch-site": "same-origin"}).status_code == 200
            run_cli = client.put(path)
            assert run_cli.status_code == 405 and run_cli.headers["allow"] and run_cli.json()["reason"]
        for path in ("/", "/api/state", "/api/nothing", "/api/figures"):
            assert client.get(path).headers["cross-origin-resource-policy"] == "same-origin"
        link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        assert client.get("/", headers=link).status_code == 200
        assert client.get("/api/state", headers=link).status_code == 403


def test_wrong_questions(server):
    with server.client() as client:
        for path, status in (
            ("/api/figures?threshold=0.1", 422), ("/api/figures?threshold=nan", 422), ("/api/figures", 400),
            ("/api/figures?threshold=x", 400), ("/api/cluster?threshold=0.8&row=-1", 422),
            ("/api/cluster?threshold=0.8&row=99999999999999999999", 422),
            ("/api/compare?threshold=0.8&left=0&right=99", 422),
            ("/api/clusters?threshold=0.8&order=x", 422), ("/api/clusters?threshold=0.8&offset=-5&limit=-1", 200),
            ("/nothing", 404), ("/review/../../../etc/passwd", 404), ("/review/%2e%2e/api.js", 404),
        ):  # fmt: skip
            answer = client.get(path)
            assert answer.status_code == status, (path, answer.text)
            assert status == 200 or answer.json()["reason"]
        good = {"decision": "accept", "left": 0, "right": 1}
        for changes in ({"decision": "maybe"}, {"right": 0}, {"right": 10**30}, {"left": "x"}, {"more": 2}):
            sent = good | changes
            assert client.post("/api/decisions", json=sent).status_code in (400, 422), sent
        packed, how = gzip.compress(b"x" * 2_000_000), {"content-encoding": "gzip"}
        assert client.post("/api/decisions", content=packed, headers=how).status_code == 413
        assert client.delete("/api/decisions").status_code == 405


def test_numbers_and_pages(server, found):
    overview = server.get("overview")
    assert overview["documents"] == 10 and overview["threshold"] == 0.8 and overview["steps"][0] == 0.5
    assert server.get("figures", threshold=0.8)["dropped"] == int((~found.cut(0.8).kept).sum())
    listed = server.get("clusters", threshold=0.8, order="size")
    assert [one["size"] for one in listed["clusters"]] == [4, 2, 2]
    cluster = server.get("cluster", threshold=0.8, row=found.row_of("b-far"))
    assert cluster["keeper"]["id"] == "b" and [one["id"] for one in cluster["members"]] == [
        "b-far",
        "b-near",
        "b-same",
    ]
    assert cluster["why"].startswith("By the keep policy: the longest is kept")
    assert cluster["members"][-1]["same"] and not cluster["members"][0]["kept"]


def test_decisions_are_saved_and_exported(server, found):
    b, far = found.row_of("b"), found.row_of("b-far")
    made = server.decide("reject", b, far)
    assert made["label"] == 0 and made["similarity"] > 0.5 and made["decisions"] == 1
    assert [d.decision for d in read_decisions(found)] == ["reject"]
    assert server.get("state")["revision"] == made["revision"]
    cluster = server.get("cluster", threshold=0.8, row=b)
    assert [one["id"] for one in cluster["rejected"]] == ["b-far"] and cluster["size"] == 3
    with server.client() as client:
        lines = client.get("/api/decisions").text.splitlines()
    assert len(lines) == 1 and '"left": "b"' in lines[0]
    server.decide("keep", found.row_of("b-near"), b)
    assert server.get("cluster", threshold=0.8, row=b)["why"] == "You chose it."
    assert server.get("clusters", threshold=0.8, show="decided")["total"] == 1
    server.decide("clear", b, far)
    server.decide("clear", b, found.row_of("b-near"))
    assert server.get("state")["decisions"] == 0


def test_two_servers_share_the_decisions(server, found):
    a, near = found.row_of("a"), found.row_of("a-near")
    with reviewed(found) as other:
        before = server.get("state")["revision"]
        threads = [
            threading.Thread(target=one.decide, args=("accept", a, near))
            for one in (server, other)
            for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.get("state") == other.get("state")
        assert server.get("state")["revision"] == before + 10
        other.decide("clear", a, near)
    assert server.get("state")["decisions"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_on_request(found, number):
    with reviewed(found) as server:
        assert server.get("state")["decisions"] == 0
        assert server.stop(number) == 0


def test_what_it_says_to_people(found, tmp_path):
    said = run("review", str(tmp_path))
    assert said.returncode == 1 and b"contains no findings" in said.stderr
    assert run_cli("review", str(found.path), "--export", str(tmp_path))[0] == 1
    assert run_cli("review", str(found.path), "--export", found.manifest["inputs"][0]["path"])[0] == 1
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = run("review", str(found.path), "--port", str(taken.getsockname()[1]))
    assert said.returncode == 1 and b"cannot listen" in said.stderr


def test_the_command_on_the_page_gives_its_numbers(tmp_path):
    """Also with a policy of the review's own, and a name that a shell would take apart."""
    (tmp_path / "my files").mkdir()
    found = scanned(tmp_path / "my files")
    with reviewed(found, "--keep", "last", "--many", "2", "--among", "within", "--prefer", "south") as server:
        command = shlex.split(server.get("overview")["command"])
        assert command[:3] == ["neardup", "apply", str(found.path)]
        for threshold in (0.5, 0.8, 0.97):
            out = str(tmp_path / f"{threshold}.jsonl")
            code, said = run_cli(*command[1:], "--threshold", str(threshold), "--out", out, "--json")
            answer, figures = json.loads(said), server.get("figures", threshold=threshold)
            assert (
                code == 0 and answer["written"] == figures["kept"] and answer["dropped"] == figures["dropped"]
            )


def test_a_full_disk_is_reported_and_the_log_remains_whole(tmp_path):
    """The kernel's own limit on the size of a file imitates a full disk: a write is cut short, then refused."""
    found = scanned(tmp_path)
    log = found.path / DECISIONS
    with reviewed(found) as server:
        server.decide("reject", 0, 1)
        whole = log.read_bytes()
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (len(whole) + 40, len(whole) + 4000))
        with server.client() as client:
            sent = {"decision": "reject", "left": 2, "right": 3}
            refused = client.post("/api/decisions", json=sent)
            assert refused.status_code == 503 and "not saved" in refused.json()["reason"]
            assert server.get("state")["decisions"] == 1
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (len(whole) + 4000,) * 2)
            assert client.post("/api/decisions", json=sent).status_code == 200
    assert log.read_bytes().startswith(whole) and len(read_decisions(found)) == 2


def test_a_swap_is_of_its_own_pair_alone(tmp_path):
    """Another pair of the same keeper is not decided, so nothing can be undone about it."""
    found = scanned(tmp_path)
    b, near, far = (found.row_of(id) for id in ("b", "b-near", "b-far"))
    with reviewed(found) as server:
        server.decide("keep", near, b)
        asked = [server.get("compare", threshold=0.8, left=near, right=other) for other in (b, far)]
        assert [one["swapped"] for one in asked] == [True, False]
        server.decide("clear", near, b)
        assert not server.get("compare", threshold=0.8, left=near, right=b)["swapped"]


def test_a_body_nested_without_end_is_refused(server):
    with server.client() as client:
        deep = client.post(
            "/api/decisions", content=b"[" * 90_000, headers={"Content-Type": "application/json"}
        )
        assert deep.status_code == 422 and "got `array`" in deep.json()["reason"]
