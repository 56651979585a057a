"""Parquet and Arrow files, and any Arrow data, a batch of rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from neardup.readers.arrow_checks import check_batch, check_shape, pyarrow
from neardup.readers.arrow_files import ArrowFile
from neardup.readers.arrow_messages import messages_of
from neardup.readers.arrow_sizes import row_sizes, sized_pieces
from neardup.readers.compression import COMPRESSIONS
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row, find_layout
from neardup.readers.parquet_footer import ColumnChunk, chunks_of, footer_size
from neardup.readers.parquet_lists import list_pages
from neardup.readers.parquet_pages import Pages, pages_of, rows_at_a_time
from neardup.readers.sources import Source

__all__ = ["arrow_rows", "open_arrow", "open_parquet"]

_ROW = 64  # bytes that the least document takes in memory
_COPIES = 4  # of a dictionary, while a column of them is read
_BUFFER = 1 << 20  # bytes of a column read at a time; otherwise all of a row group's are read at once


def open_parquet(source: Source, terms: Terms) -> Opened:
    pa = pyarrow("reading Parquet")
    import pyarrow.parquet as parquet

    file = source.open()
    try:
        size, most = footer_size(file), terms.limits.line_bytes
        if size > most:  # it is decoded as a whole
            raise ValueError(f"its footer has {size:,} bytes; the limit is {most:,}")
        file.seek(0)
        table = parquet.ParquetFile(file, buffer_size=_BUFFER)
        data = table.metadata
        groups = [data.row_group(i).total_byte_size for i in range(data.num_row_groups)]
        schema = table.schema_arrow
        _ = schema.names  # raises here if they are not UTF-8
        chunks = chunks_of(file)
        if [len(columns) for columns in chunks] != [data.num_columns] * len(groups):
            raise ValueError("its footer does not list all columns")
    except (pa.ArrowException, OSError, ValueError) as error:
        file.close()
        packed = COMPRESSIONS.get(os.path.splitext(source.name.lower())[1])
        why = f"it is packed with {packed}; unpack it first" if packed else f"not a whole one: {error}"
        return _damaged(source, terms, f"it is no Parquet file, {'as ' if packed else 'or '}{why}")
    limits = terms.limits
    if sum(groups) > max(limits.free_bytes, limits.expansion * (source.size or 0)):
        file.close()
        return _damaged(source, terms, f"decompresses to more than {limits.expansion:,} times its size")
    if _too_many(data.num_rows, source, terms):
        file.close()
        return _damaged(source, terms, f"has {data.num_rows:,} rows, too many for its size")
    layout = _layout(file, source, schema, terms)
    wanted = _wanted(schema, layout, terms)

    return Opened(
        _guarded(source, terms, pa, _group_rows(file, table, chunks, wanted, source, terms)), layout
    )


def _group_rows(
    file: BinaryIO,
    table: Any,
    chunks: list[list[ColumnChunk]],
    wanted: list[str],
    source: Source,
    terms: Terms,
) -> Iterator[Row]:
    """The rows of each row group, few at a time where values may be huge; a group that is a bomb is rejected."""
    row, most = 0, terms.limits.line_bytes
    kinds = {field.name: field.type for field in table.schema_arrow if field.name in wanted}
    with file:
        for number, group in enumerate(chunks):
            many_rows = table.metadata.row_group(number).num_rows
            rows = f"rows {row + 1:,} to {row + many_rows:,}"
            columns = []
            for at, chunk in enumerate(group):
                kind = kinds.get(chunk.path_in_schema.split(".")[0])
                if kind is not None:
                    columns.append(
                        _pages(file, chunk, kind, table.schema.column(at).max_repetition_level, most)
                    )
            known = [pages for pages in columns if pages is not None]
            many, size = rows_at_a_time(known, most, terms.batch)
            if len(known) < len(columns):
                detail = f"{rows} are in pages whose headers are damaged"
                terms.rejects.add(source.name, row + 1, "damaged file", detail)
            elif many:
                batches = table.iter_batches(
                    batch_size=many, row_groups=[number], columns=wanted, use_threads=False
                )
                yield from arrow_rows(batches, source.name, terms, row)
            else:
                detail = f"{rows} take {size:,} bytes at once to decode; give more memory"
                terms.rejects.add(source.name, row + 1, "too large", detail)
            row += many_rows


def _too_many(rows: int, source: Source, terms: Terms) -> bool:
    """Whether a file says that it has more rows than it can have: rows of nulls and runs need no bytes, but each
    becomes a document."""
    limits = terms.limits
    return rows > max(limits.free_bytes // _ROW, limits.expansion * (source.size or 0))


def _pages(file: BinaryIO, chunk: ColumnChunk, kind: Any, levels: int, most: int) -> Pages | None:
    """The pages by what decoding them takes; None if they are not known. A column of Arrow's dictionary type keeps
    several copies of its dictionary, and one value for all rows that have the same."""
    pages = pages_of(file, chunk)
    if pages is None:
        return None
    if levels:
        return list_pages(file, chunk, pages, levels, most)
    if hasattr(kind, "index_type"):
        return replace(pages, dictionary=_COPIES * pages.dictionary, longest=0)
    return pages


def open_arrow(source: Source, terms: Terms) -> Opened:
    """Arrow IPC, both the file format (also known as Feather 2) and the stream format."""
    pa = pyarrow("reading Arrow files")
    file = source.open()
    try:
        messages, whole = messages_of(file)
        arrow = ArrowFile.open(file, messages, whole, terms.limits.line_bytes)
        schema = arrow.schema
        _ = schema.names  # raises here if they are not UTF-8
        rows = sum(message.rows for message in messages if not message.dictionary)
        if _too_many(rows, source, terms):
            raise ValueError(f"it has {rows:,} rows, too many for its size")
    except (pa.ArrowException, OSError, ValueError) as error:
        file.close()
        return _damaged(source, terms, f"it is no Arrow file, or not a whole one: {error}")
    layout = _layout(file, source, schema, terms)
    wanted = _wanted(schema, layout, terms)

    def read() -> Iterator[Row]:
        row = 0
        with file, arrow:
            for batch, many in arrow.batches(source.name, terms, wanted):
                if batch is not None:
                    pieces = (batch.slice(start, terms.batch) for start in range(0, many, terms.batch))
                    yield from arrow_rows(map(arrow.released, pieces), source.name, terms, row)
                row += many

    return Opened(_guarded(source, terms, pa, read()), layout)


def arrow_rows(batches: Iterable[Any], name: str, terms: Terms, row: int = 0) -> Iterator[Row]:
    """Rows of record batches; a row whose strings are not UTF-8 is rejected alone. ArrowException if a batch is
    malformed: each is checked before its values are read. `row` rows came before."""
    for batch in _without_huge(batches, name, terms, row):
        if isinstance(batch, int):  # the number of a row that was rejected
            row = batch
            continue
        names = batch.schema.names
        try:
            columns = [_values(column) for column in batch.columns]
        except UnicodeDecodeError:
            for i in range(batch.num_rows):
                row += 1
                try:
                    yield (
                        row,
                        {key: column[i].as_py() for key, column in zip(names, batch.columns, strict=True)},
                    )
                except UnicodeDecodeError as error:
                    terms.rejects.add(name, row, "invalid encoding", error.reason)
            continue
        for values in zip(*columns, strict=True):
            row += 1
            yield row, dict(zip(names, values, strict=True))


def _without_huge(batches: Iterable[Any], name: str, terms: Terms, row: int) -> Iterator[Any]:
    """The batches, checked, in pieces that take no more than a line may; a row that takes more is rejected before it
    becomes Python objects, and its number comes in its place."""
    most = terms.limits.line_bytes
    for batch in batches:
        check_shape(batch)
        sizes = row_sizes(batch)
        for begin, end in sized_pieces(sizes, most):
            if sizes[begin] > most:
                terms.rejects.add(name, row + begin + 1, "too large", f"a row of {sizes[begin]:,} bytes")
                yield row + begin + 1
                continue
            piece = batch if end - begin == batch.num_rows else batch.slice(begin, end - begin)
            check_batch(piece)
            yield piece
        row += batch.num_rows


def _values(column: Any) -> list[Any]:
    if hasattr(column, "dictionary"):
        return _shared(column)
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        raise
    except ValueError:  # times in nanoseconds, which Python has no type for
        values = column.cast("string").to_pylist()
    return values


def _shared(column: Any) -> list[Any]:
    """The values of a dictionary column, one object for all rows that have the same."""
    seen: dict[int | None, Any] = {None: None}
    values = []
    for index in column.indices.to_pylist():
        if index not in seen:
            seen[index] = column.dictionary[index].as_py()
        values.append(seen[index])
    return values


def _layout(file: BinaryIO, source: Source, schema: Any, terms: Terms) -> Layout:
    try:
        return find_layout(schema.names, terms.text, terms.id, source.name, schema)
    except BaseException:
        file.close()
        raise


def _wanted(schema: Any, layout: Layout, terms: Terms) -> list[str]:
    if terms.columns is None:
        return list(schema.names)
    return [n for n in schema.names if n in (*layout.texts, layout.id) or n in terms.columns]


def _guarded(source: Source, terms: Terms, pa: Any, rows: Iterator[Row]) -> Iterator[Row]:
    """Rows until the file turns out to be damaged."""
    last = 0
    while True:
        try:
            item = next(rows, None)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            terms.rejects.add(source.name, last + 1, "damaged file", str(error))
            return
        if item is None:
            return
        last = item[0]
        yield item


def _damaged(source: Source, terms: Terms, error: object) -> Opened:
    terms.rejects.add(source.name, None, "damaged file", str(error))
    return Opened(iter(()))
