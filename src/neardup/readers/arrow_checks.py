"""Checks of Arrow data before anything reads its bytes: an offset beyond its buffer would read other memory.

pyarrow's own functions trust the data. A column of a file is checked whole. Of a column in memory, the sizes are
checked here and the offsets by the native code that walks along them, so that this costs nothing in addition.
"""

from __future__ import annotations

from typing import Any

from neardup.errors import DataError, MissingExtra

__all__ = [
    "arrow_of_pandas",
    "check_batch",
    "check_shape",
    "checked_items",
    "checked_texts",
    "malformed",
    "pyarrow",
]


def pyarrow(doing: str) -> Any:
    """The pyarrow module, which the `io` extra brings."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(doing, "io") from error
    return pyarrow


def check_batch(batch: Any) -> None:
    """ArrowInvalid if a column of the batch is malformed. Strings may hold any bytes: a row that is not UTF-8 is
    rejected alone, later."""
    for column in batch.columns:
        _check(column)


def check_shape(batch: Any) -> None:
    """ArrowInvalid if a column of the batch has a buffer too short for its rows. Offsets are not looked at."""
    for column in batch.columns:
        column.validate()


def checked_texts(array: Any) -> Any:
    """A column of texts in memory as strings or binary values with offsets. DataError if it is malformed."""
    import pyarrow as pa

    try:
        array.validate()
        if pa.types.is_dictionary(array.type) or str(array.type) in ("string_view", "binary_view"):
            _check(array)
            array = _with_offsets(array)
    except pa.ArrowException as error:
        raise malformed(error) from None
    return array


def checked_items(array: Any) -> list[Any]:
    """The values of a column in memory as Python objects; strings that are not UTF-8 as bytes. DataError if the column
    is malformed."""
    import pyarrow as pa

    try:
        _check(array)
    except pa.ArrowException as error:
        raise malformed(error) from None
    items: list[Any]
    try:
        items = array.to_pylist()
    except UnicodeDecodeError:
        items = _as_bytes(array).to_pylist()
    return items


def arrow_of_pandas(column: Any) -> Any:
    """The Arrow column behind a column of pandas; None if it has none."""
    kind = getattr(column, "dtype", None)
    if getattr(kind, "storage", None) != "pyarrow" and not hasattr(kind, "pyarrow_dtype"):
        return None
    return column.array.__arrow_array__()


def malformed(why: object) -> DataError:
    """The error for a column in memory that contradicts itself."""
    return DataError(
        f"this Arrow column is malformed: {why}. Make it again from its source; its validate(full=True) says more"
    )


def _check(column: Any) -> None:
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        _as_bytes(column).validate(full=True)  # the check stops at the first fault, which is not the only one


def _as_bytes(column: Any) -> Any:
    """The same buffers with binary values for strings, whose bytes need not be UTF-8."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _as_bytes(column.dictionary))
    return column.view(_without_strings(column.type))


def _with_offsets(column: Any) -> Any:
    """Views and dictionaries as strings with offsets."""
    import pyarrow as pa

    try:
        return column.cast(pa.large_string())
    except pa.ArrowNotImplementedError:  # pyarrow 16 and 17 make views, but do not cast them
        items = pa.array(_as_bytes(column).to_pylist(), pa.large_binary())
        return (
            items.view(pa.large_string())
            if str(column.type) == "string_view"
            else items.cast(pa.large_string())
        )


def _without_strings(kind: Any) -> Any:
    import pyarrow as pa

    plain = {"string": pa.binary(), "large_string": pa.large_binary()}
    if hasattr(pa, "binary_view"):
        plain["string_view"] = pa.binary_view()
    if str(kind) in plain:
        return plain[str(kind)]
    if pa.types.is_list(kind):
        return pa.list_(_without_strings(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_without_strings(kind.value_type))
    if pa.types.is_struct(kind):
        fields = (kind.field(at) for at in range(kind.num_fields))
        return pa.struct([(field.name, _without_strings(field.type)) for field in fields])
    return kind
