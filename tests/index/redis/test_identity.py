"""A server that lost its data, or has another index under the name, is noticed by every open worker; ids that were lost
are put back and no document is removed for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reference.redis import Server

import neardup as nd
from neardup.errors import SharedIndexError

TEXTS = [
    f"page {n} about {'abcdefghij'[n % 10] * 5} and the {n * 7919} ways to say something else in {n} words"
    for n in range(200)
]


@pytest.fixture
def own_server(redis_server: str, tmp_path: Path):
    made = Server(redis_server, tmp_path).start()
    yield made
    made.kill()


def documents(texts: list[str]) -> list[nd.Document]:
    return [nd.Document(f"id{n}", text) for n, text in enumerate(texts)]


def test_an_emptied_server_is_refused(own_server: Server) -> None:
    address = f"{own_server.url}?name=pages"
    with nd.Index(address) as old, nd.Index(address) as reader:
        assert all(answer.new for answer in old.seen(documents(TEXTS[:20])))
        own_server.client().flushall()
        for call in (
            lambda: old.seen(documents(TEXTS[:1])),
            lambda: old.add(documents(TEXTS[20:22])),
            lambda: reader.search(TEXTS[0]),
            lambda: old.remove(["id1"]),
            lambda: old.compact(),
            lambda: old.verify(),
        ):
            with pytest.raises(SharedIndexError, match=r"no longer has this index.*neardup index replay"):
                call()

        # Another worker makes the index again. The open ones do not write into it, and it does not see their keys.
        with nd.Index(address) as new:
            assert new.seen(documents(TEXTS[:1]))[0].new
            with pytest.raises(SharedIndexError, match="has another index under this name"):
                old.seen(documents(TEXTS[:1]))
            new.compact()
            assert len(new) == 1 and new.verify().sound
            assert [hit.id for hit in new.search(TEXTS[0])] == ["id0"]


def test_a_service_of_an_emptied_server_is_not_ready(own_server: Server) -> None:
    import httpx
    from support.command import serving

    address = f"{own_server.url}?name=pages"
    with serving("serve", address, "--port", "0") as service:
        assert httpx.get(f"{service.url}/v1/ready").status_code == 200
        own_server.client().flushall()
        answer = httpx.post(f"{service.url}/v1/seen", json={"id": "a", "text": TEXTS[0]})
        assert answer.status_code == 503
        assert httpx.get(f"{service.url}/v1/ready").status_code == 503
    assert any("emptied or replaced" in line for line in service.logs)


def test_an_export_is_put_back(own_server: Server, tmp_path: Path) -> None:
    from neardup.index.redis.replay import replay

    address = f"{own_server.url}?name=pages"
    with nd.Index(address) as index:
        index.seen(documents(TEXTS[:20]))
        index.export(tmp_path / "pages.jsonl")
    own_server.client().flushall()
    replay(address, [str(tmp_path / "pages.jsonl")])
    with nd.Index(address) as index:
        assert len(index) == 20 and not index.seen(TEXTS[3], id="again").new


def test_the_key_of_the_identity_alone_is_put_back(address: Callable[..., str], server: Server) -> None:
    with nd.Index(address()) as index:
        index.seen(documents(TEXTS[:2]))
        client = server.client()
        keys = [
            key for key in client.keys("*identity") if str(index.path).rpartition("name=")[2].encode() in key
        ]
        assert len(keys) == 1
        client.delete(*keys)
        assert not index.seen(TEXTS[0], id="copy").new
        assert client.get(keys[0]) is not None


def test_the_recipe_alone_is_put_back(address: Callable[..., str], server: Server, tmp_path: Path) -> None:
    """Without it nobody knows the seed and the keys. A new index under the name would hide the one that is there."""
    from neardup.index.redis.replay import replay

    where, client = address(), server.client()
    with nd.Index(where) as index:
        index.seen(documents(TEXTS[:20]))
        index.export(tmp_path / "pages.jsonl")
        name = str(index.path).rpartition("name=")[2].partition("&")[0].encode()
        recipe = b"{%s}recipe" % name
        stored = client.get(recipe)
        client.delete(recipe)
        with pytest.raises(SharedIndexError, match=r"lost the recipe.*neardup index replay"):
            nd.Index(where)
        assert client.get(recipe) is None
        assert not index.seen(TEXTS[0], id="copy").new
        assert client.get(recipe) == stored
        with nd.Index(where) as other:
            assert len(other) == 21 and other.verify().sound

        client.delete(recipe)
        replay(where, [str(tmp_path / "pages.jsonl")])
        with pytest.raises(SharedIndexError, match="has another index under this name"):
            index.seen(TEXTS[0], id="again")
        with nd.Index(where) as other:
            assert len(other) == 20 and other.verify().sound


def test_lost_ids_are_put_back(address: Callable[..., str], server: Server) -> None:
    """Redis lost some hashes of ids; the records are there. Nothing may be removed because of that."""
    with nd.Index(address(patience=0.05)) as index:
        index.seen(documents(TEXTS))
        index.seen([nd.Document("id3", TEXTS[3] + " changed")])
        client = server.client()
        name = str(index.path).rpartition("name=")[2].partition("&")[0].encode()
        lost = [key for key in client.keys("*") if name + b"." in key and b"}i:" in key][::2]
        assert lost
        client.delete(*lost)
        missing = sum(entry is None for entry in index.get_all([f"id{n}" for n in range(len(TEXTS))]))
        assert missing > 20
        assert any("cannot be found by their ids" in problem for problem in index.verify().problems)
        index.compact()
        assert len(index) == len(TEXTS) and index.verify().sound
        assert all(entry is not None for entry in index.get_all([f"id{n}" for n in range(len(TEXTS))]))


def test_of_several_versions_without_their_id_the_last_remains(
    address: Callable[..., str], server: Server
) -> None:
    """Versions that dead workers left, and then the id was removed with a later one. One repair is enough."""
    with nd.Index(address(patience=0.05), store="text") as index:
        client = server.client()
        name = str(index.path).rpartition("name=")[2].partition("&")[0].encode()
        for text in TEXTS[:3]:
            index.seen(text, id="page")
            client.delete(*(key for key in client.keys("*") if name + b"." in key and b"}i:" in key))
        assert index.get("page") is None
        assert index.verify().problems == ("3 documents cannot be found by their ids",)
        index.compact()
        assert index.verify().problems == ()
        (left,) = index.documents()
        assert left == index.get("page") and left.text == TEXTS[2] and len(index) == 1
