"""Parquet and Arrow files, and any Arrow data, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from neardup.errors import MissingExtra
from neardup.readers.arrow_checks import check_batch
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row, find_layout
from neardup.readers.sources import Source

__all__ = ["arrow_rows", "open_arrow", "open_parquet", "pyarrow"]

# Parquet stores a value that comes again only once, so that a small file can hold many rows of a huge text: few rows
# at a time bound what that costs.
_ROWS = 64
_MUCH_SMALLER = 50


def pyarrow(doing: str) -> Any:
    """The pyarrow module, which the `io` extra brings."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(doing, "io") from error
    return pyarrow


def open_parquet(source: Source, terms: Terms) -> Opened:
    pa = pyarrow("reading Parquet")
    import pyarrow.parquet as parquet

    file = source.open()
    try:
        table = parquet.ParquetFile(file)
        data = table.metadata
        groups = [data.row_group(i).total_byte_size for i in range(data.num_row_groups)]
        schema = table.schema_arrow
        _ = schema.names  # raises here if they are not UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        file.close()
        return _damaged(source, terms, f"it is no Parquet file, or not a whole one: {error}")
    limits = terms.limits
    if sum(groups) > max(limits.free_bytes, limits.expansion * (source.size or 0)):
        file.close()
        return _damaged(source, terms, f"decompresses to more than {limits.expansion:,} times its size")
    layout = _layout(file, source, schema, terms)
    wanted = _wanted(schema, layout, terms)

    return Opened(_guarded(source, terms, pa, _group_rows(file, table, wanted, source, terms)), layout)


def _group_rows(file: BinaryIO, table: Any, wanted: list[str], source: Source, terms: Terms) -> Iterator[Row]:
    """The rows of each row group, few at a time where values may be huge; a group that is a bomb is rejected."""
    row, limits = 0, terms.limits
    with file:
        for number in range(table.metadata.num_row_groups):
            group = table.metadata.row_group(number)
            many = min(terms.batch, _ROWS)
            for at in range(group.num_columns):
                chunk = group.column(at)
                if chunk.path_in_schema.split(".")[0] not in wanted:
                    continue
                size = chunk.total_uncompressed_size
                # Texts are compressed ten times or so; what is compressed far more may be one value as large as all.
                if size <= _MUCH_SMALLER * max(chunk.total_compressed_size, 1):
                    continue
                if size > limits.line_bytes:
                    many = 0
                    detail = f"rows {row + 1:,} to {row + group.num_rows:,} decompress to {size:,} bytes in one column"
                    terms.rejects.add(source.name, row + 1, "too large", detail)
                    break
                many = min(many, max(limits.line_bytes // max(size, 1), 1))
            if many:
                batches = table.iter_batches(
                    batch_size=many, row_groups=[number], columns=wanted, use_threads=False
                )
                yield from arrow_rows(batches, source.name, terms, row)
            row += group.num_rows


def open_arrow(source: Source, terms: Terms) -> Opened:
    """Arrow IPC, both the file format (also known as Feather 2) and the stream format."""
    pa = pyarrow("reading Arrow files")
    file = source.open()
    try:
        head = file.read(6)
        file.seek(0)
        if head == b"ARROW1":
            whole = pa.ipc.open_file(file)
            batches = (whole.get_batch(i) for i in range(whole.num_record_batches))
            schema = whole.schema
        else:
            stream = pa.ipc.open_stream(file)
            batches, schema = iter(stream), stream.schema
        _ = schema.names  # raises here if they are not UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        file.close()
        return _damaged(source, terms, f"it is no Arrow file, or not a whole one: {error}")
    layout = _layout(file, source, schema, terms)
    wanted = _wanted(schema, layout, terms)

    def pieces() -> Iterator[Any]:
        with file:
            for batch in batches:
                chosen = batch.select(wanted)
                for start in range(0, chosen.num_rows, terms.batch):
                    yield chosen.slice(start, terms.batch)

    return Opened(_guarded(source, terms, pa, arrow_rows(pieces(), source.name, terms)), layout)


def arrow_rows(batches: Iterable[Any], name: str, terms: Terms, row: int = 0) -> Iterator[Row]:
    """Rows of record batches; a row whose strings are not UTF-8 is rejected alone. ArrowException if a batch is
    malformed: each is checked before its values are read. `row` rows came before."""
    for batch in batches:
        check_batch(batch)
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
