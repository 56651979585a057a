"""Requests and replies without the framework."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from neardup.http.schemas import Problem

__all__ = ["JSON", "NDJSON", "Call", "Reply", "problem"]

JSON, NDJSON = b"application/json", b"application/x-ndjson"


class Call(NamedTuple):
    """A request with its whole body: `kind` is its content type, `query` what stands after the question mark."""

    body: bytes
    kind: bytes
    query: bytes
    request_id: bytes


class Reply(NamedTuple):
    status: int
    body: bytes
    kind: bytes


def problem(reason: str, request_id: str) -> bytes:
    """The one shape of every refusal."""
    return msgspec.json.encode(Problem(reason, request_id))
