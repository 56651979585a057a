"""Search in the ids and texts of documents, for a limited time."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from neardup.findings.folder import Findings

__all__ = ["search_rows"]

Rows = NDArray[np.int64]
SEARCH_SECONDS = 3.0
_SEARCH_BATCH = 512


def search_rows(findings: Findings, wanted: str, seconds: float = SEARCH_SECONDS) -> tuple[Rows, bool]:
    """Documents whose id or text contains `wanted`, ignoring case; and whether time ran out before the end."""
    end = time.monotonic() + seconds
    by_id = _in_ids(findings, wanted)
    texts, partial = _in_texts(findings, wanted.casefold(), end)
    return np.union1d(by_id, np.flatnonzero(np.isin(findings.first, texts))), partial


def _in_ids(findings: Findings, wanted: str) -> Rows:
    data, offsets = findings.id_bytes
    needle, data = wanted.encode().lower(), data.lower()
    found, at = [], data.find(needle)
    while at >= 0:
        row = int(np.searchsorted(offsets, at, "right")) - 1
        if at + len(needle) <= offsets[row + 1]:
            found.append(row)
            at = data.find(needle, int(offsets[row + 1]))
        else:
            at = data.find(needle, at + 1)
    return np.array(found, np.int64)


def _in_texts(findings: Findings, wanted: str, end: float) -> tuple[Rows, bool]:
    stored = findings.stored
    found: list[int] = []
    for start in range(0, len(stored.rows), _SEARCH_BATCH):
        if time.monotonic() > end:
            return np.array(found, np.int64), True
        rows = stored.rows[start : start + _SEARCH_BATCH].tolist()
        texts = stored.between(start, start + len(rows))
        found += [row for row, text in zip(rows, texts, strict=True) if wanted in text.casefold()]
    return np.array(found, np.int64), False
