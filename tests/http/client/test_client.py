"""The client against real servers, and against one that fails in every way there is."""

import asyncio
import contextlib
import socket
import threading
import time

import pytest

import neardup as nd
from neardup.http.client import AsyncClient, Client, Retry, ServiceError

QUICK = Retry(times=4, first=0.01, longest=0.05)


def words(start: int, count: int = 60) -> str:
    return " ".join(f"v{start * 1000 + n}" for n in range(count))


def test_every_call(texts):
    with Client(texts.url) as client:
        assert client.ready()
        assert client.seen(words(1), id="c/1", meta={"a": 1}).new
        assert client.seen(f"<p>{words(1)} end</p>", id="c/2", html=True).duplicate_of == "c/1"
        assert [hit.id for hit in client.search(words(1), id="c/1")] == ["c/2"]
        assert client.get("c/1")["meta"] == {"a": 1} and client.get("c/../1") is None
        assert [member.id for member in client.cluster("c/2").members] == ["c/1", "c/2"] and client.cluster(
            "no"
        ) is None
        assert client.compare(words(1), words(1))["verdict"] == "identical"
        folded = client.collapse(["c/1", nd.Document("other", words(2)), "c/2"])
        assert [(one["id"], len(one["folded"])) for one in folded] == [("c/1", 1), ("other", 0)]
        assert client.stats()["documents"] >= 2
        assert client.remove("c/1") and not client.remove("c/1")
        with pytest.raises(ServiceError) as refused:
            client.seen("text", id="")
        assert refused.value.status == 422 and refused.value.request_id


