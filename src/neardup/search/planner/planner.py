"""plan(): all ways to search a number of codes, with predicted memory, build time and speed, best first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, floor, log10

from neardup.errors import ConfigError
from neardup.search.chance import SAFE, chance_hits, safe_radius
from neardup.search.planner.machine import REFERENCE, Machine
from neardup.search.planner.measure import measure as measured_machine
from neardup.search.planner.options import Option, PlanTask, options
from neardup.values.checks import check_fields, checked
from neardup.values.sizes import parse_size

__all__ = ["Plan", "plan"]

PER_METHOD = 4  # options of one method that a plan shows
MOST_DOCUMENTS = 10**15


@dataclass(frozen=True)
class Plan:
    """Options for one task, best first: by queries a second for each shard or, when the number of queries is
    known, by the time building and asking take on all shards. `chance` is how many codes are within the radius of a
    query by chance alone, and `safe_radius` the widest radius with at most 1 of them.

    documents, bits, radius  the task: stored codes, their bits, the largest distance
    memory_bytes             the limit for each shard, or None
    queries                  the number of queries, or None
    measured                 whether speeds were measured on this machine
    options                  the designs, best first

    >>> import neardup as nd
    >>> plan = nd.plan(1_000_000, radius=3, memory="1GB", measure=False)
    >>> plan.documents, plan.radius, plan.safe_radius
    (1000000, 3, 13)
    """

    documents: int
    bits: int
    radius: int
    memory_bytes: int | None
    queries: int | None
    measured: bool
    options: tuple[Option, ...]
    chance: float = 0.0
    safe_radius: int = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def best(self) -> Option:
        """The option to take."""
        return self.options[0]

    @property
    def why(self) -> str:
        """Why the best option is the best, in one sentence."""
        best = self.best
        head = f"{best.design}: {best.why}"
        smaller = [
            o
            for o in self.options[1:]
            if _total_bytes(o) < 0.9 * _total_bytes(best) and not o.batch and o.method != "scan"
        ]
        if not smaller or best.batch:
            return head + "."
        other = smaller[0]
        less = _total_bytes(best) / _total_bytes(other)
        slower = best.queries_per_second / best.shards / (other.queries_per_second / other.shards)
        return f"{head}; {other.design} needs {less:.1f} times less memory and is {slower:.1f} times slower."

    @property
    def chance_text(self) -> str:
        """The chance hits in one sentence."""
        hits = f"{self.chance:,.1f}" if self.chance >= 0.1 else f"{self.chance:.1g}"
        safe = f"radius {self.safe_radius} is the widest" if self.safe_radius >= 0 else "no radius is left"
        return f"Chance alone puts {hits} codes within radius {self.radius} of a query; {safe} with at most 1 of them."

    @property
    def title(self) -> str:
        """What was asked, in one line."""
        limit = f", {_bytes_text(self.memory_bytes)} a shard" if self.memory_bytes else ""
        source = "measured on this machine" if self.measured else "for a typical machine"
        codes = f"{_count_text(self.documents)} codes of {self.bits} bits"
        return f"{codes}, radius {self.radius}{limit} ({source})"

    def to_json(self) -> str:
        """The plan as JSON: the task, and the options best first."""
        return json.dumps({**asdict(self), "why": self.why}, indent=2)

    def rows(self) -> Sequence[tuple[str, ...]]:
        """The table that people read: a heading, then one row for each option."""
        head = ("design", "tables", "t", "k", "shards", "memory", "build", "all/s", "first/s", "recall")
        return [head] + [
            (
                o.design,
                str(o.tables) if o.tables else "-",
                str(o.header_bits) if o.header_bits else "-",
                str(o.flip_sets) if o.flip_sets else "-",
                str(o.shards),
                _bytes_text(o.memory_bytes),
                _seconds_text(o.build_seconds),
                _count_text(o.queries_per_second),
                _count_text(o.first_per_second),
                "exact" if o.exact else f"{o.recall:g}",
            )
            for o in self.options
        ]

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            row[0].ljust(widths[0])
            + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]
        return "\n".join([self.title, "", *lines, "", self.why, self.chance_text])


@checked
def plan(
    documents: float,
    *,
    bits: int = 64,
    radius: int = 3,
    memory: str | float | None = None,
    recall: float = 0.95,
    queries: float | None = None,
    matched: float = 0.5,
    measure: bool = True,
    machine: Machine | None = None,
    chance: float = SAFE,
) -> Plan:
    """Recommend a search design: method, tables, header bits t, flip sets k and shards, with predicted costs.

    `memory` is what one machine or process may use ("64GB", "512MiB" or bytes); more shards are planned where
    that is too little. `recall` is the least that is good enough (1 leaves PSM out); `queries` is how many
    will be asked in all, if that is known, and `matched` the share of them with a neighbour. The costs of
    this machine are measured once in a few seconds and kept in memory; with `measure=False` those of a
    typical machine are taken at once, and `machine` gives others. `chance` is how many stored codes may be within the
    radius of a query by chance alone: a search that finds more is not recommended, it is an error.

    documents  how many codes are stored, 1 to 1e15
    returns    a Plan: the designs that fit, the best first
    raises     ConfigError for a setting that is out of bounds

    >>> import neardup as nd
    >>> nd.plan(1e6, radius=3, memory="1GB", measure=False).best.exact
    True
    """
    count = int(documents)
    if not 1 <= count <= MOST_DOCUMENTS:
        raise ConfigError(f"documents must be from 1 to {MOST_DOCUMENTS:.0e}, not {documents!r}")
    if bits not in (32, 64, 128):
        raise ConfigError(f"codes have 32, 64 or 128 bits, got {bits}")
    if not 0 <= radius <= bits // 4:
        raise ConfigError(f"plans are for radius 0 to {bits // 4} at {bits} bits, got {radius}")
    if not 0 < recall <= 1 or not 0 <= matched <= 1:
        raise ConfigError("recall and matched are shares, between 0 and 1")
    hits, safe = chance_hits(count, bits, radius), safe_radius(count, bits, chance)
    if hits > chance:
        wider = [b for b in (32, 64, 128) if b > bits and chance_hits(count, b, radius) <= chance]
        advice = [f"bits={wider[0]}"] if wider else []
        advice += [f"a radius of at most {safe}"] if safe >= 0 else []
        raise ConfigError(
            f"no design is useful here: of {_count_text(count)} codes of {bits} bits, chance alone puts {hits:,.0f} "
            f"within radius {radius} of every query; use {' or '.join(advice) or 'fewer codes'}, or accept them with "
            f"chance={ceil(hits)}"
        )
    limit = None if memory is None else parse_size(memory)
    asked = None if queries is None else max(1, int(queries))
    machine = machine or (measured_machine() if measure else REFERENCE)

    def machine_seconds(option: Option) -> float:
        if asked is None:
            return option.shards / option.queries_per_second
        return option.shards * (option.build_seconds + asked / option.queries_per_second)

    found = options(PlanTask(count, bits, radius, limit, recall, asked, matched), machine)
    found.sort(key=lambda option: (machine_seconds(option), option.memory_bytes))
    shown = tuple(_worth_showing(found))
    return Plan(count, bits, radius, limit, asked, machine.measured, shown, hits, safe_radius(count, bits))


def _worth_showing(ranked: list[Option]) -> Iterator[Option]:
    """Leave out an option when better ones of its method need no more memory, or are many."""
    kept: list[Option] = []
    for option in ranked:
        same = [k for k in kept if k.method == option.method]
        if len(same) < PER_METHOD and all(_total_bytes(k) > _total_bytes(option) for k in same):
            kept.append(option)
            yield option


def _total_bytes(option: Option) -> int:
    return option.memory_bytes * option.shards


def _bytes_text(count: float) -> str:
    return _in_units(count, (("B", 1), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)), " ")


def _count_text(count: float) -> str:
    return _in_units(count, (("", 1), ("K", 1e3), ("M", 1e6), ("B", 1e9)))


def _seconds_text(seconds: float) -> str:
    units = (("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0))
    return _in_units(seconds, units, " ") if seconds else "-"


def _in_units(value: float, units: Sequence[tuple[str, float]], space: str = "") -> str:
    """Three digits and the largest unit that is not larger than the value; never an exponent."""
    rounded = float(f"{value:.3g}")
    unit, size = max((u for u in units if rounded >= u[1]), key=lambda u: u[1], default=units[0])
    digits = float(f"{rounded / size:.3g}")
    places = max(0, 2 - floor(log10(digits))) if digits else 0
    text = f"{digits:,.{places}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + space + unit
