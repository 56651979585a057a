"""The OpenAPI document, made of the table of routes that is served."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import msgspec

from neardup.http.routes import ID, NDJSON, Route
from neardup.http.schemas import Problem
from neardup.version import __version__

__all__ = ["openapi_document"]

REASONS = {
    400: "The request is broken",
    401: "The token is missing or wrong",
    403: "Not for pages in a browser, or not where the index is only read",
    404: "There is no such document",
    408: "The body took too long",
    413: "The request is too large",
    415: "The body is packed in a way that is not taken",
    422: "The content cannot be used",
    429: "Too much at once; try again",
    500: "Something went wrong inside",
    503: "Not ready yet, or stopping",
    507: "The disk is full",
}
OPEN = (400,)
QUEUED = (400, 401, 403, 408, 413, 415, 422, 429, 500, 503, 507)
TEXT = {"type": "string"}
LINES = {"type": "string", "description": "one document a line, as JSON"}
Json = dict[str, Any]
_FERRY = "The ferry leaves the north pier at eight and returns by noon."
_BARGE = "The ferry leaves the north pier at nine and returns by noon."
# Bodies that work as they are, for the page /docs and for programs.
EXAMPLES: dict[tuple[str, bool], Any] = {
    ("/v1/seen", False): {"id": "page-1", "text": _FERRY},
    ("/v1/search", False): {"text": _FERRY},
    ("/v1/documents", False): {"id": "page-2", "text": _BARGE, "meta": {"source": "timetable"}},
    (
        "/v1/documents",
        True,
    ): '{"id": "page-3", "text": "Bring your own bicycle."}\n{"id": "page-4", "text": "Dogs are free."}\n',
    ("/v1/compare", False): {"left": _FERRY, "right": _BARGE, "threshold": 0.5},
    ("/v1/collapse", False): {
        "results": [{"id": "page-1", "text": _FERRY}, {"id": "page-5", "text": _FERRY}]
    },
    ("/v1/try", False): {"left": _FERRY, "right": _BARGE},
}
EXAMPLE_ID = "page-1"


def openapi_document(routes: Sequence[Route]) -> Json:
    """Paths, parameters, bodies and answers of all routes."""
    types = [Problem, *(one for route in routes for one in (route.body, route.answer) if one is not None)]
    unique = list({id(one): one for one in types}.values())
    made, components = msgspec.json.schema_components(unique, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(map(id, unique), made, strict=True))
    paths: dict[str, Json] = {}
    for route in routes:
        operations, method = paths.setdefault(route.served, {}), route.method.lower()
        described = _operation(route, schemas)
        if method not in operations:
            operations[method] = described
            continue
        kept = operations[method]  # the same method for another type of body
        kept["parameters"] += described["parameters"]
        kept["requestBody"]["content"].update(described["requestBody"]["content"])
        kept["responses"].update(described["responses"])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "neardup",
            "version": __version__,
            "description": "Have I seen this page? A live index of near-duplicates.",
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: Route, schemas: dict[int, Json]) -> Json:
    described: Json = {
        "operationId": route.handler.__name__.strip("_") + (f".{route.index}" if route.index else ""),
        "description": inspect.getdoc(route.handler) or "",
        "parameters": _parameters(route),
        "responses": _responses(route, schemas),
    }
    if route.body is not None:
        kind, schema = (NDJSON, LINES) if route.lines else (b"application/json", schemas[id(route.body)])
        content = {"schema": schema, "example": EXAMPLES[route.path, route.lines]}
        described["requestBody"] = {"required": True, "content": {kind.decode(): content}}
    return described


def _parameters(route: Route) -> list[Json]:
    found: list[Json] = []
    if route.path.endswith(ID):
        schema = {"type": "string", "minLength": 1}
        how = "percent-encoded, also its slashes"
        found.append(
            {
                "name": "id",
                "in": "path",
                "required": True,
                "description": how,
                "example": EXAMPLE_ID,
                "schema": schema,
            }
        )
    if route.query is not None:
        _, components = msgspec.json.schema_components([route.query])
        shape = components[route.query.__name__]
        found += [
            {"name": name, "in": "query", "required": name in shape.get("required", ()), "schema": schema}
            for name, schema in shape["properties"].items()
        ]
    return found


def _responses(route: Route, schemas: dict[int, Json]) -> dict[str, Json]:
    kind = route.kind.split(b";")[0].decode()
    schema = TEXT if route.answer is None else schemas[id(route.answer)]
    found: dict[str, Json] = {
        str(route.status): {"description": "Done", "content": {kind: {"schema": schema}}}
    }
    if route.lines:
        found[str(route.status)]["content"][NDJSON.decode()] = {"schema": LINES}
    problem = {"application/json": {"schema": schemas[id(Problem)]}}
    for status in sorted({*(OPEN if route.open else QUEUED), *route.problems}):
        found[str(status)] = {"description": REASONS[status], "content": problem}
    return found
