"""Tables and columns in memory: pandas, polars, pyarrow, Hugging Face, numpy, lists and mappings behind one interface.

They are known by where their classes come from, so none of those packages is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError, UnsupportedInput
from neardup.readers.arrow_checks import arrow_of_pandas, checked_items

__all__ = [
    "MappingOfItems",
    "MemoryTable",
    "hold",
    "keep_rows",
    "plain_values",
    "splits_of",
]

Mask = NDArray[np.bool_]
_WHOLE = slice(None)
_PEEKED = 100  # rows of a list that are looked at for the names of columns


class MemoryTable(Protocol):
    """A table in memory, or one column of texts, which has no `names`."""

    @property
    def names(self) -> list[str]: ...

    @property
    def schema(self) -> Any:
        """The Arrow schema, None if it has none."""
        ...

    def __len__(self) -> int: ...

    def values(self, name: str, part: slice = _WHOLE) -> Any:
        """Some values of a column: a list with None for what is missing, or an Arrow column."""
        ...

    def only(self, kept: Mask) -> object:
        """An object of the same kind with only some of the rows."""
        ...


def hold(source: Any) -> MemoryTable | None:
    """The table or column that an object is; None for what is neither, such as a generator or a path."""
    found = _held(source)
    if isinstance(found, _PandasFrame | _PolarsFrame | _ArrowTable | _Dataset) and not found.names:
        raise UnsupportedInput("this table has no columns; pass one with a column of texts")
    return found


def _held(source: Any) -> MemoryTable | None:
    roots = {kind.__module__.partition(".")[0] for kind in type(source).__mro__}
    if "pandas" in roots and hasattr(source, "isna"):
        return _PandasFrame(source) if hasattr(source, "columns") else _PandasColumn(source)
    if "polars" in roots:
        if hasattr(source, "collect"):
            raise UnsupportedInput("this is a lazy frame; pass what its collect() gives")
        return _PolarsFrame(source) if hasattr(source, "columns") else _PolarsColumn(source)
    if "pyarrow" in roots:
        return _of_arrow(source)
    if "datasets" in roots and hasattr(source, "select_columns") and hasattr(source, "__len__"):
        return _Dataset(source)
    if "pyspark" in roots:
        raise UnsupportedInput("this is a table of Spark; neardup.spark works on it where it is")
    if isinstance(source, np.ndarray):
        return _Array(source)
    if isinstance(source, list | tuple):
        return _ListOfItems(source)
    if isinstance(source, Mapping):
        return MappingOfItems(source)
    return None


def splits_of(source: Any) -> dict[str, Any] | None:
    """The tables of a DatasetDict, or of a mapping of names to tables; None for everything else."""
    if not isinstance(source, Mapping) or not source:
        return None
    if any(hasattr(value, "take") and not hasattr(value, "__len__") for value in source.values()):
        raise UnsupportedInput(
            "these splits are streams, which cannot be counted; pass one of them, or load the dataset without streaming"
        )
    if any(splits_of(value) is not None for value in source.values()):
        raise UnsupportedInput(
            "a split holds splits itself; pass one of them, or one mapping of names to tables"
        )
    if any(
        isinstance(value, str | bytes | Mapping | Sequence | np.ndarray | None) for value in source.values()
    ):
        return None
    tables = {str(name): hold(table) for name, table in source.items()}
    return dict(source) if all(table is not None and table.names for table in tables.values()) else None


_Given = TypeVar("_Given")


def keep_rows(given: _Given, kept: Mask) -> _Given:
    """An object of the same kind with only the rows that are kept; the rows of splits are counted through."""
    source: Any = given
    splits = splits_of(source)
    if splits is not None:
        sizes = [len(table) for table in splits.values()]
        _check_rows(sum(sizes), kept)
        masks = np.split(kept, np.cumsum(sizes)[:-1])
        parts = {
            name: keep_rows(table, mask) for (name, table), mask in zip(splits.items(), masks, strict=True)
        }
        made: Any = parts if type(source) is dict else type(source)(parts)
        return cast(_Given, made)
    held = hold(source)
    if held is None:
        raise UnsupportedInput(
            f"keep takes a table, a column, a list or a dict, not {type(source).__name__}; select the rows in `kept`, "
            "or write the documents with write(path)"
        )
    _check_rows(len(held), kept)
    return cast(_Given, held.only(kept))


def _check_rows(rows: int, kept: Mask) -> None:
    if rows != len(kept):
        raise DataError(
            f"the result is of {len(kept):,} rows and this has {rows:,}; pass what was given to dedup"
        )


def _of_arrow(source: Any) -> MemoryTable | None:
    if hasattr(source, "read_all"):  # a RecordBatchReader
        source = source.read_all()
    elif hasattr(source, "to_table"):  # a Dataset
        source = source.to_table()
    if hasattr(source, "num_rows"):
        return _ArrowTable(source)
    return _ArrowColumn(source) if hasattr(source, "null_count") else None


class _TextColumn:
    """One column, which has no names."""

    schema, names = None, list[str]()

    def __init__(self, column: Any) -> None:
        self.column = column

    def __len__(self) -> int:
        return len(self.column)


class _PandasFrame:
    schema = None

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, [str(name) for name in frame.columns]

    def __len__(self) -> int:
        return len(self.frame)

    def values(self, name: str, part: slice = _WHOLE) -> list[Any]:
        return _PandasColumn(self.frame.iloc[:, self.names.index(name)]).values(name, part)

    def only(self, kept: Mask) -> object:
        return self.frame[kept]


class _PandasColumn(_TextColumn):
    """A Series or an Index."""

    def values(self, name: str, part: slice = _WHOLE) -> list[Any]:
        """Values as Python's own, with None where pandas has one of its marks for nothing."""
        column = getattr(self.column, "iloc", self.column)[part]
        arrow = arrow_of_pandas(column)
        if arrow is not None:
            return [item for chunk in getattr(arrow, "chunks", [arrow]) for item in checked_items(chunk)]
        missing = column.isna().tolist()
        return [None if no else value for value, no in zip(column.tolist(), missing, strict=True)]

    def only(self, kept: Mask) -> object:
        return self.column[kept]


