"""Columns of results as tables of pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import MissingExtra

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["ResultColumn", "arrow_table", "pandas_table", "polars_table"]


@dataclass(frozen=True)
class ResultColumn:
    """Values of a column: texts, or numbers of which some may be missing."""

    values: Sequence[str] | NDArray[Any]
    missing: NDArray[np.bool_] | None = None


def arrow_table(columns: Mapping[str, ResultColumn]) -> pyarrow.Table:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("a table of pyarrow", "arrow") from None
    types = {str: pa.string(), float: pa.float64(), int: pa.int64()}
    return pa.table(
        {
            name: pa.array(column.values, types[_kind(column)], mask=column.missing)
            for name, column in columns.items()
        }
    )


def pandas_table(columns: Mapping[str, ResultColumn]) -> pandas.DataFrame:
    """Whole numbers that may be missing are of pandas' own type Int64."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("a table of pandas", "pandas") from None
    made: dict[str, Any] = {}
    for name, column in columns.items():
        kind, values = _kind(column), column.values
        if kind is str:
            made[name] = pd.Series(values, dtype=object)
            if column.missing is not None:
                made[name][column.missing] = None
        elif kind is int and column.missing is not None:
            made[name] = pd.arrays.IntegerArray(np.array(values, np.int64), column.missing.copy())
        else:
            made[name] = np.where(column.missing, np.nan, values) if column.missing is not None else values
    return pd.DataFrame(made)


def polars_table(columns: Mapping[str, ResultColumn]) -> polars.DataFrame:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("a table of polars", "polars") from None
    types = {str: pl.String, float: pl.Float64, int: pl.Int64}
    made = {}
    for name, column in columns.items():
        values: Any = column.values
        if column.missing is not None:
            values = [None if no else v for v, no in zip(values, column.missing.tolist(), strict=True)]
        made[name] = pl.Series(name, values, types[_kind(column)], strict=False)
    return pl.DataFrame(made)


def _kind(column: ResultColumn) -> type:
    if not isinstance(column.values, np.ndarray):
        return str
    return float if column.values.dtype.kind == "f" else int
