"""Curves: what a setting does to pairs of each similarity, as columns of numbers. `plot` draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup.compare import similarity as measure
from neardup.compare.similarity import hamming
from neardup.errors import ConfigError, DataError
from neardup.evaluate.edits import edited, expected_jaccard, expected_of_jaccard
from neardup.evaluate.sample import draw_pairs
from neardup.evaluate.settings import shares_band
from neardup.features import Idf, Shingles, Words
from neardup.features.shingles import TextFeatures
from neardup.features.texts import Texts, raw_texts
from neardup.fingerprints import MinHash, Simhash
from neardup.fingerprints.one_pass import fingerprint
from neardup.search.lsh import LSH
from neardup.values.checks import check_fields, checked
from neardup.values.intervals import wilson
from neardup.values.plain import finite

__all__ = ["Curve", "Line", "curve_bands", "curve_edits", "curve_radius", "curve_sketch"]

Floats = NDArray[np.float64]
EVEN = tuple(round(step / 20, 2) for step in range(21))
COSINES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0)
RATES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
MOST_EDITED = 500
HALF_BIN = 0.01
FINE = 201


@dataclass(frozen=True)
class Line:
    """One column of a curve. A measured column has its 95% interval and the number of cases behind each point. `fine`
    is the same over the curve's `fine_x`, for drawing.

    name       for the legend
    y          its values
    low, high  the ends of the interval

    >>> import neardup as nd
    >>> nd.evaluate.curve_bands(nd.LSH(bands=20, rows=5), at=[0.8]).lines[0].name
    '20 x 5'
    """

    name: str
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    cases: NDArray[np.int64] | None = None
    fine: Floats | None = None

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Curve:
    """Probabilities, one line each, over one column of x.

    title      of the figure
    x_name, x  the name of the horizontal axis, and its values
    lines      the columns over `x`
    notes      remarks, a sentence each
    fine_x     more values of x, for drawing

    >>> import neardup as nd
    >>> curve = nd.evaluate.curve_bands(nd.LSH(bands=20, rows=5), at=[0.2, 0.8])
    >>> curve.x.tolist(), curve.lines[0].y.round(3).tolist()
    ([0.2, 0.8], [0.006, 1.0])
    """

    title: str
    x_name: str
    x: Floats
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    fine_x: Floats | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def to_json(self) -> dict[str, Any]:
        """Columns by name; NaN becomes null."""
        lines = []
        for line in self.lines:
            said: dict[str, Any] = {"name": line.name, "y": finite(line.y)}
            if line.low is not None and line.high is not None and line.cases is not None:
                said |= {"low": finite(line.low), "high": finite(line.high), "cases": line.cases.tolist()}
            lines.append(said)
        return {
            "title": self.title,
            "x_name": self.x_name,
            "x": finite(self.x),
            "lines": lines,
            "notes": list(self.notes),
        }


@checked
def curve_sketch(values: int = 100, needed: int = 90, *, at: ArrayLike | None = None) -> Curve:
    """The probability p(r) that documents of resemblance r agree in at least `needed` of `values` sketch values.

    The exact binomial tail, accurate even for values such as 1e-17.

    at      similarities from 0 to 1
    raises  ConfigError unless `values` is 1 or more and `needed` from 0 to `values`

    >>> import neardup as nd
    >>> nd.evaluate.curve_sketch(100, 90, at=[0.8, 0.95]).lines[0].y.round(4).tolist()
    [0.0057, 0.9885]
    """
    x = _similarities(EVEN if at is None else at)
    fine = _fine(x)
    y, smooth = (measure.sketch_curve(points, values, needed) for points in (x, fine))
    title = f"At least {needed} of {values} sketch values agree"
    return Curve(title, "Jaccard", x, (Line("p(r)", y, fine=smooth),), fine_x=fine)


@checked
def curve_bands(*bands: LSH, at: ArrayLike | None = None) -> Curve:
    """The S-curve of bands and rows: the probability that a pair of each similarity becomes a candidate.

    bands   one or more designs, such as `LSH(20, 6)`
    at      similarities from 0 to 1; by default 101 of them
    raises  ConfigError without a design, DataError for other similarities

    >>> import neardup as nd
    >>> nd.evaluate.curve_bands(nd.LSH(bands=20, rows=5), at=[0.5]).lines[0].y.round(3).tolist()
    [0.47]
    """
    if not bands:
        raise ConfigError("name bands and rows, for example LSH(20, 6)")
    x = _similarities(EVEN if at is None else at)
    fine = _fine(x)
    lines = tuple(Line(f"{lsh.bands} x {lsh.rows}", lsh.curve(x), fine=lsh.curve(fine)) for lsh in bands)
    return Curve("A pair shares at least one band", "Jaccard", x, lines, fine_x=fine)


@checked
def curve_radius(
    *radii: int,
    bits: int = 64,
    at: ArrayLike | None = None,
    corpus: Texts | None = None,
    features: TextFeatures | None = None,
    queries: int = 1000,
    seed: int = 0,
    threads: int = 1,
) -> Curve:
    """P(H <= radius) by cosine, from a model and as measured on the pairs of a corpus, in bins around each x.

    In the binomial model each bit differs with probability angle / pi.

    `features` are those that simhash is made of, by default TF-IDF words fitted on the corpus.

    radii    from 0 to `bits`
    bits     32, 64 or 128
    at       cosines from -1 to 1
    queries  how many documents of the corpus are compared with all others
    seed     the same seed draws the same documents
    threads  from 1 up
    raises   ConfigError for a radius, DataError for a cosine that is out of bounds

    >>> import neardup as nd
    >>> nd.evaluate.curve_radius(3, at=[0.9, 0.99]).lines[0].y.round(3).tolist()
    [0.013, 0.674]
    """
    if not radii:
        raise ConfigError("name a radius")
    x = np.asarray(COSINES if at is None else at, np.float64)
    if x.ndim != 1 or not len(x) or not np.all((x >= -1) & (x <= 1)):
        raise DataError("cosines are a column of numbers from -1 to 1")
    x = np.unique(x)
    fine = _fine(x)
    model = [
        Line(
            f"H <= {radius}, model",
            measure.within_radius(x, radius, bits),
            fine=measure.within_radius(fine, radius, bits),
        )
        for radius in radii
    ]
    title = f"Simhash codes of {bits} bits lie within a radius"
    if corpus is None:
        return Curve(title, "cosine", x, tuple(model), fine_x=fine)
    texts = raw_texts(corpus)
    how = features if features is not None else Words(weights=Idf.fit(texts, threads=threads))
    drawn = draw_pairs(texts, how, queries=queries, seed=seed, threads=threads)
    codes = fingerprint(texts, how, Simhash(bits, margins="none"), threads=threads)
    near = hamming(codes, drawn.left, drawn.right, threads=threads)
    place = _bins(x, drawn.similarity)
    lines: list[Line] = []
    for line, radius in zip(model, radii, strict=True):
        lines += [line, _measured(f"H <= {radius}, measured", near <= radius, place, drawn.weight, len(x))]
    note = f"measured on {len(drawn):,} pairs of {len(texts):,} documents, in bins around each cosine"
    return Curve(title, "cosine", x, tuple(lines), (note,), fine)


@checked
def curve_edits(
    corpus: Texts,
    *,
    rates: Sequence[float] = RATES,
    bands: Sequence[LSH] = (),
    radii: Sequence[int] = (3,),
    bits: int = 64,
    words: int | None = None,
    width: int = 5,
    features: TextFeatures | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Curve:
    """The recall to expect when a share of the words of a document is replaced.

    For bands of MinHash values the recall comes from the model of `edits`, for documents of `words` words (by default
    the median of the corpus). For bands and for simhash it is also measured on edited copies of at most 500 documents.

    rates        shares of the words, from 0 to 1
    radii, bits  of simhash
    width        of the shingles, in words
    features     what simhash is made of; by default TF-IDF words
    seed         the same seed makes the same edits
    threads      from 1 up
    raises       ConfigError for a rate, radius or width that is out of bounds

    >>> import neardup as nd
    >>> texts = ["one two three four five six seven eight nine ten"] * 3
    >>> curve = nd.evaluate.curve_edits(texts, rates=[0.0], radii=[3])
    >>> [line.name for line in curve.lines]
    ['expected Jaccard', 'bands 20 x 6, model', 'bands 20 x 6, measured', 'simhash H <= 3, measured']
    """
    texts = [text if isinstance(text, str) else text.decode("utf-8", "replace") for text in raw_texts(corpus)]
    x = np.unique(np.asarray(rates, np.float64))
    how = features if features is not None else Words(weights=Idf.fit(texts, threads=threads))
    shingles = Shingles(width)
    sizes = shingles.extract(texts, threads=threads).sizes
    usable = np.flatnonzero(sizes > 0)
    if not len(usable):
        raise DataError("there are no words to edit")
    picked = usable if len(usable) <= MOST_EDITED else usable[:: -(-len(usable) // MOST_EDITED)]
    chosen = [texts[row] for row in picked]
    length = words if words is not None else int(np.median(sizes[usable])) + width - 1
    bands = tuple(bands) or (LSH.for_threshold(0.8),)
    found: dict[str, list[float]] = {}
    rows = np.arange(len(chosen))
    for rate in x.tolist():
        copies = edited(chosen, rate, seed)
        for lsh in bands:
            both = fingerprint(chosen + copies, shingles, MinHash(lsh.values), threads=threads)
            agree = shares_band(both.values, rows, rows + len(chosen), lsh)
            found.setdefault(f"bands {lsh.bands} x {lsh.rows}", []).append(float(agree.mean()))
        codes = fingerprint(chosen + copies, how, Simhash(bits, margins="none"), threads=threads)
        near = hamming(codes, rows, rows + len(chosen), threads=threads)
        for radius in radii:
            found.setdefault(f"simhash H <= {radius}", []).append(float((near <= radius).mean()))
    fine = _fine(x, 61)
    models: dict[str, Callable[[float], float]] = {
        "expected Jaccard": partial(expected_jaccard, words=length, width=width)
    }
    for lsh in bands:
        name = f"bands {lsh.bands} x {lsh.rows}, model"
        models[name] = partial(expected_of_jaccard, lsh.curve, words=length, width=width)
    lines = [_modelled(name, model, x, fine) for name, model in models.items()]
    for name, shares in found.items():
        ends = np.array([wilson(value, len(chosen)) for value in shares])
        cases = np.full(len(x), len(chosen), np.int64)
        lines.append(Line(f"{name}, measured", np.array(shares), ends[:, 0], ends[:, 1], cases))
    note = (
        f"model: {length:,} words, shingles of {width}; measured: edited copies of {len(chosen):,} documents"
    )
    return Curve("A document finds its edited copy", "words changed", x, tuple(lines), (note,), fine)


def _modelled(name: str, model: Callable[[float], float], x: Floats, fine: Floats) -> Line:
    y, smooth = (np.array([model(point) for point in points.tolist()]) for points in (x, fine))
    return Line(name, y, fine=smooth)


def _fine(x: Floats, many: int = FINE) -> Floats:
    return np.linspace(x.min(), x.max(), many)


def _bins(x: Floats, similarity: Floats) -> NDArray[np.int64]:
    """The x that each similarity is close to, within 0.01 and a quarter of the distance to the next one; otherwise
    -1."""
    gap = np.diff(x)
    reach = np.minimum(np.append(gap, np.inf), np.insert(gap, 0, np.inf)) / 4
    reach = np.minimum(reach, HALF_BIN)
    after = np.minimum(np.searchsorted(x, similarity), len(x) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(x[after] - similarity) <= np.abs(similarity - x[before]), after, before)
    return np.asarray(np.where(np.abs(x[nearest] - similarity) <= reach[nearest], nearest, -1))


def _measured(name: str, hit: NDArray[np.bool_], place: NDArray[np.int64], weight: Floats, bins: int) -> Line:
    hit, weight, place = hit[place >= 0], weight[place >= 0], place[place >= 0]
    cases = np.bincount(place, minlength=bins)
    all_weight = np.bincount(place, weight, bins)
    squares = np.bincount(place, weight * weight, bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        y = np.bincount(place, weight * hit, bins) / all_weight
        effective = all_weight**2 / squares
    ends = np.array(
        [wilson(v, n) if n > 0 else (math.nan, math.nan) for v, n in zip(y, effective, strict=True)]
    )
    return Line(name, y, ends[:, 0], ends[:, 1], cases.astype(np.int64))


def _similarities(at: ArrayLike) -> Floats:
    x = np.asarray(at, np.float64)
    if x.ndim != 1 or not len(x) or not np.all((x >= 0) & (x <= 1)):
        raise DataError("similarities are a column of numbers from 0 to 1")
    return x
