"""Real servers for tests: one, or a cluster of three masters with a replica each."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import redis


def free_port() -> int:
    """A port whose cluster bus, 10,000 above it, is free too."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port < 50_000:
                with contextlib.suppress(OSError):
                    two.bind(("127.0.0.1", port + 10_000))
                    return port


@dataclass
class Server:
    program: str
    folder: Path
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    known: bool = False  # others may have its port in mind

    def start(self) -> Server:
        """A port that was free may have been taken since; a server that nobody knows yet gets another one then."""
        while True:
            self._launch()
            try:
                self.wait()
            except AssertionError:
                if self.known or "Address already in use" not in (self.folder / "log").read_text():
                    raise
                self.port = free_port()
                continue
            self.known = True
            return self

    def _launch(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                    # A title takes the place of the environment, by which tests find what was left running.
                    "--set-proc-title", "no", "--dir", str(self.folder), *self.options,
                ],
                stdout=log,
                stderr=log,
            )  # fmt: skip

    def wait(self) -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            assert self.process is None or self.process.poll() is None, (self.folder / "log").read_text()
            with contextlib.suppress(redis.RedisError):
                reported = self.client().info("server")["process_id"]
                if (
                    self.process is None or reported == self.process.pid
                ):  # and not another one's server on its port
                    return
            time.sleep(0.02)
        raise TimeoutError(f"no answer on port {self.port}")

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=60)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@dataclass
class Cluster:
    nodes: list[Server]

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}/0"

    def cli(self, *words: str) -> str:
        for _ in range(20):
            done = subprocess.run(
                ["redis-cli", "--cluster", *words], capture_output=True, text=True, timeout=300, check=False
            )
            if "Nodes don't agree" not in done.stdout:  # the news of the last change is still on its way
                break
            time.sleep(0.5)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def masters(self) -> dict[str, Server]:
        """Node ids of masters that are up, and their servers."""
        by_port = {node.port: node for node in self.nodes if node.process is not None}
        found = {}
        for line in next(iter(by_port.values())).client().execute_command("CLUSTER NODES").items():
            address, facts = line
            port = int(address.split(":")[1])
            if "master" in facts["flags"] and "fail" not in facts["flags"] and port in by_port:
                found[facts["node_id"]] = by_port[port]
        return found

    def wait(self, replicas: bool = True) -> None:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            up = [node for node in self.nodes if node.process is not None]
            states = []
            for node in up:
                with contextlib.suppress(redis.RedisError):
                    facts = node.client().execute_command("CLUSTER INFO")
                    text = facts if isinstance(facts, dict) else {}
                    states.append(text.get("cluster_state") == "ok")
            linked = not replicas or all(
                facts.get("master_link_status") in (None, "up")
                for facts in (n.client().info("replication") for n in up)
            )
            if len(states) == len(up) and all(states) and linked:
                return
            time.sleep(0.1)
        raise TimeoutError("the cluster does not come up")


@contextlib.contextmanager
def running_cluster(program: str, folder: Path) -> Iterator[Cluster]:
    options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--appendonly", "no")
    nodes = [Server(program, folder / f"node{i}", options) for i in range(6)]
    try:
        for node in nodes:
            node.start()
        cluster = Cluster(nodes)
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        cluster.cli("create", *addresses, "--cluster-replicas", "1", "--cluster-yes")
        cluster.wait()
        yield cluster
    finally:
        for node in nodes:
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)
