"""The clients: the same calls, waiting or awaited."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Self

from neardup.errors import ConfigError, MissingExtra
from neardup.http.client.attempt import attempt, attempt_async
from neardup.http.client.breaker import Breaker
from neardup.http.client.messages import (
    READY,
    Call,
    Messages,
    answer_of,
    check_documents,
    cluster_of,
    dump,
    hits_of,
    lines_of,
    list_of,
    path_of,
    seen_of,
)
from neardup.http.client.retry import UNAVAILABLE, Retry, ServiceError
from neardup.index.answers import Cluster, Hit, Seen
from neardup.readers.document import Document
from neardup.values.checks import checked_methods

__all__ = ["AsyncClient", "Client"]

DEFAULT_URL = "http://127.0.0.1:8080"


class _Clients:
    """What both kinds of clients are made of."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        index: str | None = None,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
        retry: Retry | None = None,
        timeout: float = 60.0,
        budget: float | None = 120.0,
        breaker: Breaker | None = None,
        batch: int = 1000,
    ) -> None:
        if find_spec("httpx") is None:
            raise MissingExtra("the client of the service", "client")
        import httpx

        self._messages = Messages(url, index, token, token_file, key, batch)
        if not timeout > 0 or (budget is not None and not budget > 0):
            raise ConfigError("timeout and budget are seconds above 0")
        self._retry, self._failed = retry or Retry(), httpx.RequestError
        self._breaker, self._timeout, self._budget = breaker or Breaker(), timeout, budget
        self._options: dict[str, Any] = {
            "base_url": self._messages.url,
            "headers": self._messages.headers,
            "trust_env": False,
        }

    def _start(self) -> float:
        """The time at which a request is given up; ServiceError if the service is left alone at the moment."""
        if not self._breaker.ask():
            raise ServiceError(0, f"{self._messages.url}: did not answer before and is not asked for a while")
        return math.inf if self._budget is None else time.monotonic() + self._budget

    def _left(self, until: float) -> float:
        """Seconds for the next attempt."""
        return max(0.001, min(self._timeout, until - time.monotonic()))

    def _pause(self, attempt: int, until: float, answer: Any, error: Exception | None) -> float | None:
        """None if this attempt was the last: it is answered, or there is no sense in another."""
        status = 0 if answer is None else answer.status_code
        wait = self._retry.pause(attempt, status, answer.headers.get("retry-after") if answer else None)
        if wait is not None and time.monotonic() + wait < until:
            return wait
        self._breaker.answered(bool(status) and status not in UNAVAILABLE)
        if answer is None:
            raise ServiceError(0, f"{self._messages.url}: {error or 'no answer'}") from error
        return None


