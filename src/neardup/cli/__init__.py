"""The `neardup` command: one file per subcommand; each parses, calls the library and prints."""

from __future__ import annotations

import importlib
import io
import keyword
import os
import sys
from collections.abc import Sequence

import click

from neardup import __version__
from neardup.errors import NeardupError, UnreadableInput
from neardup.values.wording import printable

__all__ = ["main"]

COMMANDS = {
    "scan": (
        "Find duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and write what "
        "was found to a folder."
    ),
    "clusters": (
        "List the clusters of FINDINGS: the keeper first, then its members by their similarity to it."
    ),
    "report": (
        "Write FINDINGS as one HTML file: numbers, plots, the most telling clusters, settings and "
        "how to repeat it."
    ),
    "explain": (
        "Compare the texts of two files, or with -f of two documents of a scan, by every measure, "
        "and show what they share and where they differ; of a scan also which of them is kept, and "
        "why."
    ),
    "review": (
        "Open a page on FINDINGS: move the threshold, read clusters side by side, accept, reject, "
        "choose keepers."
    ),
    "apply": "Write the kept documents.",
    "dedup": (
        "Find the duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and write "
        "what is worth keeping."
    ),
    "repeats": (
        "Find parts that stand more than once in INPUTS (files, folders, globs), and write the "
        "documents without them."
    ),
    "copies": (
        "Find documents of INPUTS (files, folders, globs) that share passages: quotes, excerpts, "
        "copied parts."
    ),
    "config": (
        "Print the settings that these options (and a --config file) come to, as TOML: save it and "
        "pass it as --config."
    ),
    "fingerprint": "Print a fingerprint for each of the FILES (- is standard input), read as UTF-8 text.",
    "plan": "Recommend a search design: predicted memory, build time and speed of each, best first.",
    "evaluate": (
        "Precision, recall and F1 of PAIRS, a file of pairs or of clusters (CSV, TSV, JSONL or Parquet)."
    ),
    "calibrate": (
        "Measure on CORPUS itself (files, folders, globs) what each method and setting would find, "
        "miss and remove."
    ),
    "curve": "What a setting does to pairs of each similarity: as numbers, and with --plot as a picture.",
    "index": "Remember documents, and tell whether they, or near-duplicates of them, have been seen before.",
    "spark": "Find and remove duplicates over a cluster, with the answers of `neardup scan` and `apply`.",
    "serve": "Serve an index over HTTP; a new one is made if there is none.",
    "try": "Try the method: paste two texts and see their fingerprints, weak bits, sketches and the verdict.",
    "templates": (
        "Learn the templates of the sources in INPUTS (files, folders, globs): menus, footers, notices, ads."
    ),
    "urls": (
        "Print the canonical form of each URL in INPUTS (files; - or nothing is standard input), "
        "one a line, in order."
    ),
    "mirrors": (
        "Find mirrors from PAIRS of duplicate pages: a TSV, CSV or JSONL file of two URLs (- is "
        "standard input)."
    ),
    "completion": "Print the completion script of SHELL.",
}
"""The subcommands, in the order of the help, with the first sentence of each."""


_NEXT_AFTER_REJECTS = (
    "Name the columns with --text and --id, or the format with --format; "
    "or go on without these rows: --allow-rejects 1"
)


class LazyGroup(click.Group):
    """Imports a subcommand when it is used, and none for `neardup --help`, so that it is quick."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        own = f"{name}_" if keyword.iskeyword(name) else name
        command = getattr(importlib.import_module(f"neardup.cli.{own}"), own)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        rows = [
            (name, click.Command(name, help=said).get_short_help_str(limit))
            for name, said in COMMANDS.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


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
        cli.main(args=arguments, prog_name="neardup", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as exit:
        sys.exit(exit.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2 if isinstance(error, click.UsageError) else 1)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped; no output was left incomplete, and the same command resumes a scan", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has ended; what remains in the buffer must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except UnreadableInput as error:
        _tell(f"{error}\n{_NEXT_AFTER_REJECTS}")
        sys.exit(2)
    except NeardupError as error:
        _tell(str(error))
        sys.exit(1)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _tell(f"{name}{error.strerror or error}")
        sys.exit(1)


def _tell(message: str) -> None:
    """What went wrong; names in it may be hostile."""
    click.echo("\n".join(printable(line, 2000) for line in f"neardup: {message}".split("\n")), err=True)
