"""`neardup audit`: judge random removals, and learn how many are right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import cut_options, json_option, threshold_option
from neardup.cli.questions import ask_about
from neardup.cli.settings import guards_of, keep_of
from neardup.values.wording import printable

if TYPE_CHECKING:
    from neardup.findings.audit import Drawn

__all__ = ["audit"]


@click.command()
@click.argument("findings", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--removals",
    "-n",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="How many removals to judge.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed draws other removals.")
@click.option("--name", default="", help="Who answers; saved with each answer.")
@threshold_option
@cut_options
@click.option("--no-ask", is_flag=True, help="Ask nothing; print the estimate of the answers so far.")
@json_option("The estimate as one JSON object.")
def audit(findings: str, removals: int, seed: int, name: str, threshold: float | None, **given: Any) -> None:
    """Show random removals of FINDINGS one by one, with their keeper and what differs, and ask whether each is right.

    The answer is the share of right removals with a 95% interval. Removals are drawn from every kind of change in
    proportion; byte-identical ones count as right. Answers are kept in the findings folder with their date, and the
    review page and the report show them; another run continues from there. Nothing else is changed.
    """
    from neardup.findings import Findings, decided_cut
    from neardup.findings.audit import audited, draw_removals

    found = Findings(findings)
    keep = keep_of(given, found.config.keep)
    cut = decided_cut(found, threshold, keep, protect=guards_of(given, found.config.protect))
    if not given["no_ask"]:
        _ask(found, draw_removals(found, cut, removals, seed), name)
    said = audited(found, cut)
    if given["as_json"]:
        click.echo(json.dumps(said.to_json()))
    else:
        click.echo(str(said))


def _ask(found: Any, drawn: list[Drawn], name: str) -> None:
    import numpy as np

    from neardup.findings.audit import Verdict, record
    from neardup.findings.explain import own_text

    answers: dict[str, Verdict] = {"y": "right", "n": "wrong", "?": "unsure"}
    for number, one in enumerate(drawn, 1):
        row, keeper = one.row, one.keeper
        names = [printable(name) for name in found.ids(np.array([row, keeper]))]
        click.echo(f"\n{number} of {len(drawn)}: {names[0]} would be removed; {names[1]} is kept", err=True)
        notes: list[str] = []
        texts = own_text(found, row, notes), own_text(found, keeper, notes)
        for note in notes:
            click.echo(f"  {note}", err=True)
        answer = ask_about(texts, "Right to remove?", answers)
        if answer is None:
            return
        record(found, one, answers[answer], name)
