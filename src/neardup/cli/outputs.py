"""Options that name a file to write, and the checks that all commands share.

Every command that writes a file is made with `cls=WritingCommand` and names its outputs with `output_option` or
`OutputFile`. Before it runs, its outputs are compared with each other and with the files it reads, and a file that
exists is refused unless --overwrite is given. If an output is standard output, everything that the command prints is
written to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stdout
from typing import Any, TypeVar

import click

from neardup.storage.output import check_output_file, check_outputs, is_standard_output

__all__ = [
    "OUT_FORMAT",
    "OutputFile",
    "WritingCommand",
    "may_overwrite",
    "out_encoding_option",
    "out_format_option",
    "output_option",
    "overwrite_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])
_OVERWRITE = "neardup.overwrite"


class OutputFile(click.Path):
    """The name of a file to write; `-` is standard output. With `folders`, a folder is written too."""

    def __init__(self, *, folders: bool = False) -> None:
        super().__init__(allow_dash=True)
        self.folders = folders


def output_option(*names: str, folders: bool = False, **others: Any) -> Callable[[Command], Command]:
    """An option that names a file to write."""
    return click.option(*names, type=OutputFile(folders=folders), **others)


OUT_FORMAT = (
    "Output format: jsonl, csv, tsv, parquet, arrow, xlsx, lines, markdown or ids; by default by its name."
)
out_format_option = click.option("--out-format", help=OUT_FORMAT)
out_encoding_option = click.option(
    "--out-encoding", help="Encoding of CSV output.  [default: that of the first input, or UTF-8]"
)


def _remember(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[_OVERWRITE] = value


overwrite_option = click.option(
    "--overwrite",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Replace output files that exist already.",
)


def may_overwrite() -> bool:
    """Whether the command that runs was given --overwrite."""
    return bool(click.get_current_context().meta[_OVERWRITE])


class WritingCommand(click.Command):
    """A command that writes files that its user names."""

    def invoke(self, context: click.Context) -> Any:
        outputs = dict(self._outputs(context))
        check_outputs(outputs, self._inputs(context))
        for option, path in outputs.items():
            if not self._is_folder(option, path):
                check_output_file(path, overwrite=context.meta.get(_OVERWRITE, False))
        printed = any(map(is_standard_output, outputs.values()))
        with redirect_stdout(sys.stderr) if printed else nullcontext():
            return super().invoke(context)

    def _outputs(self, context: click.Context) -> Iterator[tuple[str, str]]:
        for parameter in self.params:
            value = context.params.get(parameter.name or "")
            if isinstance(parameter.type, OutputFile) and value:
                yield _shown(parameter), value

    def _inputs(self, context: click.Context) -> Iterator[str]:
        """The files that the command line names to be read; folders and patterns are looked into later."""
        for parameter in self.params:
            value = context.params.get(parameter.name or "")
            reads = isinstance(parameter, click.Argument) or isinstance(parameter.type, click.Path)
            if value and reads and not isinstance(parameter.type, OutputFile):
                for place in (value,) if isinstance(value, str) else value:
                    place = "/dev/stdin" if place == "-" else place
                    if not os.path.isdir(place):
                        yield place

    def _is_folder(self, option: str, path: str) -> bool:
        takes = any(
            isinstance(parameter.type, OutputFile) and parameter.type.folders
            for parameter in self.params
            if _shown(parameter) == option
        )
        return takes and (path.endswith(("/", os.sep)) or os.path.isdir(path))


def _shown(parameter: click.Parameter) -> str:
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
