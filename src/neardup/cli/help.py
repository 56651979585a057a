"""Help for people: commands in groups, the common options first, lines as wide as the terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import click

from neardup.cli.outputs import WritingCommand

__all__ = ["GROUPS", "BriefCommand", "color_wanted", "help_width"]

GROUPS = {
    "Deduplicate": ("dedup", "scan", "apply", "config", "spark"),
    "Inspect": ("clusters", "explain", "report", "review", "audit", "repeats", "copies", "templates", "try"),
    "Live index": ("index", "serve"),
    "Web": ("urls", "mirrors"),
    "Search": ("find", "fingerprint", "plan"),
    "Evaluate": ("evaluate", "calibrate", "curve"),
    "Other": ("completion",),
}
"""The commands by what they are for."""

_NARROWEST, _WIDEST = 40, 120


def help_width() -> int:
    """The width of the terminal, or COLUMNS, within what can be read."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))


def color_wanted(environment: Mapping[str, str] = os.environ) -> bool | None:
    """Whether to print colours: never with NO_COLOR or TERM=dumb, always with FORCE_COLOR; None: on a terminal."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return False if environment.get("TERM") == "dumb" else None


class BriefCommand(WritingCommand):
    """A command with many options: --help shows the `common` ones, --help-all shows all."""

    def __init__(self, *arguments: Any, common: Sequence[str] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.common = tuple(common)
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=self._help_all,
                help="Show all options and exit.",
            )
        )
        self._all = False

    def _help_all(self, context: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            self._all = True
            click.echo(self.get_help(context), color=context.color)
            context.exit()

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, tuple[str, str]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None and isinstance(parameter, click.Option):
                rows[parameter.opts[0]] = record
        common = {name: rows[name] for name in self.common}
        with formatter.section("Options"):
            last = {name: rows[name] for name in ("--help-all", "-h") if name in rows}
            formatter.write_dl([*common.values(), *([] if self._all else last.values())])
        if self._all:
            with formatter.section("More options"):
                formatter.write_dl([row for name, row in rows.items() if name not in common])
