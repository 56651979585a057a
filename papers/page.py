"""docs/inside/papers.md, written from the kept results alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from papers import (
    mk_batch,
    mk_compression,
    mk_designs,
    mk_fig1,
    mk_fig2,
    mz_fig12_3,
    sl_fig1,
    sl_fig3,
    sl_fig5,
    sl_fig6,
    sl_fig7,
    sl_fig8,
    sl_fig9,
    sl_table1,
    sl_table2,
    us_examples,
)
from papers.experiment import CLOSE, NEAR, RESULTS, Claim, Result, load, table

__all__ = ["EXPERIMENTS", "PAGE", "text", "write"]

SOOD = (sl_fig1, sl_fig3, sl_fig5, sl_fig6, sl_table1, sl_table2, sl_fig7, sl_fig8, sl_fig9)
MANKU = (mk_designs, mk_compression, mk_fig1, mk_fig2, mk_batch)
EXPERIMENTS = tuple(module.EXPERIMENT for module in (*SOOD, *MANKU, mz_fig12_3, us_examples))
VERDICTS = {"yes": "Held", "partly": "Held in part", "no": "Did not hold"}
PAGE = Path(__file__).parent.parent / "docs" / "inside" / "papers.md"

OPENING = """\
# The papers, measured again

This page compares what the papers print with what we measured. `make papers` writes it from `papers/results/*.json`.
Every measured number comes from those files, which also name the machine, the versions, the commit and the options.
Seeds are fixed: if you run it again, all numbers except speeds are the same.

The sources are:

- **SL**: Sood and Loguinov, CIKM 2011, and its slides **CS**
- **MK**: Manku, Jain and Das Sarma, WWW 2007
- **MZ**: Mitzenmacher's lecture notes on near duplicate documents
- **US**: lecture slides on de-duplication (USC)

"Printed" means: what the source says. "Here" means: what we measured. E1 to E44 are errata, that is, mistakes in the
sources and their corrections; each is named where it matters.

The text comes from the labelled sets (documentation in many languages and revisions, government pages judged by people,
licences, short manual pages, variants of HTML pages), from edited copies of these documents, and from text that was
generated from them to have more of it. Timings use uniform codes. Each neighbour that is planted among them has the
differing bits and the margins of a real near pair. [Decision 0022](decisions/0022-papers.md) says how pairs are chosen
and when a statement counts as held.

## What held and what did not
"""


def text() -> str:
    """The page of all results there are; an experiment that never ran is left out."""
    kept = {e.name: load(e.name) for e in EXPERIMENTS if (RESULTS / f"{e.name}.json").exists()}
    known = [e for e in EXPERIMENTS if e.name in kept]
    claims = [claim for e in known for claim in e.claims(kept[e.name])]
    tally = Counter(claim.held for claim in claims)
    lines = [
        OPENING,
        f"Of {len(claims)} statements, {tally['yes']} held, {tally['partly']} held in part, and {tally['no']} did "
        f"not hold. A number held if it is better than the printed one or within a factor of {CLOSE:g} of it. It "
        f"held in part if it is within a factor of {NEAR:g}. For other statements the scripts have the rule.",
        "",
        *(line for held, title in VERDICTS.items() for line in _verdict(title, held, claims)),
        *_where(list(kept.values())),
    ]
    for experiment in known:
        lines += [f"## {experiment.title}", "", *experiment.section(kept[experiment.name])]
    return "\n".join(lines).rstrip() + "\n"


def write() -> None:
    """Write the page, whole or not at all."""
    partial = PAGE.with_suffix(".partial")
    partial.write_text(text(), "utf-8")
    partial.replace(PAGE)


def _verdict(title: str, held: str, claims: list[Claim]) -> list[str]:
    """The statements of one verdict, in the order of the papers."""
    rows: list[tuple[object, ...]] = [
        (c.source, c.says, c.printed, c.here, c.why) for c in claims if c.held == held
    ]
    return (
        [f"### {title}", "", *table(("from", "statement", "printed", "here", "why"), rows, left=5)]
        if rows
        else []
    )


def _where(results: list[Result]) -> list[str]:
    """Which machine, versions and commits the results are from."""
    machine = results[0]["machine"]
    loads = [result["machine"]["load"] for result in results]
    commits = sorted({result["commit"] for result in results})
    package = ", ".join(f"{name} {version}" for name, version in results[0]["versions"].items())
    return [
        f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}; {package}; "
        f"{'commit' if len(commits) == 1 else 'commits'} {', '.join(f'`{c}`' for c in commits)}; load "
        f"{min(loads)} to {max(loads)} when experiments began; "
        f"{sum(result['seconds'] for result in results):.0f} s in all.",
        "",
    ]
