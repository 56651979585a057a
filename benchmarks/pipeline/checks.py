"""The aims of cases.toml held against a result, and a result held against the one before.

An aim that is missed is reported. Only what got worse than the committed result fails a check.
"""

from __future__ import annotations

from typing import Any

__all__ = ["judge", "regressions"]

Json = dict[str, Any]
Rows = dict[tuple[str, str], Json]


def judge(aims: Json, result: Json) -> list[Json]:
    """Every aim with whether it holds; one that could not be measured does not."""
    rows = {(row["corpus"], row["engine"]): row for row in result["rows"] if "seconds" in row}
    return [
        *(ratio(rows, "real", rival, "seconds", least) for rival, least in aims["times"].items()),
        *(ratio(rows, "real", rival, "cpu_seconds", least) for rival, least in aims["cpu_times"].items()),
        *(ratio(rows, "1m", rival, "seconds", least) for rival, least in aims["million_times"].items()),
        memory(rows, aims["million_memory"]),
        *growth(rows, aims["growth"]),
        *own_parts(result.get("parts", {}), aims["parts"]),
        *quality(rows, aims),
    ]


def regressions(before: Json, checks: list[Json], tolerance: Json) -> list[str]:
    """What is worse than in the result before by more than the tolerance, in words."""
    known = {one["name"]: one["value"] for one in before.get("checks", ()) if "name" in one}
    found = []
    for one in checks:
        old, new = known.get(one["name"]), one["value"]
        if old is None or new is None:
            continue
        share = tolerance["quality"] if one["kind"] == "quality" else tolerance["cost"]
        worse = new < old * (1 - share) if one["more_is_better"] else new > old * (1 + share)
        if worse:
            found.append(f"{one['name']}: {new:g}, was {old:g}")
    return found


def verdict(
    name: str, says: str, value: float | None, holds: bool, *, more: bool, kind: str = "cost"
) -> Json:
    rounded = None if value is None else round(value, 4)
    return {
        "name": name,
        "says": says,
        "value": rounded,
        "holds": holds,
        "more_is_better": more,
        "kind": kind,
    }


def absent(name: str, more: bool) -> Json:
    return verdict(name, f"{name}: not measured in this run", None, False, more=more)


def ratio(rows: Rows, corpus: str, rival: str, field: str, least: float) -> Json:
    how = "on the clock" if field == "seconds" else "by CPU time"
    name = f"{corpus}: times as fast as {rival} {how}"
    ours, theirs = rows.get((corpus, "ours")), rows.get((corpus, rival))
    if ours is None or theirs is None:
        return absent(name, True)
    value = (theirs[field] / theirs["bytes"]) / (ours[field] / ours["bytes"])
    part = f" on its first {theirs['bytes'] / 1e6:.0f} MB" if theirs["part"] else ""
    says = f"{corpus}: ours {value:.1f} times as fast as {rival}{part} {how}; at least {least:g}"
    return verdict(name, says, value, value >= least, more=True)


def memory(rows: Rows, most: float) -> Json:
    name = "1m: bytes of memory"
    large = rows.get(("1m", "ours"))
    if large is None:
        return absent(name, False)
    peak = large["peak_bytes"]
    says = f"a million documents: {peak / 1e6:.0f} MB of memory; at most {most / 1e6:g} MB"
    return verdict(name, says, peak, peak <= most, more=False)


def growth(rows: Rows, most: float) -> list[Json]:
    small, large = rows.get(("100k", "ours")), rows.get(("1m", "ours"))
    found = []
    for what, field in (("time", "seconds"), ("memory", "peak_bytes")):
        name = f"{what} per document from 100K to 1M"
        if small is None or large is None:
            found.append(absent(name, False))
            continue
        value = (large[field] / large["documents"]) / (small[field] / small["documents"])
        says = f"{what} per document at 1M is {value:.2f} of that at 100K; at most {most:g}"
        found.append(verdict(name, says, value, value <= most, more=False))
    return found


def own_parts(parts: Json, aims: Json) -> list[Json]:
    """Our own costs beside their bounds."""
    if not parts:
        return [absent(name, False) for name in aims]
    scan, stages = parts["scan"], parts["stages"]
    values = {
        "read stage over parsing and fingerprinting alone": stages["read"][0] / parts["bound"]["both"],
        "dedup over scan": parts["dedup"]["seconds"] / scan["seconds"],
        "simhash over the default": parts["simhash"]["cpu_seconds"] / scan["cpu_seconds"],
        "bits over the default": parts["bits"]["cpu_seconds"] / scan["cpu_seconds"],
        "seconds of --help": parts["help"],
        "seconds of a scan of ten documents": parts["ten_documents"],
        "nd.dedup of a list over its native calls": parts["library list"]["ratio"],
        "nd.dedup of an Arrow column over its native calls": parts["library arrow"]["ratio"],
    }
    return [
        verdict(
            name,
            f"{name}: {values[name]:.2f}; at most {most:g}",
            values[name],
            values[name] <= most,
            more=False,
        )
        for name, most in aims.items()
    ]


def quality(rows: Rows, aims: Json) -> list[Json]:
    found = []
    for (corpus, engine), row in rows.items():
        if engine != "ours":
            continue
        score = row["score"]
        recall = score.get("reported_recall", score["recall"])
        precision = score.get("reported_precision", score["removal_precision"])
        keeper = score["removal_precision"]
        if recall is not None:
            says = f"{corpus}: recall {recall:.4f} of {score['known_pairs']:,} known pairs; at least {aims['recall']:g}"
            found.append(
                verdict(
                    f"{corpus}: recall", says, recall, recall >= aims["recall"], more=True, kind="quality"
                )
            )
        if precision is not None:
            says = f"{corpus}: precision {precision:.4f} of what is reported; at least {aims['precision']:g}"
            holds = precision >= aims["precision"]
            found.append(verdict(f"{corpus}: precision", says, precision, holds, more=True, kind="quality"))
        if keeper is not None:
            says = f"{corpus}: {keeper:.4f} of the removed documents are similar to their keeper; all of them"
            found.append(verdict(f"{corpus}: keepers", says, keeper, keeper >= 1, more=True, kind="quality"))
    return found
