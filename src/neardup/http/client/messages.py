"""What a client sends and what it makes of the answers; knows nothing of connections."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from neardup.errors import ConfigError, DataError
from neardup.http.client.retry import ServiceError
from neardup.http.hex_fingerprints import PrintForm
from neardup.http.tokens import check_name
from neardup.index.answers import Cluster, Hit, Seen
from neardup.index.key import read_key
from neardup.readers.document import Document

__all__ = ["READY", "Call", "Messages", "answer_of", "lines_of", "list_of", "seen_of"]

LARGEST_BATCH = 8 << 20  # bytes of one bulk request, half of what the service takes by default
JSON, LINES = "application/json", "application/x-ndjson"
READY = "/v1/ready"


class Call(NamedTuple):
    method: str
    path: str
    body: bytes | None = None
    kind: str = JSON


class Messages:
    """Requests for one service. With a key file, fingerprints are made here, and texts are not sent."""

    def __init__(
        self, url: str, index: str | None, token: str | None,
        token_file: str | os.PathLike[str] | None, key: Any, batch: int,
    ) -> None:  # fmt: skip
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"{url}: the address of a service starts with http:// or https://")
        if batch < 1:
            raise ConfigError(f"batch={batch}: a request has at least one document")
        if token is not None and token_file is not None:
            raise ConfigError("give token or token_file, not both")
        if token_file is not None:
            try:
                token = Path(token_file).read_text("ascii").strip()
            except UnicodeDecodeError:
                raise ConfigError(f"{token_file}: a token may have only printable ASCII characters") from None
        self.url, self.batch = url.rstrip("/"), batch
        self.base = "/v1" if index is None else f"/v1/indexes/{check_name(index)}"
        self.headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._recipe = None if key is None else read_key(key)
        self._form = None
        if self._recipe is not None:
            self._form = PrintForm(self._recipe.config, self._recipe.scheme_checked)

    def path(self, call: Call) -> str:
        """Where a call is sent: to the index of this client, unless it is about the whole service."""
        return call.path if call.path == READY else self.base + call.path.removeprefix("/v1")

    def document(self, document: Document, html: bool, ttl: float | None) -> dict[str, Any]:
        return self.documents([document], html, ttl)[0]

    def documents(self, documents: Sequence[Document], html: bool, ttl: float | None) -> list[dict[str, Any]]:
        """Documents as the service takes them."""
        if self._recipe is not None and self._form is not None and not html:
            digits = self._form.split(self._recipe.prints([one.text for one in documents]))
            plain: list[dict[str, Any]] = [
                {"id": one.id, "fingerprint": own} for one, own in zip(documents, digits, strict=True)
            ]
            plain[0]["scheme"] = self._form.scheme  # once a request: an index of another scheme refuses it
        else:
            plain = [{"id": one.id, "html" if html else "text": one.text} for one in documents]
        for one, sent in zip(documents, plain, strict=True):
            if one.meta:
                sent["meta"] = dict(one.meta)
            if ttl is not None:
                sent["ttl"] = ttl
        return plain

    def bulks(
        self, documents: Iterable[Document], html: bool, ttl: float | None
    ) -> Iterator[tuple[int, Call]]:
        """Bulk requests of at most `batch` documents and a bounded number of bytes, each with its count."""
        waiting = iter(documents)
        while part := list(islice(waiting, self.batch)):
            check_documents(part, "documents")
            lines = [dump(one) for one in self.documents(part, html, ttl)]
            start = 0
            while start < len(lines):
                stop, size = start, 0
                while stop < len(lines) and (stop == start or size + len(lines[stop]) < LARGEST_BATCH):
                    size += len(lines[stop]) + 1
                    stop += 1
                yield (
                    stop - start,
                    Call("POST", "/v1/documents?answers=true", b"\n".join(lines[start:stop]), LINES),
                )
                start = stop

    def query(self, text: str, html: bool, id: str | None, first: bool) -> Call:
        sent: dict[str, Any] = {"html" if html else "text": text}
        if self._recipe is not None and self._form is not None and not html:
            digits = self._form.split(self._recipe.prints([text]))[0]
            sent = {"fingerprint": digits, "scheme": self._form.scheme}
        if id is not None:
            sent["id"] = id
        return Call("POST", "/v1/search", dump(sent | {"first": first}))


def check_documents(given: Sequence[Any], name: str, *, ids: bool = False) -> Sequence[Any]:
    """What was given, if it has only documents (and ids, with `ids`); DataError otherwise."""
    for one in given:
        if not isinstance(one, Document) and not (ids and isinstance(one, str)):
            raise DataError(f"{name} must be documents, not {one!r:.80}")
    return given


def dump(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"only what JSON can hold is sent to a service: {error}") from None


def path_of(kind: str, id: str) -> str:
    """An id in a path: nothing in it may be read as a path."""
    return f"/v1/{kind}/" + quote(id, safe="").replace(".", "%2E")


def answer_of(status: int, body: bytes) -> Any:
    """The answer, or ServiceError with the service's reason."""
    try:
        found = json.loads(body) if body else {}
    except (ValueError, RecursionError):
        found = None
    if not 200 <= status < 300:
        known = found if isinstance(found, dict) else {}
        reason = str(known.get("reason", "refused without a reason"))
        raise ServiceError(status, reason, known.get("request_id"))
    if not isinstance(found, dict):
        raise _foreign()
    return found


def _foreign() -> ServiceError:
    return ServiceError(0, "this is no answer of the service: is something else at its address?")


@contextlib.contextmanager
def _of_service() -> Iterator[None]:
    """Turns errors from an answer of another shape into one that says so."""
    try:
        yield
    except (KeyError, TypeError, AttributeError):
        raise _foreign() from None


def seen_of(found: dict[str, Any]) -> Seen:
    with _of_service():
        if "reason" in found:
            raise ServiceError(422, str(found["reason"]), found.get("request_id"))
        seen = Seen(*(found[name] for name in Seen._fields))
    if type(seen.id) is not str or type(seen.new) is not bool:
        raise _foreign()
    return seen


def lines_of(status: int, body: bytes, count: int) -> Iterator[dict[str, Any]]:
    """The answers to so many documents, one a line."""
    lines = body.splitlines()
    if status != 200:
        answer_of(status, body)
    if len(lines) != count:
        raise _foreign()
    return (answer_of(200, line) for line in lines)


def list_of(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The part of an answer that is a list."""
    part = found.get(name)
    if not isinstance(part, list):
        raise _foreign()
    return part


def hits_of(found: list[dict[str, Any]]) -> list[Hit]:
    with _of_service():
        return [Hit(one["id"], -1, one["distance"], one["similarity"]) for one in found]


def cluster_of(found: dict[str, Any]) -> Cluster:
    with _of_service():
        return Cluster(found["keeper"], hits_of(list_of(found, "members")))
