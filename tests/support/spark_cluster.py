"""A real Spark cluster on this machine: a standalone master and workers, each a process of its own, started with
spark-class from the package on PyPI and always torn down."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pyspark
from benchmarks.spark.same import QUICK_SETTINGS

__all__ = ["Cluster", "spark_environment", "standalone", "wait_for"]

SPARK_HOME = Path(pyspark.__file__).parent
EXECUTOR = "CoarseGrainedExecutorBackend"
QUICK = QUICK_SETTINGS["spark.driver.extraJavaOptions"]
T = TypeVar("T")


def spark_environment(**more: str) -> dict[str, str]:
    """This process's environment with everything on the loopback and our own Python for the workers."""
    ours = {"SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    return {**os.environ, **ours, **more}


def wait_for(what: Callable[[], T | None], name: str, seconds: float = 300.0) -> T:
    """The first answer that is not None or False, asked for again and again; fails after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        answer = what()
        if answer is not None and answer is not False:
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {name}")
        time.sleep(0.05)


def session_of(pid: int) -> int:
    """The session a process belongs to, or -1 if it has ended or is a zombie."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return -1
    return -1 if state == "Z" else int(session)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


@dataclass
class Daemon:
    """A master or a worker: the leader of a session, to which the processes it starts belong too."""

    process: subprocess.Popen[bytes]
    log: Path

    def printed(self, pattern: str) -> str:
        """What the first group of the pattern matches in its log, once it is there."""

        def seen() -> str | None:
            assert self.process.poll() is None, f"it ended:\n{self.log.read_text()}"
            found = re.search(pattern, self.log.read_text())
            return found[1] if found else None

        return wait_for(seen, f"{pattern!r} in {self.log}")

    def family(self) -> list[int]:
        """It and all it has started that still live: executors, and their Python workers."""
        numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        return [pid for pid in numbers if session_of(pid) == self.process.pid]

    def kill(self) -> None:
        """kill -9, with everything it started; as when the machine fails."""
        while family := self.family():
            for pid in family:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.01)
        self.process.wait()


@dataclass
class Driver(Daemon):
    """A spark-submit; what its Python prints, errors too, is written to `out`, what Spark logs to `log`."""

    out: Path

    def output(self) -> str:
        return self.log.read_text() + self.out.read_text()

    def finished(self, seconds: float = 900) -> str:
        """What it printed, when it has ended well."""
        code = self.process.wait(timeout=seconds)
        assert code == 0, self.output()
        return self.out.read_text()


def start_session(
    command: list[str], log: Path, environment: dict[str, str], out: Path | None = None
) -> subprocess.Popen[bytes]:
    """A process that leads a session of its own, so that all it starts can be found and killed with it."""
    with log.open("w") as errors, (out or log).open("a") as output:
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output if out else errors,
            stderr=errors,
            start_new_session=True,
        )


@dataclass
class Cluster:
    """What runs, and where. `url` is the master's, `conf` what a driver needs to use the whole of it."""

    url: str
    page: str
    folder: Path
    master: Daemon
    workers: list[Daemon]
    drivers: list[Driver] = field(default_factory=list)

    @property
    def conf(self) -> dict[str, str]:
        """Settings of a driver: one executor of one core on each worker."""
        return {
            **QUICK_SETTINGS,
            "spark.log.level": "WARN",
            "spark.master": self.url,
            "spark.executor.memory": "640m",
            "spark.driver.memory": "640m",
            "spark.executor.extraJavaOptions": QUICK,
            "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": "4",
        }

    def status(self) -> dict[str, Any]:
        """What the master says of itself, its workers and applications."""
        with urllib.request.urlopen(f"{self.page}/json/", timeout=300) as answer:
            return json.load(answer)

    def executors(self) -> list[int]:
        """The processes of executors that live."""
        return [pid for worker in self.workers for pid in worker.family() if EXECUTOR in command_of(pid)]

    def start(self, *arguments: str, conf: dict[str, str] | None = None, **more: str) -> Driver:
        """A driver: spark-submit with the cluster's settings, `conf` on top and `more` in its environment."""
        settings = {**self.conf, **(conf or {})}
        options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        command = [str(SPARK_HOME / "bin" / "spark-submit"), *options, *arguments]
        number = len(self.drivers)
        out, log = self.folder / f"driver-{number}.out", self.folder / f"driver-{number}.log"
        driver = Driver(start_session(command, log, spark_environment(**more), out), log, out)
        self.drivers.append(driver)
        return driver

    def run(self, *arguments: str, conf: dict[str, str] | None = None, **more: str) -> str:
        """A driver from start to end: what it printed. Fails with its log when it fails."""
        return self.start(*arguments, conf=conf, **more).finished()

    def restore(self) -> None:
        """Workers in the place of those that were killed, and no driver left from before."""
        for driver in self.drivers:
            driver.kill()
        count = len(self.workers)
        alive = [worker for worker in self.workers if worker.process.poll() is None]
        for number in range(len(alive), count):
            alive.append(start_worker(self.folder, f"{time.monotonic_ns()}-{number}", self.url))
        self.workers[:] = alive
        wait_for(lambda: self.status()["aliveworkers"] == count, "all workers to be registered")


def start_daemon(folder: Path, name: str, program: str, *arguments: str) -> Daemon:
    log = folder / f"{name}.log"
    command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{program}", *arguments]
    small = {"SPARK_DAEMON_MEMORY": "192m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
    environment = spark_environment(SPARK_LOCAL_DIRS=str(folder / "local"), **small)
    return Daemon(start_session(command, log, environment), log)


def start_worker(folder: Path, name: str, url: str) -> Daemon:
    """A worker of one core and a gigabyte. Every port is a free one of the loopback."""
    place = (
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--webui-port",
        "0",
        "--work-dir",
        str(folder / f"work-{name}"),
    )
    return start_daemon(
        folder, f"worker-{name}", "worker.Worker", *place, "--cores", "1", "--memory", "1g", url
    )


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and workers; whatever happens inside, none of their processes outlives it."""
    started: list[Daemon] = []
    cluster: Cluster | None = None
    try:
        master = start_daemon(
            folder, "master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
        )
        started.append(master)
        url = master.printed(r"Starting Spark master at (spark://\S+)")
        page = "http://127.0.0.1:" + master.printed(r"started at http://[^:\s]+:(\d+)")
        started += [start_worker(folder, str(number), url) for number in range(workers)]
        cluster = Cluster(url, page, folder, master, started[1:])
        wait_for(lambda: cluster.status()["aliveworkers"] == workers, "the workers to register")
        yield cluster
    finally:
        drivers = cluster.drivers if cluster else []
        for daemon in (*drivers, *(cluster.workers if cluster else []), *reversed(started)):
            daemon.kill()