@checked_methods
class Client(_Clients):
    """A client that waits for its answers; it may be used from many threads.

    url         of the service
    index       the name of the index, if the service has several
    token       the bearer token, or token_file, a file that holds it
    key         a key file of the index (`Index.write_key`): fingerprints are then made here, and texts are not sent
    retry       how often a request is sent again when the service is busy, stopping or not there
    timeout     seconds for one attempt
    budget      seconds for one request with all its attempts and pauses; None for no limit
    breaker     when a service that does not answer is left alone for a while (`Breaker`)
    batch       documents in one bulk request
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        import httpx

        self._http = httpx.Client(**self._options)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, call: Call) -> Any:
        count, until = 0, self._start()
        while True:
            answer, failed = None, None
            try:
                answer = attempt(self._http, call, self._messages.path(call), self._left(until))
            except self._failed as error:
                failed = error
            wait = self._pause(count, until, answer, failed)
            if wait is None:
                return answer
            time.sleep(wait)
            count += 1

    def _ask(self, call: Call) -> Any:
        answer = self._send(call)
        return answer_of(answer.status_code, answer.content)

    def seen(
        self,
        text: str,
        *,
        id: str,
        meta: Mapping[str, Any] | None = None,
        html: bool = False,
        ttl: float | None = None,
    ) -> Seen:
        """Is this document new? It is remembered in the same step."""
        sent = self._messages.document(Document(id, text, meta or {}), html, ttl)
        return seen_of(self._ask(Call("POST", "/v1/seen", dump(sent))))

    def seen_all(
        self, documents: Iterable[Document], *, html: bool = False, ttl: float | None = None
    ) -> Iterator[Seen]:
        """`seen` for many, in batches; the answers come in order. ServiceError at a document that is refused."""
        for count, call in self._messages.bulks(documents, html, ttl):
            answer = self._send(call)
            for line in lines_of(answer.status_code, answer.content, count):
                yield seen_of(line)

    def search(
        self, text: str, *, id: str | None = None, html: bool = False, first: bool = False
    ) -> list[Hit]:
        """The stored documents near a text, the best first, without the document `id`."""
        return hits_of(list_of(self._ask(self._messages.query(text, html, id, first)), "hits"))

    def get(self, id: str) -> dict[str, Any] | None:
        """What is stored of a document, or None."""
        found: dict[str, Any] | None = _or_none(self._ask, Call("GET", path_of("documents", id)))
        return found

    def remove(self, id: str) -> bool:
        """Forget a document; says whether it was there."""
        return _or_none(self._ask, Call("DELETE", path_of("documents", id))) is not None

    def cluster(self, id: str) -> Cluster | None:
        """The cluster of a document, or None."""
        found = _or_none(self._ask, Call("GET", path_of("clusters", id)))
        return None if found is None else cluster_of(found)

    def compare(self, left: str, right: str, *, html: bool = False, threshold: float = 0.8) -> dict[str, Any]:
        """Two texts by every measure."""
        sent = {"left": left, "right": right, "html": html, "threshold": threshold}
        return dict(self._ask(Call("POST", "/v1/compare", dump(sent))))

    def collapse(
        self, results: Sequence[str | Document], *, threshold: float | None = None
    ) -> list[dict[str, Any]]:
        """A ranked list, near-duplicates folded under the first. A text alone is the id of a stored document."""
        return list_of(self._ask(_collapse(results, threshold)), "results")

    def stats(self) -> dict[str, Any]:
        """Sizes of the index."""
        return dict(self._ask(Call("GET", "/v1/stats")))

    def ready(self) -> bool:
        """Whether the index is open; waits as long as the retries last."""
        return bool(self._send(Call("GET", READY)).status_code == 200)


@checked_methods
class AsyncClient(_Clients):
    """A client whose answers are awaited; its arguments are those of `Client`."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        import httpx

        self._http = httpx.AsyncClient(**self._options)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, call: Call) -> Any:
        count, until = 0, self._start()
        while True:
            answer, failed = None, None
            try:
                answer = await attempt_async(self._http, call, self._messages.path(call), self._left(until))
            except self._failed as error:
                failed = error
            wait = self._pause(count, until, answer, failed)
            if wait is None:
                return answer
            await asyncio.sleep(wait)
            count += 1

    async def _ask(self, call: Call) -> Any:
        answer = await self._send(call)
        return answer_of(answer.status_code, answer.content)

    async def _ask_or_none(self, call: Call) -> Any:
        try:
            return await self._ask(call)
        except ServiceError as error:
            if error.status == 404:
                return None
            raise

    async def seen(
        self,
        text: str,
        *,
        id: str,
        meta: Mapping[str, Any] | None = None,
        html: bool = False,
        ttl: float | None = None,
    ) -> Seen:
        """Is this document new? It is remembered in the same step."""
        sent = self._messages.document(Document(id, text, meta or {}), html, ttl)
        return seen_of(await self._ask(Call("POST", "/v1/seen", dump(sent))))

    async def seen_all(
        self,
        documents: Iterable[Document] | AsyncIterable[Document],
        *,
        html: bool = False,
        ttl: float | None = None,
    ) -> AsyncIterator[Seen]:
        """`seen` for many, in batches; the answers come in order. ServiceError at a document that is refused."""
        async for part in _parts(documents, self._messages.batch):
            for count, call in self._messages.bulks(part, html, ttl):
                answer = await self._send(call)
                for line in lines_of(answer.status_code, answer.content, count):
                    yield seen_of(line)

    async def search(
        self, text: str, *, id: str | None = None, html: bool = False, first: bool = False
    ) -> list[Hit]:
        """The stored documents near a text, the best first, without the document `id`."""
        return hits_of(list_of(await self._ask(self._messages.query(text, html, id, first)), "hits"))

    async def get(self, id: str) -> dict[str, Any] | None:
        """What is stored of a document, or None."""
        found: dict[str, Any] | None = await self._ask_or_none(Call("GET", path_of("documents", id)))
        return found

    async def remove(self, id: str) -> bool:
        """Forget a document; says whether it was there."""
        return await self._ask_or_none(Call("DELETE", path_of("documents", id))) is not None

    async def cluster(self, id: str) -> Cluster | None:
        """The cluster of a document, or None."""
        found = await self._ask_or_none(Call("GET", path_of("clusters", id)))
        return None if found is None else cluster_of(found)

    async def compare(
        self, left: str, right: str, *, html: bool = False, threshold: float = 0.8
    ) -> dict[str, Any]:
        """Two texts by every measure."""
        sent = {"left": left, "right": right, "html": html, "threshold": threshold}
        return dict(await self._ask(Call("POST", "/v1/compare", dump(sent))))

    async def collapse(
        self, results: Sequence[str | Document], *, threshold: float | None = None
    ) -> list[dict[str, Any]]:
        """A ranked list, near-duplicates folded under the first. A text alone is the id of a stored document."""
        return list_of(await self._ask(_collapse(results, threshold)), "results")

    async def stats(self) -> dict[str, Any]:
        """Sizes of the index."""
        return dict(await self._ask(Call("GET", "/v1/stats")))

    async def ready(self) -> bool:
        """Whether the index is open; waits as long as the retries last."""
        return bool((await self._send(Call("GET", READY))).status_code == 200)


def _or_none(ask: Any, call: Call) -> Any:
    try:
        return ask(call)
    except ServiceError as error:
        if error.status == 404:
            return None
        raise


def _collapse(results: Sequence[str | Document], threshold: float | None) -> Call:
    sent: dict[str, Any] = {
        "results": [
            {"id": one} if isinstance(one, str) else {"id": one.id, "text": one.text}
            for one in check_documents(results, "results", ids=True)
        ]
    }
    if threshold is not None:
        sent["threshold"] = threshold
    return Call("POST", "/v1/collapse", dump(sent))


async def _parts(
    documents: Iterable[Document] | AsyncIterable[Document], size: int
) -> AsyncIterator[list[Document]]:
    if isinstance(documents, Iterable):
        waiting = iter(documents)
        while part := [one for _, one in zip(range(size), waiting, strict=False)]:
            yield part
        return
    part = []
    async for one in documents:
        part.append(one)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
