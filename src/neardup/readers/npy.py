"""A matrix of vectors in an npy file: each row is a document of numbers, in a column `vector`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neardup.readers.arrow_sizes import OBJECT
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row
from neardup.readers.sources import Source

__all__ = ["COLUMN", "open_npy"]

COLUMN = "vector"
_ROWS = 256  # read at a time


def open_npy(source: Source, terms: Terms) -> Opened:
    """The rows of a matrix of numbers, read a few at a time. Nothing is ever unpickled."""
    file = source.open()
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, fortran, kind = read(file)
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

    return Opened(rows(), Layout(COLUMN, None, (COLUMN,)))
