"""The `neardup` command: one file per subcommand; each parses, calls the library and prints."""

from __future__ import annotations

import importlib
import io
import keyword
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from neardup import __version__
from neardup.cli.command_list import GROUPS, color_wanted, help_width
from neardup.errors import NeardupError, UnreadableInput
from neardup.values.wording import printable

__all__ = ["main"]

_DAMAGED = {"damaged file", "unreadable", "too large"}  # what no option of a reader helps with
COMMANDS = tuple(name for names in GROUPS.values() for name in names)


class _ReaderEnded(Exception):
    """The program that reads standard output has ended, as `head` does; that is no error."""


class LazyGroup(click.Group):
    """Imports a subcommand when it is used, and none for `neardup --help`, so that it is quick."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                room = formatter.width - 6 - longest
                formatter.write_dl(
                    [
                        (name.ljust(longest), click.Command(name, help=sentence).get_short_help_str(room))
                        for name, sentence in names.items()
                    ]
                )

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
    # When numpy is loaded, its threads wait for work in a loop, for up to .1 s of CPU time; few commands have any.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be Unicode
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        cli.main(
            args=arguments,
            obj=arguments,
            prog_name="neardup",
            standalone_mode=False,
            color=color_wanted(),
            max_content_width=help_width(),
            terminal_width=max(help_width() - 2, 50),  # as click makes of it
        )
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2 if isinstance(error, click.UsageError) else 1)
    except (click.Abort, KeyboardInterrupt):
        _stopped()
    except (_ReaderEnded, BrokenPipeError):
        # The reader of our output has ended; what remains in the buffer must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except NeardupError as error:
        _print_error("\n".join([str(error), *_next_steps(error, arguments)]))
        sys.exit(2 if isinstance(error, UnreadableInput) else 1)
    except RuntimeError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):  # Python 3.11 wraps it while it makes a class
            raise
        _stopped()
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _print_error(f"{name}{error.strerror or error}")
        sys.exit(1)


def _stopped() -> None:
    click.echo("stopped; no output was left incomplete, and the same command resumes a scan", err=True)
    sys.exit(130)


def _next_steps(error: NeardupError, arguments: Sequence[str]) -> Iterator[str]:
    """What to type next: in words, and as the whole command if an option is all that it lacks."""
    from neardup.cli.again import full_command, takes_option

    if isinstance(error, UnreadableInput) and not error.rejected.keys() <= _DAMAGED:
        yield "Name the columns with --text and --id, or the format with --format" + (
            "; or continue without these rows: --allow-rejects 1" if error.options else ""
        )
    if error.options and takes_option(cli, arguments, error.options[0]):
        yield f"The full command: {full_command(arguments, error.options)}"


def _print_error(message: str) -> None:
    """Print what went wrong; names in it may be hostile."""
    click.echo("\n".join(printable(line, 2000) for line in f"neardup: {message}".split("\n")), err=True)
