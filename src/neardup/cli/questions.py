"""Shows where two texts differ, and asks a question about them in the terminal."""

from __future__ import annotations

from collections.abc import Collection

import click

from neardup.values.wording import counted, printable

__all__ = ["ask_about"]

_LONGEST = 400  # characters of one difference


def ask_about(texts: tuple[str | bytes, str | bytes], question: str, answers: Collection[str]) -> str | None:
    """One of the answers; None if the person stops, or standard input has ended. Texts are shown without the
    characters that control the terminal."""
    from neardup.compare.diff import differences

    shown = differences(*texts)
    for left, right in shown:
        click.secho(f"  - {printable(left, _LONGEST)}", fg="red", err=True)
        click.secho(f"  + {printable(right, _LONGEST)}", fg="cyan", err=True)
    if not shown:
        click.echo(f"  no difference in {counted(len(texts[0].split()), 'word')}", err=True)
    try:
        answer = click.prompt(
            f"{question} y, n, ? (cannot say), q (enough)",
            type=click.Choice([*answers, "q"]),
            show_choices=False,
            err=True,
        )
    except click.Abort:
        return None
    return None if answer == "q" else str(answer)
