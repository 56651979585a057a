"""`neardup codes search`, `join` and `batch`: codes of files within a radius of each other."""

from __future__ import annotations

import json
from typing import Any

import click

from neardup.cli.codes_files import bits_option, code_format_option, column_option
from neardup.cli.options import json_option, quiet_option, threads_option
from neardup.cli.outputs import OUT_FORMAT, WritingCommand, may_overwrite, output_option, overwrite_option
from neardup.cli.progress import progress_shown
from neardup.progress import Progress
from neardup.values.wording import counted

__all__ = ["batch", "join", "search"]


def _shared(command: Any) -> Any:
    options = (
        output_option(
            "--out", "-o", help="The hits: CSV, TSV, JSONL, Parquet, XLSX.  [default: TSV on standard output]"
        ),
        click.option("--out-format", help=OUT_FORMAT),
        click.option(
            "--radius",
            type=click.IntRange(0, 128),
            default=3,
            show_default=True,
            help="Largest distance, in bits.",
        ),
        click.option(
            "--recall",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.95,
            show_default=True,
            help="Least share of the pairs within the radius that --search psm finds, with 95% confidence.",
        ),
        code_format_option,
        bits_option,
        column_option,
        overwrite_option,
        threads_option(),
        quiet_option,
        json_option("What was found, as one JSON object; the hits are in it unless --out names a file."),
    )
    for option in reversed(options):
        command = option(command)
    return command


mode_option = click.option(
    "--mode",
    type=click.Choice(["all", "first"]),
    default="all",
    show_default=True,
    help="Every code within the radius, or one of them at most.",
)
_ONE_OR_PSM = click.option(
    "--search", type=click.Choice(["exact", "psm"]), default="exact", show_default=True, help="How to search."
)
_MEMORY = click.option(
    "--memory", default="2GB", show_default=True, help="The most that codes and tables may take."
)


def _opened(path: str, given: dict[str, Any]) -> Any:
    from neardup.search.code_files.reader import open_codes

    bits = int(given["bits"]) if given["bits"] else None
    return open_codes(path, format=given["code_format"], bits=bits, column=given["column"])


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The options that all searches of codes have."""
    return {name: given[name] for name in ("radius", "search", "recall", "memory", "threads")}


@click.command(cls=WritingCommand)
@click.argument("queries")
@click.argument("stored")
@mode_option
@click.option(
    "--search",
    type=click.Choice(["exact", "compact", "covering", "bphs", "scan", "psm"]),
    default="exact",
    show_default=True,
    help="How to search; psm needs margins.",
)
@_MEMORY
@_shared
def search(queries: str, stored: str, **given: Any) -> None:
    """Find the codes of STORED that are within the radius of each code of QUERIES, in memory.

    A hit is a query, a stored code and their distance. Codes are named by their ids, or by their rows from 0.
    """
    from neardup.search.code_files.searches import search_files

    asked, held = _opened(queries, given), _opened(stored, given)
    progress = progress_shown(given["quiet"])
    progress.stage("search", asked.count, "codes")
    found = search_files(
        asked,
        held,
        **_settings(given),
        mode=given["mode"],
        progress=progress.reached,
    )
    _write(found, ("query", "stored", "distance"), given, progress)


@click.command(cls=WritingCommand)
@click.argument("left")
@click.argument("right", required=False)
@_ONE_OR_PSM
@_MEMORY
@_shared
def join(left: str, right: str | None, **given: Any) -> None:
    """Find all pairs of codes of LEFT within the radius, or with RIGHT all pairs of a code of each, in memory."""
    from neardup.search.code_files.searches import join_files

    progress = progress_shown(given["quiet"])
    progress.stage("join")
    found = join_files(
        _opened(left, given),
        None if right is None else _opened(right, given),
        **_settings(given),
    )
    _write(found, ("left", "right", "distance"), given, progress)


@click.command(cls=WritingCommand)
@click.argument("queries")
@click.argument("stored", nargs=-1, required=True)
@mode_option
@_ONE_OR_PSM
@click.option(
    "--memory",
    default="1GB",
    show_default=True,
    help="Memory of queries, their tables, chunks and hits together.",
)
@click.option("--append", is_flag=True, help="Then add the queries to the folder STORED as one more segment.")
@_shared
def batch(queries: str, stored: tuple[str, ...], **given: Any) -> None:
    """Find the codes of STORED, segment files or a folder of them, within the radius of each code of QUERIES.

    The segments are read once, in pieces, and may be far larger than memory; only the queries are held. A stored code
    is named by its row number.
    """
    from neardup.search.code_files.searches import batch_files

    progress = progress_shown(given["quiet"])
    progress.stage("batch", None, "hits")
    found = batch_files(
        _opened(queries, given),
        stored,
        **_settings(given),
        mode=given["mode"],
        append=given["append"],
        progress=progress.reached,
    )
    _write(found, ("query", "stored", "distance"), given, progress)


def _write(found: Any, names: tuple[str, str, str], given: dict[str, Any], progress: Progress) -> None:
    """The hits to the output; with --json and no file, into the answer."""
    from neardup.readers.writers import format_for, open_writer
    from neardup.search.report import report_lines

    out = given["out"]
    hits: list[list[Any]] = []
    if given["as_json"] and out is None:
        for one, other, distance in found:
            hits += [list(hit) for hit in zip(one, other, distance.tolist(), strict=True)]
    else:
        form, _ = format_for(out or "-", given["out_format"], stream_format="tsv")
        with open_writer(out or "-", form, overwrite=may_overwrite()) as writer:
            for one, other, distance in found:
                for hit in zip(one, other, distance.tolist(), strict=True):
                    writer.write(dict(zip(names, hit, strict=True)))
    progress.finish()
    if given["as_json"]:
        said = found.to_plain() | ({"columns": names, "found": hits} if out is None else {"out": out})
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    click.echo(
        f"{counted(found.hits, 'hit')} of {found.queries:,} codes among {found.stored:,} within radius "
        f"{found.report.radius}",
        err=out is None,  # the hits are on standard output
    )
    for line in report_lines(found.report.to_plain()):
        click.echo(line, err=out is None)
