"""Help for a command with many options: the common ones first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from neardup.cli.outputs import WritingCommand

__all__ = ["BriefCommand"]


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
                # Before click 8.1.8 the two names of the help option have no fixed order.
                rows["--help" if "--help" in parameter.opts else parameter.opts[0]] = record
        common = {name: rows[name] for name in self.common}
        with formatter.section("Options"):
            last = {name: rows[name] for name in ("--help-all", "--help") if name in rows}
            formatter.write_dl([*common.values(), *([] if self._all else last.values())])
        if self._all:
            with formatter.section("More options"):
                formatter.write_dl([row for name, row in rows.items() if name not in common])
