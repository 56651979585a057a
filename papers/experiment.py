"""What an experiment is, and how its result is kept: JSON with the machine, versions, commit and options."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from benchmarks.machine import commit, describe, now, versions

__all__ = ["CLOSE", "NEAR", "Claim", "Experiment", "Options", "Result", "agrees", "load", "measure", "table"]

CLOSE, NEAR = 1.5, 3.0
"""Factors within which a measured number agrees with a printed one, wholly or in part."""
RESULTS = Path(__file__).parent / "results"
Result = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How large an experiment is. `documents` are generated for scale; timing runs store up to 2**`largest` codes and
    take the best of `repeats` runs."""

    documents: int = 100_000
    largest: int = 22
    repeats: int = 3


@dataclass(frozen=True)
class Claim:
    """What a paper says, what it printed, what came out here, and whether that is the same: "yes", "partly", "no"."""

    source: str
    says: str
    printed: str
    here: str
    held: str
    why: str


@dataclass(frozen=True)
class Experiment:
    """One figure or table: `run` measures it, `draw` makes its plots of what was measured, `section` its part of the
    page, `claims` its lines of the opening table. The last three see nothing but the result."""

    name: str
    title: str
    run: Callable[[Options], Result]
    section: Callable[[Result], list[str]]
    claims: Callable[[Result], list[Claim]]
    draw: Callable[[Result], None] | None = None


def agrees(
    measured: Sequence[float],
    printed: Sequence[float | None],
    better: Literal["high", "low", "neither"] = "neither",
) -> str:
    """Whether numbers are the printed ones: "yes" when all are within a factor of CLOSE, "partly" within NEAR, else
    "no".

    A number that is better than printed agrees; one that was not printed does not count."""
    worst = 1.0
    for mine, known in zip(measured, printed, strict=True):
        if known is None:
            continue
        ratio = mine / known
        off = {"high": 1 / ratio, "low": ratio, "neither": max(ratio, 1 / ratio)}[better]
        worst = max(worst, off)
    return "yes" if worst <= CLOSE else "partly" if worst <= NEAR else "no"


def measure(experiment: Experiment, options: Options) -> Result:
    """Run an experiment and keep its result, in whole numbers and numbers of six digits."""
    facts = {"machine": describe(), "commit": _commit(), "date": now()}
    start = time.perf_counter()
    found = experiment.run(options)
    result = {
        "experiment": experiment.name,
        **facts,
        "versions": versions(("neardup", "numpy", "matplotlib")),
        "options": asdict(options),
        "seconds": time.perf_counter() - start,
        **found,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{experiment.name}.json"
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(_plain(result), indent=1) + "\n", "utf-8")
    partial.replace(path)
    return load(experiment.name)


@lru_cache(maxsize=1)
def _commit() -> str:
    """The commit as it was before results were written, which are files of it too."""
    return commit()


def load(name: str) -> Result:
    """The kept result of an experiment."""
    result: Result = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return float(f"{value:.6g}") if isinstance(value, float) else value


def table(head: tuple[str, ...], rows: list[tuple[object, ...]], left: int = 1) -> list[str]:
    """A Markdown table, numbers to the right but for the first `left` columns, followed by an empty line."""
    rule = "|" + "---|" * left + "---:|" * (len(head) - left)
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", rule, *lines, ""]
