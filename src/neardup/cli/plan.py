"""neardup plan: which search design to use."""

from __future__ import annotations

import click

from neardup.cli.options import json_option

__all__ = ["plan"]


@click.command()
@click.option("--documents", type=float, required=True, help="How many codes are stored, for example 8e9.")
@click.option(
    "--bits", type=click.Choice(["32", "64", "128"]), default="64", show_default=True, help="Bits of a code."
)
@click.option("--radius", type=int, default=3, show_default=True, help="Largest distance, inclusive.")
@click.option("--memory", help="What one machine may use, for example 64GB.")
@click.option(
    "--recall", type=float, default=0.95, show_default=True, help="Smallest recall that is good enough."
)
@click.option("--queries", type=float, help="Total number of queries, if it is known.")
@click.option(
    "--chance",
    type=float,
    default=1.0,
    show_default=True,
    help="How many codes may be within the radius of a query by chance.",
)
@json_option("Print JSON.")
@click.option("--no-measure", is_flag=True, help="Predict for a typical machine at once, without measuring.")
def plan(
    documents: float,
    bits: str,
    radius: int,
    memory: str | None,
    recall: float,
    queries: float | None,
    chance: float,
    as_json: bool,
    no_measure: bool,
) -> None:
    """Recommend a search design: predicted memory, build time and speed of each, best first."""
    from neardup.errors import ConfigError
    from neardup.search.planner import plan as make

    try:
        made = make(
            documents,
            bits=int(bits),
            radius=radius,
            memory=memory,
            recall=recall,
            queries=queries,
            measure=not no_measure,
            chance=chance,
        )
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(made.to_json())
        return
    from rich.console import Console
    from rich.table import Table

    head, *rows = made.rows()
    table = Table(title=made.title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    for i, name in enumerate(head):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.print(table)
    console.print(made.why, markup=False, highlight=False)
    console.print(made.chance_text, markup=False, highlight=False)
