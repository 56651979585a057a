"""Export files: all documents of an index in a table that any tool can read, and a key file."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, NamedTuple

from neardup import _core
from neardup.errors import DataError
from neardup.index.contents import pack_text, unpack_text
from neardup.index.key import write_key
from neardup.index.recipe import Contents, Recipe
from neardup.readers import Limits, Reader, open_writer, read
from neardup.readers.arrow_checks import pyarrow
from neardup.readers.layout import Layout

__all__ = ["ExportedDocument", "read_export", "write_export"]

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
    "digest": "string",
}


class ExportedDocument(NamedTuple):
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
    stored: Iterable[Sequence[ExportedDocument]],
    key: str | PathLike[str] | None = None,
    access: str = "owner",
) -> int:
    """Write lines to a file, and the key to another. Returns how many lines there were."""
    rows = 0
    with open_writer(path, like=_layout(path, recipe.contents), secret=access == "owner") as writer:
        for lines in stored:
            for line in lines:
                writer.write(_record(line, recipe.contents))
                rows += 1
    if access != "owner":
        os.chmod(path, 0o640 if access == "group" else 0o644)
    write_key(recipe, f"{path}.key" if key is None else key, rows)
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


def _record(line: ExportedDocument, contents: Contents) -> dict[str, Any]:
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
    return record | {"digest": _digest(record)}


def _digest(record: dict[str, Any]) -> str:
    """A digest of a line against damage. Only numbers and strings: they are the same in every format."""
    values = [record.get(name) for name in COLUMNS if name in record and name != "digest"]
    return f"{_core.hash_bytes(json.dumps(values).encode(), 0):016x}"


def read_export(source: str, recipe: Recipe, documents: int | None = None) -> Iterator[ExportedDocument]:
    """The lines of an export. DataError if one does not fit its digest, or if they are not as many as `documents`,
    which the key of the export says. Exports of earlier versions have neither."""
    reader = read(source, text=_text_column(recipe.contents), id="id", limits=Limits(document_bytes=1 << 30))
    rows = 0
    for batch in reader:
        for record in batch.records():
            try:
                yield _line(record, recipe, documents is not None)
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                raise DataError(
                    f"{source}: document {record.get('id')!r} is not from an export: {error}"
                ) from None
            rows += 1
    _checked(reader, source)
    if documents is not None and rows != documents:
        raise DataError(
            f"{source}: {documents} documents were exported, and {rows} are here; export it again"
        )


def _line(record: dict[str, Any], recipe: Recipe, digested: bool) -> ExportedDocument:
    if (digested or record.get("digest") is not None) and record["digest"] != _digest(record):
        raise ValueError("it does not fit its digest; export it again")
    content: bytes | None = None
    if recipe.contents == "text":
        content = pack_text(record["text"])
    elif recipe.contents == "features":
        content = base64.b64decode(record["features"], validate=True)
    fingerprint = None if record["fingerprint"] is None else bytes.fromhex(record["fingerprint"])
    if fingerprint is not None and len(fingerprint) != recipe.width:
        raise ValueError(f"a fingerprint of {len(fingerprint)} bytes, not {recipe.width}")
    if record["meta"] is not None and not isinstance(json.loads(record["meta"]), dict):
        raise ValueError("its meta is not a JSON object")
    similarity = None if record["similarity"] is None else float(record["similarity"])
    line = ExportedDocument(
        record["id"], record["keeper"], record["distance"], similarity, record["added"], record["expires"],
        fingerprint, record["meta"], content,
    )  # fmt: skip
    whole = (line.distance, line.added, line.expires)
    if not all(type(value) is int for value in whole if value is not None) or line.added is None:
        raise ValueError("a distance or a time is not a whole number")
    if not all(isinstance(value, str) and value for value in (line.id, line.keeper)):
        raise ValueError("its id or keeper is not a text")
    return line


def _checked(reader: Reader, source: str) -> None:
    if reader.rejects.counts:
        raise DataError(f"{source}: some documents cannot be read: {dict(reader.rejects.counts)}")
