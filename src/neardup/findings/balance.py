"""The balance of findings at one cut, and the rows that are dropped there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.config.filters import REASONS
from neardup.findings.folder import Findings
from neardup.pipeline.balance import Balance

__all__ = ["balance_of", "dropped_rows"]


def dropped_rows(findings: Findings, cut: Cut) -> NDArray[np.int64]:
    """Documents of the corpus that are dropped as duplicates."""
    rows = cut.dropped
    return np.asarray(rows[(rows >= findings.reference) & (findings.filtered[rows] == 0)])


def balance_of(findings: Findings, cut: Cut, dropped: NDArray[np.int64] | None = None) -> Balance:
    """What became of every file, row and document. The numbers of kept, dropped and filtered documents are counted
    apart, so that an error in one of them is noticed."""
    dropped = dropped_rows(findings, cut) if dropped is None else dropped
    exact = cut.exact(findings.first, dropped)
    reasons = np.bincount(findings.filtered[findings.reference :], minlength=len(REASONS))
    return Balance(
        documents=len(findings) - findings.reference,
        kept=int(cut.kept[findings.reference :].sum()),
        exact=exact,
        near=len(dropped) - exact,
        filtered={REASONS[code]: int(reasons[code]) for code in np.flatnonzero(reasons).tolist() if code},
        account=findings.manifest.get("account", {}),
    )
