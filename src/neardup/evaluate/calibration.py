"""calibrate(): what each method and setting will do on a user's corpus, and which one to choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Literal

from neardup.errors import ConfigError
from neardup.evaluate.calibrator import Calibrator
from neardup.evaluate.labels import Label, read_labels
from neardup.evaluate.measurements import MeasuredCorpus, measure_corpus
from neardup.evaluate.outcomes import Borderline, CorpusCalibration, Outcome, RadiusRow
from neardup.evaluate.sample import draw_documents
from neardup.evaluate.settings import all_settings
from neardup.features import Shingles
from neardup.features.shingles import TextFeatures
from neardup.features.texts import Texts, raw_texts
from neardup.readers.document import Document
from neardup.values.checks import checked
from neardup.values.threads import check_threads

__all__ = [
    "Borderline",
    "Calibrator",
    "CorpusCalibration",
    "Outcome",
    "RadiusRow",
    "calibrate",
    "measure_documents",
]


@checked
def calibrate(
    documents: Texts,
    *,
    similarity: Literal["jaccard", "cosine"] = "jaccard",
    threshold: float | None = None,
    cosine: float = 0.9,
    width: int = 5,
    features: TextFeatures | None = None,
    recall: float = 0.99,
    keep: Literal["longest", "first", "last"] = "longest",
    limit: int = 100_000,
    labels: str | PathLike[str] | Iterable[Label] = (),
    queries: int = 5000,
    pairs: int = 100_000,
    borderline: int = 10,
    whole: Mapping[str, str] | None = None,
    seed: int = 0,
    threads: int = 1,
) -> CorpusCalibration:
    """Measure on this corpus what each method and setting finds, misses and removes; with labels, recommend one.

    A duplicate is a pair whose `similarity` (Jaccard of word shingles of `width`, or cosine of `features`) is at least
    `threshold`: 0.8, for cosine 0.9. With `labels`, a file or tuples (id, id, 0 or 1), the labels decide. `features`
    are those of simhash, by default TF-IDF words. At most `limit` documents are kept in memory, drawn at random.
    `queries` of them and about `pairs` of their pairs are compared exactly; in a small corpus all. The same seed draws
    the same documents. `whole` gives, by id, the texts of whole pages where `documents` are main content: then labels
    choose between the two as well.

    recall      what the search aims at, above 0 and below 1
    keep        which document of a cluster is kept, when removals are counted
    borderline  how many pairs near the threshold are listed
    threads     from 1 up
    raises      ConfigError for a setting that is out of bounds, DataError with fewer than two documents

    >>> import neardup as nd
    >>> from neardup import sample
    >>> measured = nd.evaluate.calibrate(nd.read(sample.path()).documents(), threshold=0.8)
    >>> measured.documents, measured.census, measured.recommended
    (287, True, None)
    """
    made = measure_documents(
        documents,
        similarity=similarity,
        threshold=threshold,
        cosine=cosine,
        width=width,
        features=features,
        recall=recall,
        keep=keep,
        limit=limit,
        queries=queries,
        pairs=pairs,
        whole=whole,
        seed=seed,
        threads=threads,
    )
    known = read_labels(labels) if isinstance(labels, str | PathLike) else labels
    return made.calibrated(known, borderline=borderline)


@checked
def measure_documents(
    documents: Texts,
    *,
    similarity: Literal["jaccard", "cosine"] = "jaccard",
    threshold: float | None = None,
    cosine: float = 0.9,
    width: int = 5,
    features: TextFeatures | None = None,
    recall: float = 0.99,
    keep: Literal["longest", "first", "last"] = "longest",
    limit: int = 100_000,
    queries: int = 5000,
    pairs: int = 100_000,
    whole: Mapping[str, str] | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Calibrator:
    """The part of `calibrate` that reads texts; the result can be judged with other labels later.

    documents, similarity, threshold, cosine, width, features  as for `calibrate`
    recall, keep, limit, queries, pairs, whole, seed, threads  as for `calibrate`
    raises  what `calibrate` raises

    >>> import neardup as nd
    >>> texts = ["one two three four five six", "One two three four five six!", "seven"]
    >>> calibrator = nd.evaluate.measure_documents(texts)
    >>> calibrator.threshold
    0.8
    """
    check_threads(threads)
    if similarity not in ("jaccard", "cosine"):
        raise ConfigError(f'a similarity is "jaccard" or "cosine", not {similarity!r}')
    least = threshold if threshold is not None else 0.8 if similarity == "jaccard" else 0.9
    if not 0.1 <= least <= 1 or not 0 < cosine <= 1:
        raise ConfigError(f"a threshold is 0.1 to 1 and a cosine above 0, not {least} and {cosine}")
    if queries < 2:
        raise ConfigError(f"draw at least two queries, not {queries}")
    if limit < 2:
        raise ConfigError(f"hold at least two documents, not {limit}")
    given, read = draw_documents(documents, limit, seed)
    notes = (
        (
            f"{limit:,} of {read:,} documents were drawn, and counts are of those; in all of them there are more "
            "duplicates for each document",
        )
        if read > limit
        else ()
    )
    ids = tuple(d.id if isinstance(d, Document) else str(row) for row, d in enumerate(given))
    texts = raw_texts(given)
    shingles = Shingles(width)
    settings = all_settings(similarity, least, recall)
    measured = measure_corpus(
        MeasuredCorpus.of(texts, shingles, keep),
        settings,
        shingles=shingles,
        features=features,
        similarity=similarity,
        queries=queries,
        pairs=pairs,
        seed=seed,
        threads=threads,
    )
    return Calibrator(
        ids, texts, settings, shingles, similarity, least, cosine, measured, notes, whole or {}, seed, threads
    )
