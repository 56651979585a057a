"""The `neardup` command: one file per subcommand; each parses, calls the library and prints."""

from __future__ import annotations

import importlib
import io
import keyword
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from neardup import __version__
from neardup.cli.help import GROUPS, color_wanted, help_width
from neardup.errors import NeardupError, UnreadableInput
from neardup.values.wording import printable

__all__ = ["main"]

COMMANDS = tuple(name for names in GROUPS.values() for name in names)


_NEXT_AFTER_REJECTS = (
    "Name the columns with --text and --id, or the format with --format; "
    "or go on without these rows: --allow-rejects 1"
)


class _ReaderEnded(Exception):
    """Whoever reads standard output has ended, as `head` does; nothing is wrong."""


class LazyGroup(click.Group):
    """Imports a subcommand when it is asked for, so that `neardup --help` is quick."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                rows = []
                for name in names:
                    command = self.get_command(context, name)
                    assert command is not None
                    room = formatter.width - 6 - longest
                    rows.append((name.ljust(longest), command.get_short_help_str(room)))
                formatter.write_dl(rows)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        own = f"{name}_" if keyword.iskeyword(name) else name
        command = getattr(importlib.import_module(f"neardup.cli.{own}"), own)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            raise _ReaderEnded from error  # click would make it exit code 1


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="neardup")
def cli() -> None:
    """Find, explain and remove duplicate and near-duplicate documents."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command. Exit codes: 0 done, 1 something in the data or the files was wrong, 2 wrong usage, or too
    much of the input could not be read."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be Unicode
    try:
        cli.main(
            args=arguments,
            prog_name="neardup",
            standalone_mode=False,
            color=color_wanted(),
            max_content_width=help_width(),
        )
        sys.stdout.flush()
    except click.exceptions.Exit as exit:
        sys.exit(exit.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2 if isinstance(error, click.UsageError) else 1)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped; no output was left incomplete, and the same command resumes a scan", err=True)
        sys.exit(130)
    except (_ReaderEnded, BrokenPipeError):
        # The reader of our output has ended; what remains in the buffer must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except UnreadableInput as error:
        _print_error(f"{error}\n{_NEXT_AFTER_REJECTS}")
        sys.exit(2)
    except NeardupError as error:
        _print_error(str(error))
        sys.exit(1)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _print_error(f"{name}{error.strerror or error}")
        sys.exit(1)


def _print_error(message: str) -> None:
    """Print what went wrong; names in it may be hostile."""
    click.echo("\n".join(printable(line, 2000) for line in f"neardup: {message}".split("\n")), err=True)