def test_batches_come_back_in_order(texts):
    documents = [nd.Document(f"batch/{n}", words(100 + n // 2) + f" {n}") for n in range(25)]
    with Client(texts.url, batch=7) as client:
        answers = list(client.seen_all(documents))
        with pytest.raises(ServiceError):
            list(client.seen_all([nd.Document("", "text")]))
    assert [one.id for one in answers] == [one.id for one in documents]
    assert [one.new for one in answers] == [n % 2 == 0 for n in range(25)]


def test_awaited(texts):
    async def main() -> None:
        async def coming():
            for n in range(9):
                yield nd.Document(f"async/{n}", words(300 + n // 3))

        async with AsyncClient(texts.url, batch=4) as client:
            assert await client.ready()
            answers = [one async for one in client.seen_all(coming())]
            assert [one.new for one in answers] == [n % 3 == 0 for n in range(9)]
            assert [one.id async for one in client.seen_all([nd.Document("async/x", words(400))])] == [
                "async/x"
            ]
            twice = await asyncio.gather(*(client.seen(words(401), id=f"async/t{n}") for n in range(8)))
            assert sum(one.new for one in twice) == 1
            assert {hit.id for hit in await client.search(words(401))} == {f"async/t{n}" for n in range(8)}
            assert (await client.get("async/x"))["text"] == words(400)
            assert (await client.cluster("async/1")).keeper == "async/0"
            assert (await client.compare("a b", "a b"))["duplicate"]
            assert len(await client.collapse(["async/0", "async/1"])) == 1
            assert (await client.stats())["documents"]
            assert await client.remove("async/x") and await client.get("async/x") is None

    asyncio.run(main())


def test_with_a_key_no_text_is_sent(codes):
    with Client(codes.url, key=codes.key) as client:
        assert client.seen(words(500), id="k/1").new
        answers = list(client.seen_all([nd.Document("k/2", words(500) + " end"), nd.Document("k/3", "")]))
        assert answers[0].duplicate_of == "k/1" and answers[1].new
        assert client.get("k/1")["text"] is None
        assert client.search(words(500))[0].id == "k/1"


class Flaky:
    """A server with given answers, a connection at a time."""

    def __init__(self, *answers: bytes) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.times: list[float] = []
        self._thread = threading.Thread(target=self._run, args=(answers,), daemon=True)
        self._thread.start()

    def _run(self, answers: tuple[bytes, ...]) -> None:
        for answer in answers:
            connection, _ = self._listening.accept()
            self.times.append(time.monotonic())
            with connection:
                connection.settimeout(60)
                connection.recv(65536)
                connection.sendall(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listening.close()
        self._thread.join(60)


def answer(status: int, body: bytes, more: str = "") -> bytes:
    return (
        f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{more}\r\n".encode()
        + body
    )


GOOD = answer(200, b'{"id": "a", "new": true, "duplicate_of": null, "distance": null, "similarity": null}')
BUSY = answer(429, b'{"reason": "busy", "request_id": "r"}', "Retry-After: 1\r\n")


def test_it_comes_back_after_failures():
    with (
        Flaky(
            b"", BUSY, answer(503, b"gone"), b"HTTP/1.1 200 X\r\nContent-Length: 90\r\n\r\n{", GOOD
        ) as server,
        Client(server.url, retry=QUICK) as client,
    ):
        assert client.seen("text", id="a").new
    assert len(server.times) == 5

    async def main() -> None:
        with Flaky(b"", BUSY, GOOD) as server:
            async with AsyncClient(server.url, retry=QUICK) as client:
                assert (await client.seen("text", id="a")).new
            assert len(server.times) == 3

    asyncio.run(main())


def dripping(ended: threading.Event) -> tuple[socket.socket, str]:
    """A server whose answers begin well and never end: a byte now and then, as long as somebody reads."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, contextlib.suppress(OSError):
                    connection.recv(1 << 16)
                    connection.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 90\r\n\r\n")
                    while not ended.wait(0.02):
                        connection.sendall(b" ")

    threading.Thread(target=serve, daemon=True).start()
    return listening, f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_an_answer_that_never_ends():
    """Each byte comes in time; the whole does not."""
    ended = threading.Event()
    options = {"retry": Retry(0), "timeout": 0.3, "budget": 0.3}
    listening, url = dripping(ended)
    with listening:
        with Client(url, **options) as client, pytest.raises(ServiceError, match="in time") as late:
            client.seen("text", id="a")
        assert late.value.unavailable

        async def main() -> None:
            async with AsyncClient(url, **options) as client:
                with pytest.raises(ServiceError, match="in time"):
                    await client.seen("text", id="a")

        asyncio.run(main())
        ended.set()


@pytest.mark.parametrize(
    "body",
    [
        b"<html>sign in to this network</html>",
        b"",
        b"[1, 2]",
        b"[" * 100_000,
        b'{"x": 1}',
        b'{"id": 5, "new": "yes", "duplicate_of": 7, "distance": null, "similarity": null, "hits": 3}',
        b'{"id": "a", "hits": [1], "members": [{}], "keeper": "a", "results": {}}',
    ],
)
def test_something_else_at_the_address(body):
    for call in (
        lambda client: client.seen("text", id="a"),
        lambda client: list(client.seen_all([nd.Document("a", "text")])),
        lambda client: client.search("text"),
        lambda client: client.cluster("a"),
        lambda client: client.collapse(["a"]),
    ):
        with (
            Flaky(answer(200, body)) as server,
            Client(server.url, retry=Retry(0)) as client,
            pytest.raises(ServiceError, match="something else at its address"),
        ):
            call(client)
    with Flaky(b"\x00\xff garbage\r\n\r\n") as server, Client(server.url, retry=Retry(0)) as client:
        with pytest.raises(ServiceError) as garbage:
            client.seen("text", id="a")
        assert garbage.value.status == 0


def test_it_gives_up_with_a_reason():
    with Flaky(BUSY, BUSY) as server, Client(server.url, retry=Retry(1, 0.01, 0.02)) as client:
        with pytest.raises(ServiceError, match="busy") as refused:
            client.seen("text", id="a")
        assert refused.value.status == 429 and refused.value.request_id == "r"
    with Flaky(answer(422, b'{"reason": "no", "request_id": "q"}')) as server, Client(server.url) as client:
        with pytest.raises(ServiceError, match="no"):
            client.seen("text", id="a")
        assert len(server.times) == 1  # a wrong request is not sent again
    with (
        Client("http://127.0.0.1:9", retry=Retry(1, 0.01, 0.02)) as client,
        pytest.raises(ServiceError) as nobody,
    ):
        client.stats()
    assert nobody.value.status == 0 and "127.0.0.1:9" in str(nobody.value)


def test_pauses_grow_and_follow_the_service():
    retry = Retry(times=6, first=0.1, longest=1.0)
    assert all(0.05 * 2**n <= retry.pause(n, 503, None) <= 0.1 * 2**n for n in range(3))
    assert retry.pause(5, 0, None) <= 1.0 and retry.pause(6, 0, None) is None
    assert 0.5 <= retry.pause(0, 429, "1") <= 1.0 and retry.pause(0, 429, "3600") == 1.0
    assert retry.pause(0, 422, None) is None


@pytest.mark.parametrize("options", [{"url": "ftp://x"}, {"batch": 0}, {"token": "a", "token_file": "b"}])
def test_wrong_settings(options):
    with pytest.raises(nd.ConfigError):
        Client(**options)
