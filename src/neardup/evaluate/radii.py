"""Precision and recall of codes by radius, from pairs that a person judges: equal numbers at every distance.

The protocol of Manku, Jain and Das Sarma (2007, section 4.1). Near pairs are rare and far ones many, so that pairs
drawn from all of them would nearly all be far. Equal numbers are drawn at each distance 0 to `widest` and judged; each
answer counts for as many pairs as its distance has for each judged one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.join import Join
from neardup.values.checks import check_fields, checked

__all__ = ["DistanceSample", "RadiusScore", "draw_by_distance", "score_radii"]

Rows = NDArray[np.int64]
_DRAWS = 20_000  # of the intervals


@dataclass(frozen=True)
class DistanceSample:
    """Pairs of rows drawn at each distance; `counts[d]` is how many pairs of all codes lie at distance d.

    Sorted by distance, and at one distance in the order of the draw: a larger sample of the same seed begins with it.

    left, right  the rows of each pair
    distance     differing bits of each pair

    >>> import neardup as nd
    >>> from neardup import sample
    >>> texts = [document.text for document in nd.read(sample.path()).documents()]
    >>> codes = nd.fingerprint(texts, nd.Words(weights="count"), nd.Simhash())
    >>> drawn = nd.evaluate.draw_by_distance(codes, widest=3, each=5)
    >>> len(drawn.left), len(drawn.counts)
    (20, 4)
    """

    left: Rows
    right: Rows
    distance: Rows
    counts: Rows

    def __post_init__(self) -> None:
        check_fields(self)

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True)
class RadiusScore:
    """What pairs within a radius are: `pairs` of them, of which the share `precision` are duplicates, and of all
    duplicates within the widest distance the share `recall`. Each share is (value, low, high), a 95% interval; None
    if a distance that it needs has no answer. `judged`, `right` and `unsure` are answers at this very distance.

    >>> import neardup as nd
    >>> from neardup import sample
    >>> texts = [document.text for document in nd.read(sample.path()).documents()]
    >>> codes = nd.fingerprint(texts, nd.Words(weights="count"), nd.Simhash())
    >>> drawn = nd.evaluate.draw_by_distance(codes, widest=3, each=5)
    >>> scores = nd.evaluate.score_radii(drawn, [1.0] * len(drawn.left))
    >>> [(score.radius, score.judged, score.right) for score in scores]
    [(0, 5, 5), (1, 5, 5), (2, 5, 5), (3, 5, 5)]
    """

    radius: int
    pairs: int
    judged: int
    right: int
    unsure: int
    precision: tuple[float, float, float] | None
    recall: tuple[float, float, float] | None

    def __post_init__(self) -> None:
        check_fields(self)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


@checked
def draw_by_distance(
    codes: Codes, *, widest: int = 10, each: int = 20, seed: int = 1, threads: int = 1
) -> DistanceSample:
    """At most `each` random pairs at every distance 0 to `widest`, and how many pairs there are.

    All pairs are found by an exact join and counted, those of equal codes too; only the drawn ones are held.

    codes    the codes to compare
    widest   the largest distance, from 0 up
    each     1 or more
    seed     the same seed draws the same pairs
    threads  from 1 up
    raises   ConfigError if `each` is below 1

    >>> import neardup as nd
    >>> from neardup import sample
    >>> texts = [document.text for document in nd.read(sample.path()).documents()]
    >>> codes = nd.fingerprint(texts, nd.Words(weights="count"), nd.Simhash())
    >>> drawn = nd.evaluate.draw_by_distance(codes, widest=3, each=5)
    >>> np.bincount(drawn.distance).tolist()
    [5, 5, 5, 5]
    """
    if each < 1:
        raise ConfigError(f"draw one pair or more at each distance, not {each}")
    random = np.random.default_rng(seed)
    counts = np.zeros(widest + 1, np.int64)
    kept = np.zeros((4, 0))  # distance, key, left, right; the smallest keys of each distance are the sample
    for left, right, distance in Join(widest).within(codes, threads=threads).expand():
        counts += np.bincount(distance, minlength=widest + 1)
        kept = np.concatenate([kept, np.stack([distance, random.random(len(left)), left, right])], axis=1)
        kept = kept[:, np.lexsort((kept[1], kept[0]))]
        begins = np.searchsorted(kept[0], np.arange(widest + 1))
        kept = kept[:, np.arange(kept.shape[1]) - begins[kept[0].astype(np.int64)] < each]
    distance, left, right = (kept[row].astype(np.int64) for row in (0, 2, 3))
    return DistanceSample(left, right, distance, counts)


@checked
def score_radii(
    sample: DistanceSample, answers: Mapping[tuple[int, int], float] | Iterable[float]
) -> list[RadiusScore]:
    """Precision and recall at every radius. `answers` are 1 (duplicates), 0 or NaN (cannot say): one for each pair of
    the sample, -1 where there is none, or those that there are by their rows.

    Pairs of one cluster are often right or wrong together: connected pairs of a distance count as one case. The share
    of a distance is a draw from Jeffreys' posterior, and exact if all its pairs are judged; distances are weighed by
    how many pairs they have. An interval is the middle 95% of 20,000 such draws.

    sample   what `draw_by_distance` returned
    raises   ConfigError if there are more or fewer answers than pairs

    >>> import numpy as np
    >>> import neardup as nd
    >>> rows = np.arange(6)  # two pairs at distance 0, which are all there are, and one of 8 at distance 1
    >>> drawn = nd.evaluate.DistanceSample(rows[::2], rows[1::2], np.array([0, 0, 1]), np.array([2, 8]))
    >>> nd.evaluate.score_radii(drawn, [1, 1, 0])[0].precision
    (1.0, 1.0, 1.0)
    """
    if isinstance(answers, Mapping):
        ends = zip(sample.left.tolist(), sample.right.tolist(), strict=True)
        given = np.array([answers.get((a, b), answers.get((b, a), -1.0)) for a, b in ends])
    else:
        given = np.fromiter(answers, np.float64)
        if len(given) != len(sample):
            raise ConfigError(f"{len(sample)} pairs were drawn, and {len(given)} answers are given")
    widest = len(sample.counts) - 1
    judged = [np.flatnonzero((sample.distance == d) & (given >= 0)) for d in range(widest + 1)]
    unsure = [int(np.isnan(given[sample.distance == d]).sum()) for d in range(widest + 1)]
    right = [int(given[rows].sum()) for rows in judged]
    random = np.random.default_rng(0)
    shares = np.full((widest + 1, _DRAWS + 1), np.nan)  # the estimate first, then draws around it
    for d, rows in enumerate(judged):
        if sample.counts[d] == 0:
            shares[d] = 0
        elif len(rows):
            shares[d] = right[d] / len(rows)
            if len(rows) < sample.counts[d]:
                cases = _connected(sample.left[rows], sample.right[rows]) / len(rows)
                yes, no = right[d] * cases, (len(rows) - right[d]) * cases
                shares[d, 1:] = random.beta(yes + 0.5, no + 0.5, _DRAWS)
    within = np.cumsum(shares * sample.counts[:, None], axis=0)
    pairs = np.cumsum(sample.counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = within / pairs[:, None], within / within[-1]
    return [
        RadiusScore(
            d,
            int(pairs[d]),
            len(judged[d]),
            right[d],
            unsure[d],
            _interval(precision[d]),
            _interval(recall[d]),
        )
        for d in range(widest + 1)
    ]


def _connected(left: Rows, right: Rows) -> int:
    """How many groups some pairs form, where pairs that share a row are together."""
    rows, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    one, other = np.split(place.astype(np.int64), 2)
    return len(np.unique(_core.labels_of_pairs(len(rows), one, other)))


def _interval(values: NDArray[np.float64]) -> tuple[float, float, float] | None:
    """The first value with the middle 95% of the others."""
    if np.isnan(values).any():
        return None
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return float(values[0]), float(min(low, values[0])), float(max(high, values[0]))
