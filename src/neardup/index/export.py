"""Export files: all documents of an index in a table that any tool can read, and a key file."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, NamedTuple

from neardup.errors import DataError
from neardup.index.contents import pack_text, unpack_text
from neardup.index.key import write_key
from neardup.index.recipe import Contents, Recipe
from neardup.readers import Limits, Reader, open_writer, read
from neardup.readers.layout import Layout
from neardup.readers.parquet import pyarrow

__all__ = ["Line", "read_export", "write_export"]

COLUMNS = {
    "id": "string",
    "keeper": "string",
    "distance": "int64",
    "similarity": "double",
    "added": "int64",
    "expires": "int64",
    "fingerprint": "string",
    "meta": "string",
    "text": "large_string",
    "features": "large_string",
}


class Line(NamedTuple):
    """A document of an export. Times are in milliseconds since 1970."""

    id: str
    keeper: str
    distance: int | None
    similarity: float | None
    added: int
    expires: int | None
    fingerprint: bytes | None
    meta: str | None
    content: bytes | None


def write_export(
    path: str | PathLike[str],
    recipe: Recipe,
    stored: Iterable[Sequence[Line]],
    key: str | PathLike[str] | None = None,
) -> int:
    """Write lines to a file, and the key to another. Returns how many lines there were."""
    rows = 0
    with open_writer(path, like=_layout(path, recipe.contents)) as writer:
        for lines in stored:
            for line in lines:
                writer.write(_record(line, recipe.contents))
                rows += 1
    write_key(recipe, f"{path}.key" if key is None else key)
    return rows


def _layout(path: str | PathLike[str], contents: Contents) -> Layout:
    """The columns of an export; Parquet needs their types, which the first documents may not show."""
    names = [name for name in COLUMNS if name not in ("text", "features") or name == contents]
    schema = None
    if str(path).lower().endswith(".parquet"):
        arrow = pyarrow("writing Parquet")
        schema = arrow.schema([(name, arrow.type_for_alias(COLUMNS[name])) for name in names])
    return Layout(_text_column(contents), "id", tuple(names), schema)


def _text_column(contents: Contents) -> str:
    return "keeper" if contents == "none" else contents


def _record(line: Line, contents: Contents) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": line.id,
        "keeper": line.keeper,
        "distance": line.distance,
        "similarity": line.similarity,
        "added": line.added,
        "expires": line.expires,
        "fingerprint": None if line.fingerprint is None else line.fingerprint.hex(),
        "meta": line.meta,
    }
    if contents == "text":
        record["text"] = "" if line.content is None else unpack_text(line.content)
    elif contents == "features":
        record["features"] = "" if line.content is None else base64.b64encode(line.content).decode()
    return record


def read_export(source: str, recipe: Recipe) -> Iterator[Line]:
    """The lines of an export."""
    reader = read(source, text=_text_column(recipe.contents), id="id", limits=Limits(document_bytes=1 << 30))
    for batch in reader:
        for record in batch.records():
            try:
                content: bytes | None = None
                if recipe.contents == "text":
                    content = pack_text(record["text"])
                elif recipe.contents == "features":
                    content = base64.b64decode(record["features"])
                fingerprint = None if record["fingerprint"] is None else bytes.fromhex(record["fingerprint"])
                if fingerprint is not None and len(fingerprint) != recipe.width:
                    raise ValueError(f"a fingerprint of {len(fingerprint)} bytes, not {recipe.width}")
                if record["meta"] is not None:
                    json.loads(record["meta"])
                yield Line(
                    record["id"], record["keeper"], record["distance"], record["similarity"], int(record["added"]),
                    record["expires"], fingerprint, record["meta"], content,
                )  # fmt: skip
            except (KeyError, TypeError, ValueError) as error:
                raise DataError(
                    f"{source}: document {record.get('id')!r} is not from an export: {error}"
                ) from None
    _checked(reader, source)


def _checked(reader: Reader, source: str) -> None:
    if reader.rejects.counts:
        raise DataError(f"{source}: some documents cannot be read: {dict(reader.rejects.counts)}")