class _PolarsFrame:
    schema = None

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, list(frame.columns)

    def __len__(self) -> int:
        return int(self.frame.height)

    def values(self, name: str, part: slice = _WHOLE) -> Any:
        return _PolarsColumn(self.frame[name]).values(name, part)

    def only(self, kept: Mask) -> object:
        return self.frame.filter(_polars_mask(kept))


class _PolarsColumn(_TextColumn):
    def values(self, name: str, part: slice = _WHOLE) -> Any:
        column = self.column[part]
        if str(column.dtype) == "String":
            with suppress(ImportError):  # without pyarrow
                return column.to_arrow()
        return column.to_list()

    def only(self, kept: Mask) -> object:
        return self.column.filter(_polars_mask(kept))


def _polars_mask(kept: Mask) -> Any:
    import polars as pl

    return pl.Series(kept)


class _ArrowTable:
    """A Table or a RecordBatch."""

    def __init__(self, table: Any) -> None:
        self.table, self.schema, self.names = table, table.schema, list(table.schema.names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def values(self, name: str, part: slice = _WHOLE) -> Any:
        return self.table.column(self.names.index(name))[part]

    def only(self, kept: Mask) -> object:
        return self.table.filter(_arrow_mask(kept))


class _ArrowColumn(_TextColumn):
    """An Array or a ChunkedArray."""

    def values(self, name: str, part: slice = _WHOLE) -> Any:
        return self.column[part]

    def only(self, kept: Mask) -> object:
        return self.column.filter(_arrow_mask(kept))


def _arrow_mask(kept: Mask) -> Any:
    import pyarrow as pa

    return pa.array(kept)


class _Dataset:
    """A Dataset of Hugging Face, which is Arrow inside."""

    schema = None

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.names = dataset, list(dataset.column_names)
        self.schema = dataset.features.arrow_schema

    def __len__(self) -> int:
        return len(self.dataset)

    def values(self, name: str, part: slice = _WHOLE) -> Any:
        return self.dataset.select_columns([name]).with_format("arrow")[part].column(0)

    def only(self, kept: Mask) -> object:
        return self.dataset.select(np.flatnonzero(kept))


class _Array(_TextColumn):
    """A numpy array of texts."""

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 1 or array.dtype.names is not None:
            shape = "with fields" if array.dtype.names else f"of {array.ndim} dimensions"
            raise UnsupportedInput(f"this is a numpy array {shape}; pass one of 1 dimension with a text each")
        super().__init__(array)

    def values(self, name: str, part: slice = _WHOLE) -> list[Any]:
        found: list[Any] = self.column[part].tolist()
        return found

    def only(self, kept: Mask) -> object:
        return self.column[kept]


class _ListOfItems:
    """A list or tuple: texts, mappings and Documents. With a mapping in it, it is a table."""

    schema = None

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items
        names: dict[str, None] = {}
        if any(issubclass(kind, Mapping) for kind in set(map(type, items))):
            for row in [item for item in items if isinstance(item, Mapping)][:_PEEKED]:
                names.update(dict.fromkeys(map(str, row)))
        self.names = list(names)

    def __len__(self) -> int:
        return len(self.items)

    def values(self, name: str, part: slice = _WHOLE) -> list[Any]:
        if not self.names:
            return list(self.items[part])
        return [item.get(name) if isinstance(item, Mapping) else item for item in self.items[part]]

    def only(self, kept: Mask) -> object:
        rows = list(compress(self.items, kept))
        return tuple(rows) if isinstance(self.items, tuple) else rows


class MappingOfItems(_ListOfItems):
    """A mapping of ids to texts, mappings or Documents."""

    def __init__(self, source: Mapping[Any, Any]) -> None:
        super().__init__(list(source.values()))
        self.source = source

    @property
    def keys(self) -> list[str]:
        return [str(key) for key in self.source]

    def only(self, kept: Mask) -> object:
        return dict(compress(self.source.items(), kept))


def plain_values(values: Any) -> list[Any]:
    """The values of a column as Python's own."""
    if isinstance(values, list):
        return values
    chunks = getattr(values, "chunks", [values])  # of an Arrow column
    try:
        return [item for chunk in chunks for item in checked_items(chunk)]
    except DataError:
        raise
    except ValueError:  # times in nanoseconds, which Python has no type for
        return [item for chunk in chunks for item in checked_items(chunk.cast("string"))]
