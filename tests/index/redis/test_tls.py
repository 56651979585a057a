"""TLS as a fleet would use it: a real server with certificates of its own authority, and the messages that a client
gets."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import redis
from reference.redis import Server, free_port

import neardup as nd
from neardup.cli import main
from neardup.index.redis import SharedIndexError
from neardup.index.redis.address import Address

CODES = {"config": nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3)), "scheme": "bare64"}
SECRET = "hunter2%2F%40x"


class Guarded(NamedTuple):
    port: int
    folder: Path

    def url(self, host: str = "127.0.0.1", *options: str, user: str = f"crawler:{SECRET}@") -> str:
        said = "&".join(["name=pages", *options])
        return f"rediss://{user}{host}:{self.port}/0?{said}"

    def file(self, option: str, name: str) -> str:
        return f"{option}={self.folder / name}"


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=300)


def certificates(folder: Path) -> None:
    """An authority, a server's certificate for 127.0.0.1, and a client's, with all that Python 3.13 asks for."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    uses = ("-addext", "keyUsage=critical,keyCertSign")
    openssl(
        folder, "req", "-x509", *key, *uses, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA"
    )  # fmt: skip
    (folder / "more").write_text("subjectAltName=IP:127.0.0.1\nauthorityKeyIdentifier=keyid\n")
    for name in ("server", "client"):
        openssl(folder, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl(
            folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", f"{name}.pem", "-days", "2", "-extfile", "more",
        )  # fmt: skip


@pytest.fixture(scope="module")
def guarded(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A server that wants TLS, a client's certificate, a user and a password."""
    folder = tmp_path_factory.mktemp("tls")
    certificates(folder)
    made = Guarded(free_port(), folder)
    (folder / "redis.conf").write_text(
        f'port 0\ntls-port {made.port}\nbind 127.0.0.1\nsave ""\nset-proc-title no\n'
        "tls-cert-file server.pem\ntls-key-file server.key\n"
        "tls-ca-cert-file ca.pem\ntls-auth-clients yes\nuser default off\nuser crawler on >hunter2/@x ~* &* +@all\n"
    )
    process = subprocess.Popen([redis_server, "redis.conf"], cwd=folder, stdout=subprocess.DEVNULL)
    client = redis.Redis(
        port=made.port, host="127.0.0.1", ssl=True, ssl_ca_certs=str(folder / "ca.pem"), username="crawler",
        password="hunter2/@x", ssl_certfile=str(folder / "client.pem"), ssl_keyfile=str(folder / "client.key"),
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while True:
        try:
            client.ping()
            break
        except redis.ConnectionError:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
    client.close()
    yield made
    process.terminate()
    process.wait()


def codes(*words: int) -> nd.fingerprints.Codes:
    return nd.fingerprints.Codes(
        "bare64", np.zeros(len(words), bool), 64, np.array(words, np.uint64).reshape(-1, 1)
    )


def own(guarded: Guarded) -> tuple[str, ...]:
    return guarded.file("cert", "client.pem"), guarded.file("key", "client.key")


def test_with_certificates(guarded: Guarded) -> None:
    where = guarded.url("127.0.0.1", guarded.file("ca", "ca.pem"), *own(guarded))
    with nd.Index(where, **CODES) as one, nd.Index(where) as two:
        prints = codes(*range(0, 2**20, 2**10))
        ids = [f"p{row}" for row in range(len(prints.codes))]
        assert one.seen_prints(ids, prints)[0].new
        assert two.seen_prints(["copy"], codes(1))[0].duplicate_of == "p0"
        assert two.verify().problems == ()


def test_an_authority_that_is_not_known(guarded: Guarded) -> None:
    start = time.monotonic()
    with pytest.raises(SharedIndexError, match=r"not trusted \(self-signed .*\);.* ca=FILE") as caught:
        nd.Index(guarded.url("127.0.0.1", *own(guarded), "timeout=600"))
    assert time.monotonic() - start < 300  # it is not tried again and again
    assert "hunter2" not in str(caught.value)


def test_another_host_than_the_certificate_names(guarded: Guarded) -> None:
    with pytest.raises(SharedIndexError, match=r"not trusted \(.*not valid for 'localhost'\);"):
        nd.Index(guarded.url("localhost", guarded.file("ca", "ca.pem"), *own(guarded)))


def test_without_a_certificate_of_its_own(guarded: Guarded) -> None:
    with pytest.raises(SharedIndexError) as caught:
        nd.Index(guarded.url("127.0.0.1", guarded.file("ca", "ca.pem"), "timeout=1"))
    assert "hunter2" not in str(caught.value)


def test_tls_where_there_is_none(server: Server) -> None:
    with pytest.raises(SharedIndexError, match="speak TLS"):
        nd.Index(f"rediss://127.0.0.1:{server.port}/0?timeout=1")


def test_certificates_are_for_tls(guarded: Guarded, tmp_path: Path) -> None:
    with pytest.raises(nd.ConfigError, match="rediss://"):
        Address.of(f"redis://127.0.0.1:{guarded.port}/0?{guarded.file('ca', 'ca.pem')}")
    with pytest.raises(nd.ConfigError, match="no such file"):
        Address.of(f"rediss://127.0.0.1/0?ca={tmp_path / 'none'}")


def test_a_wrong_password_is_not_shown(guarded: Guarded) -> None:
    files = (guarded.file("ca", "ca.pem"), *own(guarded))
    with pytest.raises(SharedIndexError, match="password") as caught:
        nd.Index(guarded.url("127.0.0.1", *files, user="crawler:swordfish@"))
    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "redis://crawler:hunter2@127.0.0.1:1/0?name=a",
        "redis://crawler:hunter2@127.0.0.1:port/0?name=a",
        "redis://:hunter2/x@127.0.0.1:1/0",
        "redis://:hunter2#x@127.0.0.1:1/0",
        "redis://:hunter2?x@127.0.0.1:1/0",
        "redis://:x@hunter2/@127.0.0.1:1/0",
        "redis://hunter2?x@127.0.0.1:1/0",
        "redis://x?hunter2@127.0.0.1:1/0",
        "redis://crawler:12?hunter2@127.0.0.1:1/0",
        "redis://crawler:x@hunter2?x@127.0.0.1:1/0",
        "redis://x?name=hunter2@127.0.0.1:1/0",
        "redis://x?expected=hunter2@127.0.0.1:1/0",
        "redis://x?ca=hunter2@127.0.0.1:1/0",
        "redis://:hunter2[@127.0.0.1:1/0",
        "redis://:hunter2\u2100@127.0.0.1:1/0",
        "redis://127.0.0.1:1/0?password=hunter2",
        "redis+cluster://crawler:hunter2@127.0.0.1:1?name=a",
        "redis+unix://crawler:hunter2@/tmp/none.sock?name=a",
    ],
)
def test_a_password_is_in_no_message(
    address: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    address += ("&" if "?" in address else "?") + "timeout=0.1"
    with caplog.at_level(logging.DEBUG):
        for words in (["get", address, "x", "--json"], ["stats", address], ["remove", address, "x"]):
            with pytest.raises(SystemExit) as ended:
                main(["index", *words])
            assert ended.value.code
    answer = capsys.readouterr()
    assert "hunter2" not in answer.out + answer.err + caplog.text
    try:
        made = Address.of(address)
    except nd.ConfigError as error:
        assert "hunter2" not in str(error)
    else:
        assert "hunter2" not in repr(made) + made.shown


def test_the_command_line_shows_no_password(guarded: Guarded, capsys: pytest.CaptureFixture[str]) -> None:
    where = guarded.url("127.0.0.1", guarded.file("ca", "ca.pem"), *own(guarded))
    with nd.Index(where, **CODES) as index:
        index.seen_prints(["shown"], codes(2**60))
        assert (
            "hunter2"
            not in f"{index.path} {index!r} {vars(index)} {vars(index._store)} {vars(index._store._connection)}"
        )
    for words in (["stats"], ["get", "shown"], ["verify"], ["remove", "shown"]):
        main(["index", words[0], where, *words[1:], "--json"])
        answer = capsys.readouterr()
        assert json.loads(answer.out)
        assert "hunter2" not in answer.out + answer.err


def test_a_worker_in_a_process_of_its_own(guarded: Guarded) -> None:
    """No traceback, no password."""
    done = subprocess.run(
        [sys.executable, "-m", "neardup", "index", "stats", guarded.url("127.0.0.1", *own(guarded))],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0
    assert "not trusted" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
