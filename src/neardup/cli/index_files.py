"""`neardup index ...`: the index as a whole, its files and copies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.cli.index_options import (
    accepted,
    access,
    as_json,
    config_of,
    existing,
    folder,
    making,
    say,
    shown,
    threads,
)  # fmt: skip
from neardup.cli.inputs import check_read, reading_of
from neardup.cli.options import page_options
from neardup.cli.outputs import OutputFile, WritingCommand, may_overwrite, overwrite_option
from neardup.storage.output import check_output_file, is_stream
from neardup.values.wording import counted, printable

__all__ = ["backup", "compact", "export", "import_", "key", "recover", "reindex", "replay", "stats", "verify"]


@click.command()
@folder
@as_json
def stats(path: str, as_json: bool) -> None:
    """Print the sizes of an index."""
    with nd.Index(path, mode="read") as found:
        facts = found.stats().to_json()
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' '):>14}  {f'{value:,}' if isinstance(value, int) else value}")


@click.command()
@folder
@as_json
def compact(path: str, as_json: bool) -> None:
    """Write the cache again, without what was removed, so that the index opens as fast as possible."""
    existing(path)
    with nd.Index(path, mode="write") as found:
        found.compact()
        count = len(found)
    say(as_json, {"documents": count}, f"{counted(count, 'document')}, compact")


@click.command()
@folder
@as_json
def verify(path: str, as_json: bool) -> None:
    """Read everything and compare it. Exit code 1 if something is wrong; nothing is changed."""
    count, problems, warnings = None, list[str](), tuple[str, ...]()
    try:
        with nd.Index(path, mode="read") as found:
            health = found.verify()
            problems, warnings = [*found.rebuilt, *health.problems], health.warnings
            count = health.documents
    except nd.errors.FormatError as error:
        problems.append(str(error))
    problems = list(dict.fromkeys(problems))
    if as_json:
        facts = {"documents": count, "sound": not problems, "problems": problems, "warnings": warnings}
        click.echo(json.dumps(facts))
    else:
        said = counted(len(problems), "problem") if problems else "all is sound"
        click.echo(f"{path if count is None else counted(count, 'document')}: {said}")
        for problem in problems:
            click.echo(f"  {problem}")
        if problems:
            click.echo(
                "To make the cache files again: neardup index compact. If the database is damaged, put a backup in its "
                "place, or save what can be read: neardup index recover OLD NEW"
            )
        for warning in warnings:
            click.echo(f"warning: {warning}", err=True)
    if problems:
        sys.exit(1)


@click.command()
@folder
@click.argument("target")
@access
@as_json
def backup(path: str, target: str, access: Any, as_json: bool) -> None:
    """Copy an index to a new folder, while it is in use."""
    with nd.Index(path, mode="read") as found:
        found.backup(target, access=access)
        count = len(found)
    say(as_json, {"documents": count, "target": target}, f"{path} copied to {target}")


@click.command(cls=WritingCommand)
@folder
@click.argument("file", type=OutputFile())
@overwrite_option
@access
@as_json
def export(path: str, file: str, access: Any, as_json: bool) -> None:
    """Write all documents to a JSONL or Parquet FILE, and the key with the secret seed to FILE.key."""
    if is_stream(file):
        raise nd.ConfigError(
            "an export also writes a key file next to it: name a file, not standard output or a device"
        )
    check_output_file(f"{file}.key", overwrite=may_overwrite())
    with nd.Index(path, mode="read") as found:
        count = found.export(file, access=access)
    facts = {"documents": count, "file": file, "key": f"{file}.key"}
    say(as_json, facts, f"{counted(count, 'document')} written to {file}, the key to {file}.key")


@click.command("import")
@folder
@click.argument("file")
@click.option(
    "--key", type=click.Path(exists=True, dir_okay=False), help="The key file.  [default: FILE.key]"
)
@as_json
def import_(path: str, file: str, key: str | None, as_json: bool) -> None:
    """Make a new index of what `export` wrote."""
    from neardup.index.rebuild import import_index

    count = import_index(path, file, key)
    say(as_json, {"documents": count}, f"{counted(count, 'document')} in {shown(path)}")


@click.command()
@folder
@click.argument("sources", metavar="FILES", nargs=-1, required=True)
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False),
    help="The key file.  [default: FILE.key of the first]",
)
@as_json
def replay(path: str, sources: tuple[str, ...], key: str | None, as_json: bool) -> None:
    """Put an index in Redis again: from what `export` wrote, or from the logs of all its workers (log=FILE in its
    address)."""
    from neardup.index.inputs import is_address
    from neardup.index.redis.address import Address
    from neardup.index.redis.replay import replay as again

    if not is_address(path):
        raise nd.ConfigError(
            f"{path}: replay is for an index in Redis; `neardup index import` makes a folder"
        )
    count = again(path, sources, key)
    say(as_json, {"changes": count}, f"{counted(count, 'change')} put into {Address.of(path).shown}")


@click.command(cls=WritingCommand)
@folder
@click.argument("file", type=OutputFile())
@overwrite_option
@as_json
def key(path: str, file: str, as_json: bool) -> None:
    """Write the key of an index, for others who make fingerprints for it; with it duplicates can be forged."""
    if is_stream(file):
        raise nd.ConfigError("a key is a secret: name a file, not standard output or a device")
    with nd.Index(path, mode="read") as found:
        found.write_key(file)
    say(as_json, {"key": file}, f"the key of {found.path} is in {file}")


@click.command()
@folder
@click.argument("target")
@making
@click.option(
    "--from", "sources", multiple=True, help="The original files, for an index that keeps no texts."
)
@page_options
@threads
@as_json
def reindex(
    path: str, target: str, config: str | None, method: str | None, threshold: float | None, radius: int | None,
    store: Any, sources: tuple[str, ...], html: Any, threads: int, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Make a new index with other settings, TARGET, of the texts that INDEX keeps, or of the original files.

    Without --method, --threshold, --radius and --config the settings are kept; document frequencies are counted again.
    """
    from neardup.index.local.files import built_beside, check_new_folder
    from neardup.index.rebuild import reindex as again

    chosen = config_of(config, method, threshold, radius, store)
    if sources:
        check_new_folder(Path(target), "a new index needs a new folder")
        if chosen is None:
            with nd.Index(path, mode="read") as found:
                chosen = found.settings
        reader = nd.read(list(sources), **reading_of(given))
        fits = chosen.idf is not None
        sample = (d.text for batch in stream(reader, html, {}, threads) for d in batch) if fits else None
        count, unread = 0, dict[str, int]()
        with built_beside(target) as folder:
            with nd.Index(folder, chosen, store=store, sample=sample, threads=threads) as made:
                for batch in stream(reader, html, unread, threads):
                    count += len(made.seen(accepted(batch, unread)))
            check_read(reader, given)
        for reason, many in sorted(unread.items()):
            click.echo(f"neardup: {many:,} could not be read: {printable(reason)}", err=True)
    else:
        with nd.Index(path, mode="read") as found:
            count = again(found, target, chosen, store=store, threads=threads)
    say(as_json, {"documents": count}, f"{counted(count, 'document')} in {target}")


@click.command()
@folder
@click.argument("target")
@click.option(
    "--key", type=click.Path(exists=True, dir_okay=False), help="The key file, if the settings are damaged."
)
@as_json
def recover(path: str, target: str, key: str | None, as_json: bool) -> None:
    """Save what can still be read of a damaged index into a new one, TARGET."""
    from neardup.index.rebuild import recover_index

    count, lost = recover_index(path, target, key)
    say(
        as_json,
        {"documents": count, "lost": lost},
        f"{counted(count, 'document')} saved in {target}, {'an unknown number' if lost is None else f'{lost:,}'} lost",
    )
