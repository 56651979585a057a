"""Which URLs have the same content: one label for each URL, from pairs, from digests, or from both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import DataError
from neardup.web.urls.canonical import DEFAULT, canonical_urls
from neardup.web.urls.rules import UrlRules

__all__ = ["Contents"]


@dataclass(frozen=True)
class Contents:
    """Distinct canonical URLs, in the order of first occurrence, with labels (int64): equal labels mean the same
    content.

    `known[i]` says whether URL i occurred in a pair or had a digest; the others were only listed. `mixed` counts URLs
    with two different digests; such a URL is joined to neither, so nothing is learnt from it.
    """

    urls: list[str]
    labels: NDArray[np.int64]
    known: NDArray[np.bool_]
    mixed: int
    pairs: NDArray[np.int64]  # the given pairs, as rows of `urls`, left < right, each once

    def __len__(self) -> int:
        return len(self.urls)

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[str, str]] = (),
        digests: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        urls: Iterable[str] = (),
        rules: UrlRules = DEFAULT,
    ) -> Contents:
        """Labels are the connected components of pairs and equal digests. Linear in the size of the input."""
        rows: dict[str, int] = {}
        ties = _pair_rows(pairs, rows, rules)
        paired = len(rows)
        listed = list(digests.items() if isinstance(digests, Mapping) else digests)
        mixed: set[int] = set()
        digest_of: dict[int, str] = {}
        for url, (_, digest) in zip(canonical_urls((url for url, _ in listed), rules), listed, strict=True):
            row = rows.setdefault(url, len(rows))
            if digest_of.setdefault(row, digest) != digest:
                mixed.add(row)
        known = len(rows)
        for url in canonical_urls(urls, rules):
            rows.setdefault(url, len(rows))
        first: dict[str, int] = {}
        same = []
        for row, digest in digest_of.items():
            if row not in mixed:
                same.append((first.setdefault(digest, row), row))
        joined = np.array(same, dtype=np.int64).reshape(-1, 2)
        every = np.concatenate([ties, joined])
        left, right = np.ascontiguousarray(every[:, 0]), np.ascontiguousarray(every[:, 1])
        labels = _core.labels_of_pairs(len(rows), left, right)
        is_known = np.zeros(len(rows), dtype=bool)
        is_known[:known] = True
        is_known[[row for row in sorted(mixed) if row >= paired]] = False
        return cls(list(rows), labels, is_known, len(mixed), ties)


def _pair_rows(pairs: Iterable[tuple[str, str]], rows: dict[str, int], rules: UrlRules) -> NDArray[np.int64]:
    lefts, rights = [], []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise DataError(f"a pair has two URLs, not {pair!r}")
        lefts.append(pair[0])
        rights.append(pair[1])
    ties = []
    for a, b in zip(canonical_urls(lefts, rules), canonical_urls(rights, rules), strict=True):
        left, right = rows.setdefault(a, len(rows)), rows.setdefault(b, len(rows))
        if left != right:
            ties.append((min(left, right), max(left, right)))
    found = np.array(ties, dtype=np.int64).reshape(-1, 2)
    return np.unique(found, axis=0) if len(found) else found
