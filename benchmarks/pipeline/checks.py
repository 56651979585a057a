"""The aims of cases.toml, held against a result."""

from __future__ import annotations

from typing import Any

__all__ = ["judge"]

Json = dict[str, Any]


def judge(aims: Json, result: Json) -> list[Json]:
    """Every aim with whether it holds; one that could not be measured does not."""
    rows = {(row["corpus"], row["engine"]): row for row in result["rows"] if "seconds" in row}
    return [
        *(times(rows, rival, least) for rival, least in aims["times"].items()),
        *million(rows, aims),
        *growth(rows, aims["growth"]),
        *quality(rows, aims),
    ]


def verdict(says: str, value: float | None, holds: bool) -> Json:
    return {"says": says, "value": None if value is None else round(value, 4), "holds": holds}


def absent(what: str) -> Json:
    return verdict(f"{what}: not measured in this run", None, False)


def times(rows: dict[tuple[str, str], Json], rival: str, least: float) -> Json:
    ours, theirs = rows.get(("real", "ours")), rows.get(("real", rival))
    if ours is None or theirs is None:
        return absent(f"ours at least {least:g} times as fast as {rival}")
    ratio = ours["mb_per_second"] / theirs["mb_per_second"]
    part = f" on its first {theirs['bytes'] / 1e6:.0f} MB" if theirs["part"] else ""
    says = f"real corpus: ours {ratio:.1f} times as fast as {rival}{part}; at least {least:g}"
    return verdict(says, ratio, ratio >= least)


def million(rows: dict[tuple[str, str], Json], aims: Json) -> list[Json]:
    real, large = rows.get(("real", "ours")), rows.get(("1m", "ours"))
    if large is None:
        return [absent("time per MB at a million documents"), absent("memory at a million documents")]
    peak, most, times_ = large["peak_bytes"], aims["million_memory"], aims["million_over_real"]
    says = f"a million documents: {peak / 1e9:.2f} GB of memory at most; at most {most / 1e9:g} GB"
    memory = verdict(says, peak, peak <= most)
    if real is None:
        return [absent("time per MB at a million documents"), memory]
    ratio = real["mb_per_second"] / large["mb_per_second"]
    says = f"a million documents: {ratio:.2f} of the real corpus's time per MB; under {times_:g}"
    return [verdict(says, ratio, ratio < times_), memory]


def growth(rows: dict[tuple[str, str], Json], most: float) -> list[Json]:
    small, large = rows.get(("100k", "ours")), rows.get(("1m", "ours"))
    found = []
    for what, field in (("time", "seconds"), ("memory", "peak_bytes")):
        if small is None or large is None:
            found.append(absent(f"{what} per document from 100K to 1M"))
            continue
        ratio = (large[field] / large["documents"]) / (small[field] / small["documents"])
        says = f"{what} per document at 1M is {ratio:.2f} of that at 100K; at most {most:g}"
        found.append(verdict(says, ratio, ratio <= most))
    return found


def quality(rows: dict[tuple[str, str], Json], aims: Json) -> list[Json]:
    found = []
    for (corpus, engine), row in rows.items():
        if engine != "ours":
            continue
        score = row["score"]
        recall = score.get("reported_recall", score["recall"])
        precision = score.get("reported_precision", score["removal_precision"])
        if recall is not None:
            says = f"{corpus}: recall {recall:.4f} of {score['known_pairs']:,} known pairs; at least {aims['recall']:g}"
            found.append(verdict(says, recall, recall >= aims["recall"]))
        if precision is not None:
            says = f"{corpus}: precision {precision:.4f} of what is reported; at least {aims['precision']:g}"
            found.append(verdict(says, precision, precision >= aims["precision"]))
        keeper = score["removal_precision"]
        if keeper is not None:
            says = f"{corpus}: {keeper:.4f} of the removed documents are similar to their keeper; all of them"
            found.append(verdict(says, keeper, keeper >= 1))
    return found
