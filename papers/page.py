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

Written by `make papers` from `papers/results/*.json`; every measured number below comes from those files, which name
machine, versions, commit and options. Seeds are fixed, so all but speeds comes out the same again. Sources: **SL**
Sood and Loguinov, CIKM 2011, with its slides **CS**; **MK** Manku, Jain and Das Sarma, WWW 2007; **MZ** Mitzenmacher's
lecture notes on near duplicate documents; **US** lecture slides on de-duplication (USC). Errata E1 to E44 are
corrections to what they print, named where they matter.

Text is that of the labelled sets (documentation in many languages and revisions, government pages judged by people,
licences, short manual pages, HTML variants), edited copies of these documents, and text generated from them for scale.
Timing runs use uniform codes whose planted neighbours have the differing bits and margins of real near pairs.
[Decision 0022](decisions/0022-papers.md) says how pairs are chosen and when a statement counts as held.

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
        f"Of {len(claims)} statements {tally['yes']} held, {tally['partly']} in part, and {tally['no']} did "
        f"not. A number held when it is within a factor of {CLOSE:g} of the printed one or better, in part "
        f"within {NEAR:g}; other rules are in the scripts.",
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
