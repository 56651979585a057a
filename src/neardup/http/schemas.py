"""Shapes of requests and answers, in JSON."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = [
    "Bulk",
    "BulkParameters",
    "ClusterAnswer",
    "CollapseAnswer",
    "CollapseRequest",
    "CompareAnswer",
    "CompareRequest",
    "DocumentAnswer",
    "DocumentRequest",
    "FoldedAnswer",
    "HitAnswer",
    "IndexesAnswer",
    "LiveAnswer",
    "Moment",
    "Problem",
    "RecentHit",
    "RejectedLine",
    "Removed",
    "ResultAnswer",
    "ResultRequest",
    "RouteAnswer",
    "SearchAnswer",
    "SearchRequest",
    "SeenAnswer",
    "ServedIndex",
    "StateAnswer",
    "StatsAnswer",
    "TryRequest",
    "decode_document",
    "decode_documents",
    "decode_meta",
]

Id = Annotated[
    str, Meta(min_length=1, max_length=8192, description="1 to 8,192 bytes of UTF-8; any characters")
]
Hex = Annotated[str, Meta(description="a ready fingerprint of the index's scheme, in hexadecimal digits")]
MetaJson = Annotated[
    # As it was sent: it has no bounds of its own, so its size is checked before its values are made.
    msgspec.Raw,
    Meta(extra_json_schema={"anyOf": [{"type": "object"}, {"type": "null"}], "default": None}),
]
Ttl = Annotated[float, Meta(gt=0, le=1e10, description="seconds after which the document is forgotten")]
Threshold = Annotated[float, Meta(gt=0, le=1)]


class DocumentRequest(Struct, forbid_unknown_fields=True):
    """A document: exactly one of text, html and fingerprint."""

    id: Id
    text: str | None = None
    html: str | None = None
    fingerprint: Hex | None = None
    scheme: str | None = None
    meta: MetaJson | UnsetType = UNSET
    ttl: Ttl | None = None


class BulkParameters(Struct):
    """What may be asked of a bulk request."""

    answers: Annotated[bool, Meta(description="answer line by line, not with counts")] = False


class SeenAnswer(Struct):
    """Whether a document is new, or else what it is a duplicate of."""

    id: str
    new: bool
    duplicate_of: str | None
    distance: int | None
    similarity: float | None


class SearchRequest(Struct, forbid_unknown_fields=True):
    """What to look for: exactly one of text, html and fingerprint. A stored document of this id is left out."""

    text: str | None = None
    html: str | None = None
    fingerprint: Hex | None = None
    scheme: str | None = None
    id: Id | None = None
    first: bool = False


class HitAnswer(Struct):
    id: str
    distance: int | None
    similarity: float | None


class SearchAnswer(Struct):
    hits: list[HitAnswer]


class RejectedLine(Struct):
    line: int
    reason: str


class Bulk(Struct):
    """Counts of a bulk request. The first 100 lines that could not be taken are named."""

    documents: int
    new: int
    duplicates: int
    rejected: int
    rejects: list[RejectedLine]


class DocumentAnswer(Struct):
    """What is stored of a document. Times in seconds since 1970."""

    id: str
    keeper: str
    added: float
    expires: float | None
    meta: dict[str, Any]
    text: str | None
    fingerprint: str | None


class Removed(Struct):
    removed: int


class CompareRequest(Struct, forbid_unknown_fields=True):
    """Two texts, or two HTML pages."""

    left: str
    right: str
    html: bool = False
    threshold: Threshold = 0.8


class CompareAnswer(Struct):
    """Measures of a pair. `similarity` is Jaccard's of word shingles; `distance` is in bits of 64, by 1-bit MinHash;
    `containment` is the share of the left in the right, and of the right in the left."""

    verdict: str
    duplicate: bool
    similarity: float
    threshold: float
    distance: int
    simhash_distance: int
    cosine: float
    containment: list[float]
    shared: list[str]
    only_left: list[str]
    only_right: list[str]


class ResultRequest(Struct, forbid_unknown_fields=True):
    """One result of a search engine. Without text or html, what the index stores under the id is taken."""

    id: Id
    text: str | None = None
    html: str | None = None


class CollapseRequest(Struct, forbid_unknown_fields=True):
    """Results, the best first. The threshold is the index's own if none is given."""

    results: Annotated[list[ResultRequest], Meta(max_length=1000)]
    threshold: Threshold | None = None


class FoldedAnswer(Struct):
    id: str
    rank: int
    distance: int | None
    similarity: float | None


class ResultAnswer(Struct):
    id: str
    rank: int
    folded: list[FoldedAnswer]


class CollapseAnswer(Struct):
    results: list[ResultAnswer]


class ClusterAnswer(Struct):
    """A keeper and all that follow it; the keeper comes first."""

    keeper: str
    members: list[HitAnswer]


class StatsAnswer(Struct):
    documents: int
    keepers: int
    rows: int
    watermark: int
    database_bytes: int
    cache_bytes: int
    memory_bytes: int
    segments: list[int]
    store: str
    scheme: str


class RouteAnswer(Struct):
    """Requests of one route since the start; `p50` and `p99` are seconds, of the last 512."""

    route: str
    requests: int
    p50: float
    p99: float


class RecentHit(Struct):
    """A document that was a duplicate. `at` is in seconds since 1970; texts are not kept."""

    at: float
    id: str
    duplicate_of: str
    distance: int | None
    similarity: float | None


class Moment(Struct):
    """Five seconds of the service from `at` on, in seconds since 1970. `failed` counts answers of 500 and more,
    `refused` those from 400 to 499; `p50` and `p99` are seconds, and null if there was no request."""

    at: float
    requests: int
    searches: int
    failed: int
    refused: int
    new: int
    duplicates: int
    p50: float | None
    p99: float | None


class LiveAnswer(Struct):
    """What the service is doing. `state` is ready, opening, stopping, or none if it serves no index; `new` and
    `duplicates` count documents since the start; of `hits` the last come first. `history` has the last ten minutes;
    moments without requests are left out."""

    state: str
    version: str
    started: float
    now: float
    in_work: int
    new: int
    duplicates: int
    routes: list[RouteAnswer]
    hits: list[RecentHit]
    history: list[Moment]
    index: StatsAnswer | None


class ServedIndex(Struct):
    """One index of the service: the path that its routes begin with, its `state` (ready, opening, or unavailable if
    its server is away), and whether the sender of the request may change it."""

    name: str
    path: str
    state: str
    writes: bool


class IndexesAnswer(Struct):
    """The indexes that the sender of the request may read."""

    indexes: list[ServedIndex]


class TryRequest(Struct, forbid_unknown_fields=True):
    """One text, or two to be compared."""

    left: str
    right: str | None = None
    threshold: Threshold = 0.8


class StateAnswer(Struct):
    status: str


class Problem(Struct):
    """Why a request was not served."""

    reason: str
    request_id: str


_decoder = msgspec.json.Decoder(DocumentRequest)
decode_document, decode_documents = _decoder.decode, _decoder.decode_lines
decode_meta = msgspec.json.Decoder(dict[str, Any] | None).decode
