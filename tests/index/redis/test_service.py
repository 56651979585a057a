"""The service in front of a shared index."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from reference.redis import Server

pytest.importorskip("granian", reason="the extra `service` is not installed")

import neardup as nd
from neardup.errors import SharedIndexError
from neardup.http.bulk import BulkAdd
from neardup.http.engine import Engine
from neardup.http.lifecycle import Service
from neardup.http.limits import Refused, RequestLimits
from neardup.http.metrics import Metrics
from neardup.http.routes import Request
from neardup.http.schemas import BulkParameters, DocumentRequest


def lines(count: int, **more: Any) -> bytes:
    rows = [{"id": f"{n}", "text": f"words of page {n} and no other", **more} for n in range(count)]
    return "\n".join(json.dumps(row) for row in rows).encode()


@pytest.mark.parametrize("store", ["none", "text"])
def test_a_server_that_is_gone_is_asked_once_and_not_for_every_document(
    redis_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Any
) -> None:
    """Each question may take as long as the address allows, and the next request waits for them all."""
    server = Server(redis_server, tmp_path).start()
    index = nd.Index(f"{server.url}?name=pages&timeout=0.2", store=store)
    service = Service(Metrics())
    engine = service.ready = Engine(index, RequestLimits())
    asked: list[int] = []
    put = index._store.writer.put

    def counted(ids: Any, *given: Any) -> Any:
        asked.append(len(ids))
        return put(ids, *given)

    monkeypatch.setattr(index._store.writer, "put", counted)
    bulk = BulkAdd(service)

    async def sent(body: bytes) -> Any:
        return await bulk.add_lines(Request(body, "", BulkParameters(), "r"))

    async def all_sent() -> None:
        assert (await sent(lines(20))).status == 200
        server.kill()
        for body in (lines(3000), lines(300, meta={"a": 1}), lines(300, ttl=60)):
            asked.clear()
            with pytest.raises(Refused) as refused:
                await sent(body)
            assert refused.value.status == 503 and len(asked) == 1
        asked.clear()
        pages = [engine.ingest.seen(DocumentRequest(f"{n}", "one page")) for n in range(50)]
        answer = await asyncio.gather(*pages, return_exceptions=True)
        assert all(isinstance(one, SharedIndexError) for one in answer)
        assert len(asked) < 10 and sum(asked) == 50

    try:
        asyncio.run(all_sent())
    finally:
        server.kill()
        engine.close()


def test_one_of_two_indexes_is_away(redis_server: str, tmp_path: Path) -> None:
    """The service says which of its indexes cannot be used, and serves the other."""
    httpx = pytest.importorskip("httpx")
    from support.serving import served

    server = Server(redis_server, tmp_path / "redis").start()
    named = (f"--index=here={tmp_path / 'here.nd'}", f"--index=away={server.url}?name=pages&timeout=0.3")
    page = {"id": "a", "text": "words of one page and of no other"}
    try:
        with (
            served(None, *named) as service,
            httpx.Client(base_url=service.url, trust_env=False, timeout=300) as http,
        ):
            for name in ("here", "away"):
                assert http.post(f"/v1/indexes/{name}/seen", json=page).json()["new"]
            assert http.get("/v1/ready").status_code == 200
            server.kill()
            states = {one["name"]: one["state"] for one in http.get("/v1/indexes").json()["indexes"]}
            assert states == {"here": "ready", "away": "unavailable"}
            assert http.get("/v1/ready").status_code == 503
            assert http.post("/v1/indexes/away/search", json={"text": page["text"]}).status_code == 503
            found = http.post("/v1/indexes/here/search", json={"text": page["text"]}).json()["hits"]
            assert [hit["id"] for hit in found] == ["a"]
            text = http.get("/metrics").text
            assert 'neardup_index_ready{index="here"} 1.0' in text
            assert 'neardup_index_ready{index="away"} 0.0' in text
            assert service.stop() == 0
    finally:
        server.kill()
