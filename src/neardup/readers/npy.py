"""A matrix of vectors in an npy file: each row is a document of numbers, in a column `vector`."""

from __future__ import annotations

import tokenize
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from neardup.readers.arrow_sizes import OBJECT
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row
from neardup.readers.sources import Source

__all__ = ["COLUMN", "open_npy", "read_npy_header"]

COLUMN = "vector"
_ROWS = 256  # read at a time


def read_npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether column by column, and type of what follows in an npy file; ValueError if it begins otherwise."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, kind = read(file)
    except (SyntaxError, tokenize.TokenError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        # The header is a literal of Python, and numpy lets through what its parsers raise.
        raise ValueError(f"its header cannot be read: {error}") from None
    return shape, fortran, kind


def open_npy(source: Source, terms: Terms) -> Opened:
    """The rows of a matrix of numbers, read a few at a time. Nothing is ever unpickled."""
    file = source.open()
    try:
        shape, fortran, kind = read_npy_header(file)
        if len(shape) != 2 or kind.kind not in "fiu" or fortran or shape[0] < 0 or shape[1] < 1:
            raise ValueError(
                f"vectors are a matrix of numbers [n, dimensions] row by row, not {kind}{list(shape)}"
            )
        width, most = shape[1] * (kind.itemsize + OBJECT), terms.limits.line_bytes
        if width > most:
            file.close()
            detail = f"a row of {shape[1]:,} numbers takes {width:,} bytes; the limit is {most:,}"
            terms.rejects.add(source.name, None, "too large", detail)
            return Opened(iter(()))
    except (ValueError, OSError, EOFError) as error:
        file.close()
        terms.rejects.add(source.name, None, "damaged file", f"it is no npy file of vectors: {error}")
        return Opened(iter(()))

    def rows() -> Iterator[Row]:
        size, step = shape[1] * kind.itemsize, max(1, min(_ROWS, most // width))
        with file:
            for start in range(0, shape[0], step):
                many = min(step, shape[0] - start)
                data = file.read(many * size)
                whole = len(data) // size
                part = np.frombuffer(data[: whole * size], kind).reshape(whole, shape[1])
                for at in range(whole):
                    yield start + at + 1, {COLUMN: part[at].tolist()}
                if whole < many:
                    detail = f"ends after {start + whole:,} of {shape[0]:,} rows"
                    terms.rejects.add(source.name, start + whole + 1, "damaged file", detail)
                    return
            if file.read(1):
                detail = f"more follows the {shape[0]:,} rows that its header counts"
                terms.rejects.add(source.name, shape[0] + 1, "damaged file", detail)

    return Opened(rows(), Layout(COLUMN, None, (COLUMN,)))
