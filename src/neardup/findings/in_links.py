"""Links to the pages of a scan, moved to the documents that are kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.clusters.selection import Cut
from neardup.features.highlights import URL_FIELD
from neardup.findings.folder import Findings
from neardup.findings.reread import ReadAgain, check_unchanged
from neardup.values.checks import checked
from neardup.web.urls.canonical import canonical_urls

__all__ = ["kept_pages", "page_urls"]


def page_urls(findings: Findings) -> list[str]:
    """The URL of each document: its id if all ids are URLs, else its field `url` in the inputs, which are read again;
    its id if it has no such field."""
    names = findings.ids(np.arange(len(findings)))
    if all("://" in name for name in names):
        return names
    check_unchanged(findings)
    again = ReadAgain(findings)
    for entry in findings.manifest["inputs"]:
        for _, document, row, _ in again.documents(entry):
            url = document.meta.get(URL_FIELD)
            if isinstance(url, str) and url:
                names[row] = url
    return names


@checked
def kept_pages(findings: Findings, cut: Cut) -> Callable[[str], str | None]:
    """A function from the URL of a page to that of the document that is kept for it: itself, or the keeper of its
    cluster; None for a page that was not scanned, or has no kept one.

    findings, cut  a scan, and its clusters at a threshold
    raises         DataError if an input has changed since the scan

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> kept = nd.findings.kept_pages(findings, findings.cut())
    >>> kept("a page that was not scanned") is None
    True
    """
    names = page_urls(findings)
    keeper = np.where(cut.kept, np.arange(len(cut.kept)), cut.clusters.keeper)
    known = cut.kept[keeper]
    place: dict[str, int] = {}
    for row, url in enumerate(canonical_urls(names)):
        # Of several documents with one URL a kept one counts.
        if known[row] and (url not in place or (cut.kept[row] and not cut.kept[place[url]])):
            place[url] = row

    def kept(url: str) -> str | None:
        row = place.get(canonical_urls([url]).urls[0])
        return None if row is None else names[int(keeper[row])]

    return kept
