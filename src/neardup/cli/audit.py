"""`neardup audit`: judge random removals, and learn how many are right."""

from __future__ import annotations

import json
from typing import Any

import click

from neardup.cli.options import cut_options
from neardup.cli.settings import guards_of, keep_of
from neardup.values.wording import counted, printable

__all__ = ["audit"]


@click.command()
@click.argument("findings", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--many", "-n", type=click.IntRange(1), default=50, show_default=True, help="Removals to judge."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Draws other removals.")
@click.option(
    "--threshold", type=click.FloatRange(0, 1), help="Another one than the scan's, from its floor up."
)
@cut_options
@click.option("--no-ask", is_flag=True, help="Only say what the answers so far mean.")
@click.option("--json", "as_json", is_flag=True, help="The estimate as one JSON object.")
def audit(findings: str, many: int, seed: int, threshold: float | None, **given: Any) -> None:
    """Show random removals of FINDINGS one by one, with their keeper and what differs, and ask whether each is right.

    The answer is the share of right removals with a 95% interval. Answers are kept in the findings folder as you go;
    another run goes on from there. Nothing else is changed.
    """
    from neardup.findings import Findings, decided_cut
    from neardup.findings.audit import audited, draw_removals

    found = Findings(findings)
    keep = keep_of(given, found.config.keep)
    cut = decided_cut(found, threshold, keep, protect=guards_of(given, found.config.protect))
    if not given["no_ask"]:
        _ask(found, draw_removals(found, cut, many, seed))
    said = audited(found, cut)
    if given["as_json"]:
        click.echo(json.dumps(said.to_json()))
    else:
        click.echo(str(said))


def _ask(found: Any, pairs: list[tuple[int, int]]) -> None:
    import numpy as np

    from neardup.compare.diff import differences
    from neardup.findings.audit import Verdict, record
    from neardup.findings.explain import text_of

    answers: dict[str, Verdict] = {"y": "right", "n": "wrong", "?": "unsure"}
    for number, (row, keeper) in enumerate(pairs, 1):
        names = [printable(name) for name in found.ids(np.array([row, keeper]))]
        click.echo(f"\n{number} of {len(pairs)}: {names[0]} would be removed; {names[1]} is kept", err=True)
        texts = text_of(found, row), text_of(found, keeper)
        shown = differences(*texts)
        for left, right in shown:
            click.secho(f"  - {printable(left, 400)}", fg="red", err=True)
            click.secho(f"  + {printable(right, 400)}", fg="cyan", err=True)
        if not shown:
            click.echo(f"  no difference in {counted(len(texts[0].split()), 'word')}", err=True)
        try:
            said = click.prompt(
                "Right to remove? y, n, ? (cannot tell), q (enough)",
                type=click.Choice([*answers, "q"]),
                show_choices=False,
                err=True,
            )
        except click.Abort:  # the end of the answers is an end like any other
            return
        if said == "q":
            return
        record(found, row, keeper, answers[said])
