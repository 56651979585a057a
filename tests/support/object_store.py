"""A real object store with the interface of S3 on this machine: SeaweedFS, whose program is in a package."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import fs

from support.skips import PACKAGES, not_run

__all__ = ["KEY", "SECRET", "Store", "cut_at", "need_s3a", "s3a_classpath", "stored_objects"]

JARS = Path(sys.prefix) / "share" / "s3a"
KEY, SECRET = "neardup", secrets.token_hex(8)
PORTS = ("s3.port", "s3.port.grpc", "filer.port", "filer.port.grpc", "master.port", "master.port.grpc",
         "volume.port", "volume.port.grpc", "admin.port", "admin.port.grpc", "metricsPort")  # fmt: skip
# These settings of Hadoop have units now, which its older client of S3 does not read.
WITHOUT_UNITS = {
    "threads.keepalivetime": "60",
    "connection.timeout": "200000",
    "connection.establish.timeout": "5000",
    "connection.ttl": "300000",
    "multipart.purge.age": "86400",
}


@dataclass(frozen=True)
class Store:
    """A running store with one empty bucket."""

    bucket: str
    endpoint: str
    metrics: str

    @property
    def system(self) -> fs.S3FileSystem:
        return fs.S3FileSystem(
            access_key=KEY, secret_key=SECRET, endpoint_override=self.endpoint, region="us-east-1"
        )

    def requests(self) -> Counter[str]:
        """How many requests of each kind the server has answered, as it counts them itself."""
        with urllib.request.urlopen(self.metrics, timeout=60) as answer:
            text = answer.read().decode()
        found: Counter[str] = Counter()
        for kind, count in re.findall(
            r'^SeaweedFS_s3_request_total\{.*type="(\w+)"\} (\d+)', text, re.MULTILINE
        ):
            found[kind] += int(count)
        return found

    def names(self, folder: str) -> list[str]:
        """All objects below a folder of the bucket."""
        every = self.system.get_file_info(
            fs.FileSelector(f"{self.bucket}/{folder}", recursive=True, allow_not_found=True)
        )
        return sorted(one.path.removeprefix(f"{self.bucket}/{folder}/") for one in every if one.is_file)

    def read(self, name: str) -> bytes:
        with self.system.open_input_file(f"{self.bucket}/{name}") as file:
            return bytes(file.read())

    def write(self, name: str, data: bytes) -> None:
        with self.system.open_output_stream(f"{self.bucket}/{name}", compression=None) as file:
            file.write(data)

    def copy(self, folder: Path, name: str) -> None:
        """Store all files of a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.write(f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())

    def settings(self, keys: bool = True) -> dict[str, str]:
        """What Hadoop needs to know, for this bucket alone."""
        made = {
            "endpoint": self.endpoint,
            "path.style.access": "true",
            "aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
            **WITHOUT_UNITS,
        }
        if keys:
            made |= {"access.key": KEY, "secret.key": SECRET}
        return {f"fs.s3a.bucket.{self.bucket}.{name}": value for name, value in made.items()}


def s3a_classpath() -> dict[str, str]:
    """The settings with which a Spark finds Hadoop's client of S3; none if it is not here."""
    jars = sorted(str(path) for path in JARS.glob("*.jar"))
    return {"spark.driver.extraClassPath": ":".join(jars)} if jars else {}


def need_s3a() -> None:
    if not s3a_classpath():
        not_run(f"no Hadoop client of S3 in {JARS}", f"sh tools/s3a_jars.sh {sys.prefix}")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


@contextmanager
def cut_at(endpoint: str, sign: bytes) -> Iterator[str]:
    """An address that leads to the endpoint, and cuts each connection on which these bytes are sent."""
    port = int(endpoint.rpartition(":")[2])

    def pump(source: socket.socket, target: socket.socket, sign: bytes | None) -> None:
        with suppress(OSError):
            while (data := source.recv(1 << 16)) and (sign is None or sign not in data):
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def join(client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", port)) as server:
            back = threading.Thread(target=pump, args=(server, client, None))
            back.start()
            pump(client, server, sign)
            back.join()

    def accept(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=join, args=(listener.accept()[0],)).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept, args=(listener,))
        accepting.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()


@contextmanager
def stored_objects(folder: Path) -> Iterator[Store]:
    """The server with its files in a folder, killed at the end."""
    program = Path(sys.executable).with_name("weed")
    found = str(program) if program.exists() else shutil.which("weed")
    if found is None:
        not_run("the program weed of SeaweedFS is not installed", PACKAGES)
    for attempt in range(5):  # another process may take a port before the server does
        with _started(found, folder / str(attempt)) as store:
            if store is not None:
                yield store
                return
    raise AssertionError((folder / "4" / "log").read_text())


@contextmanager
def _started(program: str, folder: Path) -> Iterator[Store | None]:
    folder.mkdir(parents=True)
    ports = dict(zip(PORTS, _free_ports(len(PORTS)), strict=True))
    store = Store(
        f"pages-{ports['s3.port']}",
        f"http://127.0.0.1:{ports['s3.port']}",
        f"http://127.0.0.1:{ports['metricsPort']}/metrics",
    )
    options = {
        "dir": ".", "bucket": store.bucket, "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "admin.ui": "false",
        "webdav": "false", "master.telemetry": "false", "s3.port.iceberg": "0", "s3.port.lance": "0",
        "filer.localSocket": "filer.sock", "s3.localSocket": "s3.sock", **ports,
    }  # fmt: skip
    environment: dict[str, Any] = {**os.environ, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [program, "mini", *(f"-{name}={value}" for name, value in options.items())],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield store if _ready(store, process) else None
    finally:
        process.kill()
        process.wait()
        for port in ports.values():  # it makes them there, whatever its folder is
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left.unlink()


def _ready(store: Store, process: subprocess.Popen[bytes]) -> bool:
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        try:
            store.write("ready", b"")
            return True
        except (OSError, urllib.error.URLError):
            time.sleep(0.05)
    return False
