"""How many bytes the rows of Arrow columns take as Python objects, before they become any.

Few bytes of a column can be many rows: a dictionary, a view or a run stores a value once for all rows that have it. And
one row can be a whole column: a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["row_sizes", "sized_pieces"]

Sizes = NDArray[np.int64]

OBJECT = 64  # bytes of a small Python object and its place in a list
_OFFSETS = {"string": np.int32, "binary": np.int32, "large_string": np.int64, "large_binary": np.int64}
_MOST_SHARED = 1 << 20  # such values of one batch whose sizes are looked at one by one
_VIEWS = ("string_view", "binary_view")


def row_sizes(batch: Any) -> Sizes:
    """The bytes of each row of a batch; of an unusual column, at most these. ArrowInvalid if an offset is beyond the
    values; other faults of offsets make the numbers wrong, and `check_batch` finds them later."""
    import pyarrow as pa

    rows = np.arange(batch.num_rows + 1)
    total = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        try:
            total += _between(column, rows[:-1], rows[1:])
        except IndexError:
            raise pa.ArrowInvalid("an offset is beyond the values") from None
    return total


def sized_pieces(sizes: Sizes, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows that together take at most so many bytes; a row that takes more is alone in its range."""
    begin, held = 0, 0
    if int(sizes.sum()) <= most:
        yield 0, len(sizes)
        return
    for row, size in enumerate(sizes.tolist()):
        if held + size > most and row > begin:
            yield begin, row
            begin, held = row, 0
        held += size
    if begin < len(sizes):
        yield begin, len(sizes)


def _between(column: Any, begin: Sizes, end: Sizes) -> Sizes:
    """The bytes of some ranges of a column's values. There is no number for each value: a list may have very many."""
    import pyarrow as pa

    kind, many = column.type, end - begin
    if str(kind) in _OFFSETS:
        offsets = _offsets(column, _OFFSETS[str(kind)])
        return np.asarray(offsets[end].astype(np.int64) - offsets[begin] + OBJECT * many)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        offsets = _offsets(column, np.int64 if pa.types.is_large_list(kind) else np.int32)
        begin, end = offsets[begin].astype(np.int64), offsets[end].astype(np.int64)
        if pa.types.is_map(kind):
            inner = (
                _between(column.keys, begin, end)
                + _between(column.items, begin, end)
                + OBJECT * (end - begin)
            )
        else:
            inner = _between(column.values, begin, end)
        return np.asarray(inner + OBJECT * many)
    if pa.types.is_fixed_size_list(kind):
        size, first = kind.list_size, column.offset
        return _between(column.values, (first + begin) * size, (first + end) * size) + OBJECT * many
    if pa.types.is_struct(kind):
        fields = (_between(column.field(at), begin, end) for at in range(kind.num_fields))
        return np.asarray(sum(fields, OBJECT * many))
    if pa.types.is_dictionary(kind) or str(kind) in _VIEWS:
        low, high = int(begin.min(initial=0)), int(end.max(initial=0))
        if high - low > _MOST_SHARED:
            return (OBJECT + int(column.nbytes)) * many
        sums = np.concatenate([[0], np.cumsum(_shared_sizes(column.slice(low, high - low)))])
        return np.asarray(sums[end - low] - sums[begin - low])
    if pa.types.is_primitive(kind) or pa.types.is_null(kind) or pa.types.is_boolean(kind):
        return OBJECT * many
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_decimal(kind):
        return np.asarray((OBJECT + kind.byte_width) * many)
    # Unions, runs and others: a value is no larger than the whole column.
    return (OBJECT + int(column.nbytes)) * many


def _shared_sizes(column: Any) -> Sizes:
    """The bytes of each value of a column of which several rows may share one."""
    if hasattr(column, "dictionary"):
        at = np.asarray(column.indices.fill_null(0).to_numpy(zero_copy_only=False), np.int64)
        return _between(column.dictionary, at, at + 1) if len(column.dictionary) else np.full(len(at), OBJECT)
    if not len(column):
        return np.zeros(0, np.int64)
    # The first four bytes of each view are the length of its value.
    views = np.frombuffer(column.buffers()[1], np.int32, 4 * len(column), offset=16 * column.offset)
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    return np.where(valid, views[::4].astype(np.int64), 0) + OBJECT


def _offsets(column: Any, kind: Any) -> NDArray[Any]:
    buffer = column.buffers()[1]
    if buffer is None or buffer.size == 0:  # a column without rows need not have one
        return np.zeros(len(column) + 1, np.int64)
    width = np.dtype(kind).itemsize
    # Few of very many are used, and only these become larger numbers.
    return np.frombuffer(buffer, kind, len(column) + 1, offset=column.offset * width)
