"""What a search of codes says about itself after a run: chance hits, and for one that may miss pairs its recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from neardup.search.chance import SAFE, chance_hits, safe_radius
from neardup.values.checks import check_fields, checked_methods
from neardup.values.wording import counted

__all__ = ["SearchReport", "report_lines"]


@checked_methods
@dataclass(frozen=True)
class SearchReport:
    """Describes one search: `codes` distinct codes of `bits` bits, compared within `radius`.

    `chance` is the number of codes that chance alone puts within the radius of each, and `safe_radius` the widest one
    with at most 1. A search that may miss pairs has more: `relative` is R', the share of the pairs within the radius
    that it finds, in a sample of `counted` pairs; `least` is its lower bound with 95% confidence, and `target` the
    recall that was asked for. `within` is R(h), the share of the verified pairs up to distance `widest` that are within
    the radius, of `verified` pairs. `exact` says why an exact method was used instead; then the recall is 1. If
    `similar`, the recall is that of pairs of similar documents: chance makes most of the others.

    method              the name of the search
    flips, header_bits  of PSM: sets of bits it flips, and the width of its header

    >>> import neardup as nd
    >>> report = nd.search.SearchReport.of("join", codes=1_000_000, bits=64, radius=3)
    >>> report.safe_radius, report.chance < 0.001
    (13, True)
    """

    method: str
    codes: int
    bits: int
    radius: int
    chance: float
    safe_radius: int
    flips: int = 0
    header_bits: int = 0
    target: float | None = None
    relative: float | None = None
    least: float | None = None
    counted: int = 0
    exact: str = ""
    within: float | None = None
    verified: int = 0
    widest: int = 0
    similar: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of(cls, method: str, codes: int, bits: int, radius: int, **others: Any) -> SearchReport:
        """The report of a search in so many codes, with the hits to expect by chance."""
        found = chance_hits(codes, bits, radius), safe_radius(codes, bits)
        return cls(method, codes, bits, radius, *found, **others)

    @property
    def total(self) -> float | None:
        """R(h) R': the share of all verified pairs that the search finds; None if it was not measured."""
        return None if self.relative is None or self.within is None else self.relative * self.within

    def to_plain(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self) | {"total": self.total}


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """The plain form of a report as sentences for people; none if there is nothing to say."""
    lines = []
    if report.get("exact"):
        lines.append(f"search: exact, instead of {report['method']}: {report['exact']}")
    elif report.get("least") is not None:
        lines.append(
            f"search: {report['method']}, {report['flips']:,} flips of a {report['header_bits']}-bit header; "
            f"recall {'of similar pairs ' if report.get('similar') else ''}within radius {report['radius']} "
            f"R' = {report['relative']:.1%}, {_certainty(report)}"
        )
    if report.get("within") is not None:
        radius = report["radius"]
        lines.append(
            f"  R({radius}) = {report['within']:.1%}: of {counted(report['verified'], 'verified pair')} up to distance "
            f"{report['widest']}, this share is within the radius; R({radius}) R' = {report['total']:.1%}"
        )
    if report.get("chance", 0.0) > SAFE:
        safe = report["safe_radius"]
        lines.append(
            f"warning: chance alone puts {report['chance']:,.1f} codes within radius {report['radius']} of each; "
            + (
                f"at most radius {safe} is safe here"
                if safe >= 0
                else "no radius is safe here, use more bits"
            )
        )
    return lines


def _certainty(report: Mapping[str, Any]) -> str:
    pairs = f"{counted(report['counted'], 'pair')}, target {report['target']:g}"
    if report["least"] == report["relative"]:
        return f"measured on all codes ({pairs})"
    return f"at least {report['least']:.1%} with 95% confidence ({pairs})"
