"""The reference of the HTTP API, made from the OpenAPI document that the service sends."""

from __future__ import annotations

import json
from typing import Any

from neardup.http.app import make_app
from neardup.http.limits import RequestLimits
from neardup.http.openapi import QUEUED, REASONS, openapi_document

__all__ = ["http_page"]

Json = dict[str, Any]


def http_page() -> str:
    """Markdown: what any route may refuse, every route with its parameters, body and answers, and the shapes."""
    application, _ = make_app(RequestLimits())
    described = _document(application)
    lines = [
        "## Refusals",
        "",
        "Every route may answer with one of these, and a [Problem](#problem) as JSON.",
        "",
    ]
    lines += ["| status | meaning |", "|---|---|"]
    lines += [f"| {status} | {REASONS[status]} |" for status in sorted(QUEUED)]
    lines.append("")
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            lines += _operation(f"{method.upper()} {path}", operation)
    lines += ["## Shapes", ""]
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += _shape(name, schema)
    return "\n".join(lines)


def _document(application: Any) -> Json:
    made = openapi_document(application.routes.all)
    return json.loads(json.dumps(made))


def _operation(title: str, operation: Json) -> list[str]:
    lines = [f"## {title}", "", operation.get("description") or operation.get("summary") or "", ""]
    for parameter in operation.get("parameters", []):
        lines.append(
            f"- parameter `{parameter['name']}` in {parameter['in']}: {_kind(parameter.get('schema', {}))}"
        )
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        lines.append(f"- body, `{kind}`: {_kind(content.get('schema', {}))}")
    for status, answer in operation["responses"].items():
        if int(status) in QUEUED:
            continue  # listed once, at the top
        shapes = {_kind(content.get("schema", {})) for content in answer.get("content", {}).values()}
        lines.append(f"- {status}: {answer['description']}. {', '.join(sorted(shapes))}".rstrip())
    return [*lines, ""]


def _shape(name: str, schema: Json) -> list[str]:
    lines = [f"### {name}", ""]
    if schema.get("description"):
        lines += [" ".join(schema["description"].split()), ""]
    properties = schema.get("properties", {})
    if properties:
        required = set(schema.get("required", ()))
        lines += ["| field | type | |", "|---|---|---|"]
        for field, kind in properties.items():
            need = "required" if field in required else f"default `{json.dumps(kind.get('default'))}`"
            lines.append(f"| `{field}` | {_kind(kind)} | {need} |")
        lines.append("")
    return lines


def _kind(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(part) for part in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    return str(schema.get("type", "any"))
