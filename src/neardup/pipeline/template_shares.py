"""How much of what two similar documents share is template: features that recur in many documents of their source.

What recurs is learnt by the scan from a sample of each source, at little cost. The shares are computed when they are
asked for: they say what a person should look at, and decide nothing. The features are those that were compared, so it
works for every script that they work for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare.changes import in_parts
from neardup.config.config import Templates
from neardup.features.features import Features
from neardup.features.shingles import TextFeatures
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.fit import common_features, rows_by_source
from neardup.values.seeds import DEFAULT_SEED

__all__ = ["Recurring", "learn_template", "template_features", "template_samples", "template_shares"]

Rows = NDArray[np.int64]
Recurring = Mapping[int, NDArray[np.uint64]]
"""The features that recur in each source, ascending."""
SAMPLE, SAMPLES = 500, 20_000  # documents of one source, and of all of them together


def template_features(compared: TextFeatures) -> TextFeatures:
    """What is compared, with nothing left out, and with a seed that is always the same: findings are read later."""
    return replace(compared.unweighted(), common=None, seed=DEFAULT_SEED)


def learn_template(corpus: Corpus, features: TextFeatures, threads: int = 1) -> Recurring:
    """What recurs in each source with 100 documents or more, by a sample of it."""
    templates = _sampling(corpus)
    return {
        source: np.sort(common_features(corpus, rows, features, templates, threads).frequencies.hashes)
        for source, rows in rows_by_source(corpus, templates)
    }


def template_samples(corpus: Corpus) -> list[tuple[int, Rows]]:
    """The sources that are learnt, and the rows of each from which they are."""
    return rows_by_source(corpus, _sampling(corpus))


def _sampling(corpus: Corpus) -> Templates:
    usual = Templates()
    many = max(1, int((np.bincount(corpus.sources, minlength=1) >= usual.least).sum()))
    return replace(usual, sample=max(usual.least, min(SAMPLE, SAMPLES // many)))


def template_shares(
    left: Rows,
    right: Rows,
    sources: NDArray[np.int32],
    recurring: Recurring,
    sizes: Rows,
    extract: Callable[[Rows], Features],
    *,
    most: int = 32 << 20,
    threads: int = 1,
) -> NDArray[np.float64]:
    """For each pair of rows the share of template in what it has in common; NaN where nothing is known of a source.
    `sizes` are those of the texts; `extract` makes the features of some ascending rows, for about `most` bytes at a
    time."""
    found = np.full(len(left), np.nan)
    known = np.isin(sources, list(recurring))
    wanted = np.flatnonzero(known[left] & known[right])
    for some in in_parts(left[wanted], right[wanted], sizes, most):
        ours, theirs = left[wanted[some]], right[wanted[some]]
        rows = np.unique(np.concatenate([ours, theirs]))
        made = extract(rows)
        own = _without(made, sources[rows], recurring)
        places = np.searchsorted(rows, ours), np.searchsorted(rows, theirs)
        shared, rest = (
            _core.shared_features(f.hashes, f.offsets, f.hashes, f.offsets, *places, threads)
            for f in (made, own)
        )
        share = np.divide(shared - rest, shared, out=np.full(len(ours), np.nan), where=shared > 0)
        found[wanted[some]] = share
    return found


def _without(
    features: Features, sources: NDArray[np.int32], common: Mapping[int, NDArray[np.uint64]]
) -> Features:
    """The features of each row that do not recur in its source."""
    of = np.repeat(sources, features.sizes)
    kept = np.ones(len(features.hashes), np.bool_)
    for source in np.unique(sources).tolist():
        recurring = common[source]
        if not len(recurring):
            continue
        here = np.flatnonzero(of == source)
        place = np.minimum(np.searchsorted(recurring, features.hashes[here]), len(recurring) - 1)
        kept[here] = recurring[place] != features.hashes[here]
    ends = np.concatenate([[0], np.cumsum(kept)])[features.offsets]
    return Features(features.hashes[kept], features.weights[kept], ends.astype(np.int64), features.scheme)
