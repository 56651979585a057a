"""What a run on Spark found, for people and programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from neardup.config.config import Config

__all__ = ["Summary"]


@dataclass(frozen=True)
class Summary:
    """Counts of a run. `gone` are documents that can go as duplicates: `exact` of them have the same words as another,
    `near` are near-duplicates. `capped` buckets of alike documents were too large to pair whole and `skipped` pairs not
    looked at there (an upper bound); `implied` pairs are between documents of equal fingerprints. The `reference`
    documents that these were compared against are not among them."""

    documents: int
    kept: int
    gone: int
    exact: int
    near: int
    clusters: int
    largest: int
    pairs: int
    candidates: int
    empty: int
    filtered: int
    rejected: dict[str, int]
    capped: int
    skipped: int
    implied: int
    threshold: float
    measure: str
    reference: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        config: Config,
        read: dict[str, Any],
        candidates: dict[str, Any],
        short: dict[str, Any],
        verified: list[dict[str, Any]],
        clusters: dict[str, Any],
        seconds: dict[str, float],
    ) -> Summary:
        gone, exact = clusters["gone"], clusters["exact"]
        theirs = read["reference"]
        own = {name: read[name] - theirs[name] for name in theirs}
        return cls(
            documents=own["documents"],
            kept=own["documents"] - gone - own["filtered"],
            gone=gone,
            exact=exact,
            near=gone - exact,
            clusters=clusters["clusters"],
            largest=clusters["largest"],
            pairs=clusters["pairs"],
            candidates=sum(stage["candidates"] for stage in verified),
            empty=own["empty"],
            filtered=own["filtered"],
            rejected=read["rejected"],
            capped=candidates.get("capped", 0) + short.get("capped", 0),
            skipped=candidates.get("skipped", 0) + short.get("skipped", 0),
            implied=candidates.get("implied", 0),
            threshold=config.verify.threshold,
            measure=config.verify.name,
            reference=theirs["documents"],
            seconds={name: round(value, 3) for name, value in seconds.items()},
        )

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    def __str__(self) -> str:
        share = self.gone / self.documents if self.documents else 0.0
        largest = f", the largest of {self.largest:,}" if self.largest else ""
        lines = [
            f"{self.documents:,} documents: {self.kept:,} stay, {self.gone:,} can go ({share:.1%})",
            f"  {self.exact:,} have the same words as another, {self.near:,} are near-duplicates "
            f"({self.measure} >= {self.threshold:g})",
            f"  {self.clusters:,} clusters{largest}; {self.pairs:,} pairs verified of {self.candidates:,} candidates",
        ]
        if self.reference:
            lines.append(f"  compared against {self.reference:,} reference documents, which stay as they are")
        if self.filtered:
            lines.append(f"  {self.filtered:,} did not pass the filters and are left out")
        if self.rejected:
            told = ", ".join(f"{reason} {count:,}" for reason, count in self.rejected.items())
            lines.append(f"  {sum(self.rejected.values()):,} could not be read: {told}")
        if self.empty:
            lines.append(f"  {self.empty:,} have no words and are left alone")
        if self.capped:
            lines.append(
                f"  {self.capped:,} buckets of alike documents were too large to compare pair by pair"
            )
        return "\n".join(lines)
