"""Which document of a cluster is kept: the policy, and the rank it gives every row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.values.checks import check_fields, checked_methods
from neardup.values.order import stable_order

__all__ = ["DATE_POLICIES", "FIELD_POLICIES", "Keep", "field_value", "host_of"]

By = Literal["longest", "first", "last", "score", "highest", "lowest", "newest", "oldest"]
DATE_POLICIES = ("newest", "oldest")
FIELD_POLICIES = ("score", "highest", "lowest", *DATE_POLICIES)
"""Policies that rank by a field of the documents."""
Among = Literal["all", "within", "across"]


@checked_methods
@dataclass(frozen=True)
class Keep:
    """The keep policy. Of equal documents, the first by sorted (path, row) is kept.

    `by`: the longest text, the first or the last document, or by the field that `score` names: the highest or the
    lowest, the newest or the oldest value ("score" is "highest", and a value that is no number is an error). Values are
    numbers and ISO dates, also as text; a date counts as seconds since 1970, in UTC if it names no zone. For the newest
    and the oldest a number may also be a year, a day such as 20240131, or a time in milliseconds, microseconds or
    nanoseconds since 1970. Documents without such a value come last.
    `prefer` lists sources, best first; a document of a listed source ranks before all others. A source is the file
    a document came from, or its field named by `source`, or with source="host:url" the host of the URL in its field
    `url`. `many` documents of a cluster are kept, including the keeper. Documents can be duplicates `among` all
    documents, only within one source, or only across different sources. With `by_language`, the policy holds for each
    language of a cluster by itself, so that one document (or `many`) of each is kept.

    >>> import neardup as nd
    >>> nd.dedup(["a b c d e", "A, b, c, d, e!"], keep=nd.Keep("last")).kept.tolist()
    [1]
    """

    by: By = "longest"
    score: str | None = None
    prefer: tuple[str, ...] = ()
    source: str | None = None
    many: int = 1
    among: Among = "all"
    by_language: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.by not in get_args(By):
            raise ConfigError(f"keep by {', '.join(get_args(By))}, not {self.by!r}")
        if self.among not in get_args(Among):
            raise ConfigError(f"among must be one of {', '.join(get_args(Among))}, not {self.among!r}")
        if (self.by in FIELD_POLICIES) != (self.score is not None):
            raise ConfigError(
                'to keep by a field, set by="newest" (oldest, highest, lowest) and name it, such as score="date"'
            )
        if isinstance(self.prefer, str):
            raise ConfigError(f"prefer is a list of sources; write prefer=[{self.prefer!r}]")
        if isinstance(self.many, bool) or not isinstance(self.many, int) or self.many < 1:
            raise ConfigError(
                f"many, the number of documents kept in a cluster, must be 1 or more, not {self.many!r}"
            )

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of documents that this policy reads; none if text and file are enough."""
        return tuple(dict.fromkeys(name for name in (self.field, self.score) if name))

    @property
    def field(self) -> str | None:
        """The field that gives the source of a document."""
        return self.source.removeprefix("host:") if self.source is not None else None

    @property
    def dates(self) -> bool:
        """Whether the field holds dates."""
        return self.by in DATE_POLICIES

    def value_of(self, meta: Mapping[str, Any]) -> float:
        """The value of its field that ranks a document with these fields; NaN if there is none."""
        if self.score is None:
            raise ConfigError("this Keep has no score, so no field ranks documents")
        value = field_value(meta.get(self.score))
        return _as_time(value) if self.dates else value

    def source_of(self, meta: Mapping[str, Any]) -> str:
        """The source of a document with these fields; empty if the field is missing."""
        if self.source is None or self.field is None:
            raise ConfigError("this Keep has no source, so no field names one")
        value = str(meta.get(self.field, ""))
        return host_of(value) if self.source.startswith("host:") else value

    def rank(
        self,
        lengths: NDArray[np.int64],
        sources: NDArray[np.int32] | None = None,
        names: Sequence[str] = (),
        scores: NDArray[np.float64] | None = None,
        reference: int = 0,
    ) -> NDArray[np.int64]:
        """The rank of each row, 0 the best. Rows are in sorted (path, row) order; `names[sources[i]]` is the source
        of row i; a missing score (NaN) ranks below all others. Rows below `reference` come before all others."""
        rows = np.arange(len(lengths), dtype=np.int64)
        by: NDArray[Any]
        if self.by == "longest":
            by = -lengths.astype(np.int64)
        elif self.by in FIELD_POLICIES:
            if scores is None or (len(scores) > reference and np.isnan(scores[reference:]).all()):
                raise DataError(f"no document has a number or an ISO date in its field {self.score!r}")
            # NaN is sorted last, after infinity.
            by = scores if self.by in ("lowest", "oldest") else np.negative(scores)
        else:
            by = rows if self.by == "first" else -rows
        whole = by.dtype.kind == "i"
        order = stable_order(np.asarray(by, np.int64)) if whole else np.argsort(by, kind="stable")
        if self.source is not None and list(names) == [""]:
            what = "the host of a URL in its" if self.source.startswith("host:") else "a"
            raise DataError(f"no document has {what} field {self.field!r}, which should name its source")
        if self.prefer:
            unknown = [name for name in self.prefer if name not in names]
            if unknown:
                known = ", ".join(name for name in names if name)
                raise ConfigError(f"no document has the source {unknown[0]!r}; the sources are: {known}")
            place = {name: i for i, name in enumerate(self.prefer)}
            preference = np.array([place.get(name, len(place)) for name in names], dtype=np.int64)
            assert sources is not None
            order = order[np.argsort(preference[sources[order]], kind="stable")]
        rank = np.empty(len(rows), dtype=np.int64)
        rank[order] = rows
        rank[reference:] += len(rank) if reference else 0
        return rank


def field_value(value: Any) -> float:
    """A number, or a date as seconds since 1970; NaN for anything else."""
    if isinstance(value, str):
        value = value.strip()
        try:
            return float(value)
        except ValueError:
            try:
                value = datetime.fromisoformat(value)
            except ValueError:
                return math.nan
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if value is None or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the largest float
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def _as_time(value: float) -> float:
    """A number as seconds since 1970. Beside those, people write years, days as eight figures, and finer units."""
    if value != value or not value.is_integer():
        return value
    if 1000 <= value <= 9999:
        return datetime(int(value), 1, 1, tzinfo=UTC).timestamp()
    if 1900_01_01 <= value <= 2199_12_31:
        try:
            return datetime.strptime(f"{int(value)}", "%Y%m%d").replace(tzinfo=UTC).timestamp()
        except ValueError:  # no day of the calendar
            return value
    for unit in (1e3, 1e6, 1e9):
        if unit * 1e8 <= abs(value) < unit * 1e11:  # seconds from 1973 to 5138
            return value / unit
    return value


def host_of(url: str) -> str:
    """The host of a URL in lower case, without `www.`; empty if it has none."""
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""
    return host.rstrip(".").removeprefix("www.")
