"""What `neardup apply` would do with this threshold and these decisions, without doing it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from neardup.findings.lanes import LANES
from neardup.findings.removal_alarms import alarms
from neardup.pages.review.session import View, changed_inputs

__all__ = ["dry_run", "removal_records"]

PAGE = 100
_BATCH = 1 << 14


def dry_run(view: View, offset: int = 0) -> dict[str, Any]:
    """The counts of the output, why `apply` would stop, and some removals, those that come first in the input."""
    findings, cut = view.findings, view.cut
    own = slice(findings.reference, None)
    return {
        "revision": view.decisions.revision,
        "kept": int(cut.kept[own].sum()),
        "removed": len(view.table.removals),
        "filtered": int((findings.filtered[own] != 0).sum()),
        "changed": changed_inputs(findings),
        "alarms": alarms(findings, cut),
        "offset": offset,
        "removals": list(removal_records(view, max(0, offset), PAGE)),
    }


def removal_records(view: View, start: int = 0, many: int | None = None) -> Iterator[dict[str, Any]]:
    """A record for each removed document: its keeper, why it is removed, and where it was read."""
    findings, removals = view.findings, view.table.removals
    end = len(removals) if many is None else min(len(removals), start + many)
    for begin in range(start, end, _BATCH):
        part = np.arange(begin, min(end, begin + _BATCH))
        names, others = findings.ids(removals.rows[part]), findings.ids(removals.keepers[part])
        for at, name, other in zip(part.tolist(), names, others, strict=True):
            row, keeper = int(removals.rows[at]), int(removals.keepers[at])
            place, similarity = findings.place(row), float(removals.similarity[at])
            made = view.decisions.pairs.get((min(row, keeper), max(row, keeper)))
            yield {
                "id": name,
                "keeper": other,
                "similarity": None if np.isnan(similarity) else similarity,
                "lane": LANES[int(removals.lanes[at])],
                "decision": None if made is None else made.decision,
                "note": "" if made is None else made.note,
                "source": findings.source_names[int(findings.sources[row])],
                "file": place.file,
                "row": place.row,
            }
