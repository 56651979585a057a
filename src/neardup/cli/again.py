"""The same command again, with options that it lacked: what errors say to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

__all__ = ["full_command", "given_arguments", "takes_option"]


def given_arguments() -> list[str]:
    """The arguments of the command that runs, as they were typed."""
    return list(click.get_current_context().find_root().obj)


def full_command(arguments: Sequence[str], options: Sequence[str]) -> str:
    """The command line with these arguments and options, quoted for a shell."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    line = shlex.join(["neardup", *arguments[:end], *options, *arguments[end:]])
    return f"... | {line}" if "-" in arguments else line


def takes_option(command: click.Command, arguments: Sequence[str], option: str) -> bool:
    """Whether the command that the arguments name has this option."""
    context = click.Context(command)
    for argument in arguments:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(context, argument) or command
    return any(option in parameter.opts for parameter in command.params)
