"""Counts how many words of a scanned document occur in another one, in passages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare.passages import token_rows
from neardup.compare.verify import Containment
from neardup.features.select import Winnow
from neardup.findings.folder import Findings
from neardup.values.checks import checked

__all__ = ["by_passages", "shared_words"]

Rows = NDArray[np.int64]
_AT_ONCE = 1 << 12


@checked
def by_passages(findings: Findings) -> bool:
    """Whether a scan was made to find passages, as with the preset `plagiarism`: less than half of a document is
    enough, or shingles are winnowed.

    findings  the findings of a scan
    raises    nothing

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> nd.findings.by_passages(findings)
    False
    """
    config = findings.config
    partly = isinstance(config.verify, Containment)
    return partly and (config.verify.threshold < 0.5 or isinstance(config.compared.select, Winnow))


@checked
def shared_words(findings: Findings, parts: Rows, wholes: Rows, *, threads: int = 1) -> Rows:
    """For each pair of rows: how many words of the part occur in the whole, in passages, as `find_copies` counts them;
    -1 where a text was not stored. A passage has at least as many words as a shingle of the scan.

    findings  the findings of a scan that stored texts
    parts, wholes  rows, of the same number
    threads   from 1 up
    raises    DataError if the texts in the folder are damaged

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> pair = findings.pairs
    >>> nd.findings.shared_words(findings, pair.left[:1], pair.right[:1]).tolist()
    [214]
    """
    compared = findings.config.shown
    found = np.full(len(parts), -1, np.int64)
    for start in range(0, len(parts), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        rows, number = np.unique(np.concatenate([parts[some], wholes[some]]), return_inverse=True)
        held = [findings.has_text(row) for row in rows.tolist()]
        texts = [findings.text(row) if has else "" for row, has in zip(rows.tolist(), held, strict=True)]
        tokens, offsets = token_rows(texts, compared.normalize, threads=threads)
        part, whole = np.split(number.astype(np.int64), 2)
        words = _core.shared_passages(tokens, offsets, part, whole, compared.width, False, threads)[0]
        known = np.array(held)
        found[some] = np.where(known[part] & known[whole], words, -1)
    return found
