"""Warnings before a mass removal."""

from __future__ import annotations

import numpy as np

from neardup.clusters.selection import Cut
from neardup.findings.balance import dropped_rows
from neardup.findings.folder import Findings
from neardup.findings.large_clusters import large_cluster
from neardup.values.checks import checked
from neardup.values.wording import counted, printable

__all__ = ["alarms"]

# Above these limits, the cause is more often a template or an error page than true duplication.
MOST_DROPPED, MOST_IN_CLUSTER = 0.5, 0.01
SMALLEST_SOURCE, SMALLEST_CLUSTER = 20, 20
FEWEST_FILTERED = 10


@checked
def alarms(findings: Findings, cut: Cut) -> list[str]:
    """Reasons to ask before so many documents are dropped, each with an example; empty if there is none.

    findings, cut  a scan, and its clusters at a threshold
    raises  nothing

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> nd.findings.alarms(findings, findings.cut())
    []
    """
    found = []
    dropped = dropped_rows(findings, cut)
    documents = len(findings) - findings.reference
    lost = np.bincount(findings.sources[dropped], minlength=len(findings.source_names))
    own = findings.sources[findings.reference :]
    have = np.bincount(own, minlength=len(findings.source_names))
    heavy = np.flatnonzero((have >= SMALLEST_SOURCE) & (lost > MOST_DROPPED * have))
    for source in heavy[:3].tolist():
        row = int(dropped[findings.sources[dropped] == source][0])
        name, keeper = findings.ids(np.array([row, int(cut.clusters.keeper[row])]))
        where = printable(findings.source_names[source]) or "the corpus"
        found.append(
            f"{lost[source]:,} of the {have[source]:,} documents of {where} would be dropped, "
            f"such as {printable(name)}, a duplicate of {printable(keeper)}"
        )
    if not len(heavy) and documents >= SMALLEST_SOURCE and len(dropped) > MOST_DROPPED * documents:
        # Each source may be too small to judge, for example when every page is a file of its own.
        name, keeper = findings.ids(np.array([dropped[0], cut.clusters.keeper[dropped[0]]]))
        found.append(
            f"{len(dropped):,} of all {documents:,} documents would be dropped, "
            f"such as {printable(name)}, a duplicate of {printable(keeper)}"
        )
    filtered = int((findings.filtered[findings.reference :] != 0).sum())
    if filtered >= FEWEST_FILTERED and filtered + len(dropped) > MOST_DROPPED * documents:
        found.append(f"filters would leave out {filtered:,} of all {documents:,} documents")
    if len(heavy) > 3:
        found.append(f"more than half of {counted(len(heavy) - 3, 'other source')} would be dropped too")
    labels, sizes = cut.clusters.sizes()
    large = np.flatnonzero((sizes >= SMALLEST_CLUSTER) & (sizes > MOST_IN_CLUSTER * documents))
    for i in large[np.argsort(-sizes[large], kind="stable")][:3].tolist():
        cluster = large_cluster(findings, int(cut.clusters.keeper[labels[i]]), int(sizes[i]))
        found.append(
            f"one cluster has {cluster.size:,} documents: {printable(cluster.keeper)}  {cluster.begins}"
        )
    return found
