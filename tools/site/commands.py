"""The reference of the command line, made from the commands themselves."""

from __future__ import annotations

import re

import click

from neardup.cli import cli

__all__ = ["commands_page"]


def commands_page() -> str:
    """Markdown: every command with its arguments and options, in the order of `neardup --help`."""
    context = click.Context(cli, info_name="neardup")
    names = cli.list_commands(context)
    lines = ["| command | does |", "|---|---|"]
    parts = []
    for name in names:
        command = cli.get_command(context, name)
        assert command is not None
        lines.append(f"| [`neardup {name}`](#neardup-{name}) | {_cell(_first_sentence(command))} |")
        parts += _section(command, click.Context(command, info_name=name, parent=context), depth=2)
    return "\n".join([*lines, "", *parts])


def _section(command: click.Command, context: click.Context, depth: int) -> list[str]:
    path = context.command_path
    lines = [f"{'#' * depth} {path}", ""]
    usage = " ".join(command.collect_usage_pieces(context))
    lines += ["```text", f"{path} {usage}".rstrip(), "```", ""]
    lines += [_paragraphs(command.help or ""), ""]
    options = [_row(parameter, context) for parameter in command.get_params(context)]
    rows = [row for row in options if row]
    if rows:
        lines += ["| option | meaning |", "|---|---|", *rows, ""]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            lines += _section(below, click.Context(below, info_name=name, parent=context), depth + 1)
    return lines


def _row(parameter: click.Parameter, context: click.Context) -> str:
    if not isinstance(parameter, click.Option) or parameter.hidden or "--help" in parameter.opts:
        return ""
    record = parameter.get_help_record(context)
    assert record is not None
    shown, meaning = " ".join(record[0].split()), record[1].strip()
    if isinstance(parameter.type, click.Choice):  # a long list would leave no room for the meaning
        shown = ", ".join([*parameter.opts, *parameter.secondary_opts])
        meaning += f" One of {', '.join(f'`{choice}`' for choice in parameter.type.choices)}."
    if parameter.multiple:
        meaning += " Can be repeated."
    return f"| `{shown}` | {_cell(meaning)} |"


def _first_sentence(command: click.Command) -> str:
    return command.get_short_help_str(limit=200)


def _paragraphs(help_text: str) -> str:
    """The help as Markdown. A line of `\\b` keeps the lines after it as they are."""
    found = []
    for paragraph in help_text.split("\n\n"):
        if paragraph.startswith("\b\n"):
            found.append("```text\n" + paragraph.removeprefix("\b\n") + "\n```")
        else:
            found.append(" ".join(paragraph.split()))
    return "\n\n".join(found)


def _cell(text: str) -> str:
    """Text for a cell of a table: no Markdown or HTML but spans of code."""
    parts = " ".join(text.split()).split("`")
    escaped = {"|": "\\|", "<": "&lt;", "[": "&#91;", "*": "&#42;"}
    parts[::2] = [re.sub(r"[|<[*]", lambda found: escaped[found[0]], part) for part in parts[::2]]
    return "`".join(parts)
