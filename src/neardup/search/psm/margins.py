"""The sizes of margins, from whichever form codes keep them in: what PSM's flips cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.fingerprints.fingerprints import Codes

__all__ = ["has_sizes", "margin_sizes"]


def has_sizes(codes: Codes) -> bool:
    """Whether the codes keep how large each margin is: full or as bytes, not as ranks."""
    return codes.margins is not None or codes.margin_bytes is not None


def margin_sizes(codes: Codes, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
    """The margins of some rows (by default of all that are not empty), float32[rows, bits]. Only their sizes
    mean anything: full margins keep their sign, those from bytes have none."""
    if not has_sizes(codes):
        have = "have none" if codes.ranks is None else "keep only ranks"
        raise DataError(
            f"this needs margins, the votes behind each bit, and these codes {have}: make codes with "
            'Simhash(margins="full") or Simhash(margins="bytes"), or use an exact method such as Compact'
        )
    name, kind = ("margins", "float32") if codes.margins is not None else ("margin_bytes", "uint8")
    column: NDArray[np.float32] | NDArray[np.uint8] = getattr(codes, name)
    if column.dtype != kind or column.shape != (len(codes), codes.bits):
        raise DataError(f"{name} must be {kind}[{len(codes)}, {codes.bits}]")
    scales = None if codes.margins is not None else codes.margin_scales
    if codes.margins is None and (scales is None or scales.shape != (len(codes),)):
        raise DataError(f"margin_bytes need margin_scales, float32[{len(codes)}]")
    if rows is None and codes.empty.any():
        rows = np.flatnonzero(~codes.empty)
    picked = column if rows is None else column[rows]
    if scales is None:
        return np.ascontiguousarray(picked, np.float32)
    return picked * (scales if rows is None else scales[rows]).astype(np.float32)[:, None]
