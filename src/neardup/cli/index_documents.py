"""`neardup index ...`: documents in and out of a live index."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.cli.index_options import (
    access,
    as_json,
    config_of,
    existing,
    folder,
    making,
    nearness,
    shown,
    shown_id,
    threads,
)
from neardup.cli.inputs import check_read, read_text, reading_of
from neardup.cli.options import page_options
from neardup.values.wording import counted, printable

__all__ = ["cluster", "create", "forget", "get", "remove", "search"]


@click.command()
@folder
@making
@click.option("--sample", "samples", multiple=True, help="Files to fit document frequencies on (simhash).")
@page_options
@access
@threads
@as_json
def create(
    path: str, config: str | None, method: str | None, threshold: float | None, radius: int | None, store: Any,
    samples: tuple[str, ...], html: Any, access: Any, threads: int, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Make a new, empty index. `index add` does so too, with the usual settings."""
    sample = None
    if samples:
        sample = _texts(nd.read(list(samples), **reading_of(given)), html, threads, given)
    chosen = config_of(config, method, threshold, radius, store)
    with contextlib.suppress(FileNotFoundError):
        existing(path)
        raise nd.DataError(f"{shown(path)}: there is an index already")
    with nd.Index(path, chosen, store=store, sample=sample, threads=threads, access=access) as made:
        facts = {"index": str(made.path), "scheme": made.scheme, "store": made.store}
        click.echo(json.dumps(facts) if as_json else f"{made.path}: a new index\n  {made.scheme}")


def _texts(reader: nd.Reader, html: Any, threads: int, given: Mapping[str, Any]) -> Iterator[str]:
    for batch in stream(reader, html, {}, threads):
        yield from (document.text for document in batch)
    check_read(reader, given)


@click.command()
@folder
@click.argument("files", nargs=-1, required=True)
@click.option("--first", is_flag=True, help="Print at most one hit for each file.")
@click.option(
    "--html",
    type=click.Choice(["main", "whole", "none"]),
    default="main",
    show_default=True,
    help="Which part of a file named .html is compared.",
)
@threads
@as_json
def search(path: str, files: tuple[str, ...], first: bool, html: Any, threads: int, as_json: bool) -> None:
    """Find the documents near each of the text or HTML FILES (- is standard input); nothing is remembered."""
    texts = [_query(name, html) for name in files]
    with nd.Index(path, mode="read", threads=threads) as found:
        for name, hits in zip(files, found.search(texts, mode="first" if first else "all"), strict=True):
            if as_json:
                click.echo(
                    json.dumps({"query": name, "hits": [hit._asdict() for hit in hits]}, ensure_ascii=False)
                )
                continue
            click.echo(f"{printable(name)}: " + (f"{len(hits)} near" if hits else "nothing near"))
            for hit in hits:
                click.echo(f"  {shown_id(hit.id)}  {nearness(hit)}")


def _query(name: str, html: Any) -> str:
    """The text of a file, of a page what `add` would take of it."""
    data = read_text(name)
    if html == "none" or not name.lower().endswith((".html", ".htm", ".xhtml")):
        return data.decode("utf-8", "replace")
    from neardup.web import HtmlExtractor

    with HtmlExtractor(method=html) as extractor:
        found = extractor.extract([data])
    if found.texts[0] is None:
        raise nd.DataError(f"{name}: this page gives no text ({', '.join(found.counts)})")
    return found.texts[0]


@click.command()
@folder
@click.argument("ids", nargs=-1, required=True)
@as_json
def get(path: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Print what is stored of documents. Exit code 1 if one of the IDS is not there."""
    missing = 0
    with nd.Index(path, mode="read") as found:
        for id, entry in zip(ids, found.get_all(ids), strict=True):
            if entry is None:
                missing += 1
                click.echo(f"neardup: {found.path}: there is no document {shown_id(id)}", err=True)
            elif as_json:
                print_ = None if entry.fingerprint is None else entry.fingerprint.hex()
                click.echo(json.dumps(entry._asdict() | {"fingerprint": print_}, ensure_ascii=False))
            else:
                added = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(entry.added))
                click.echo(
                    f"{shown_id(entry.id)}  added {added} UTC"
                    + ("" if entry.keeper == id else f", follows {shown_id(entry.keeper)}")
                )
                for name, value in entry.meta.items():
                    click.echo(f"  {printable(name)}: {printable(str(value))}")
                if entry.text is not None:
                    click.echo(f"  {printable(' '.join(entry.text[:2000].split()), 300)}")
    if missing:
        sys.exit(1)


@click.command()
@folder
@click.argument("id_", metavar="ID")
@as_json
def cluster(path: str, id_: str, as_json: bool) -> None:
    """Print the cluster of a document, its keeper first."""
    with nd.Index(path, mode="read") as found:
        group = found.cluster(id_)
    if group is None:
        raise nd.DataError(f"{found.path}: there is no document {id_}")
    if as_json:
        members = [member._asdict() for member in group.members]
        click.echo(json.dumps({"keeper": group.keeper, "members": members}, ensure_ascii=False))
        return
    for member in group.members:
        role = "keeper " if member.id == group.keeper else "follows"
        click.echo(f"{role}  {shown_id(member.id)}  {nearness(member)}".rstrip())


@click.command()
@folder
@click.argument("ids", nargs=-1, required=True)
@as_json
def remove(path: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Forget documents."""
    existing(path)
    with nd.Index(path, mode="write") as found:
        count = found.remove(ids)
    click.echo(json.dumps({"removed": count}) if as_json else f"{count:,} of {len(ids):,} removed")


@click.command()
@folder
@click.option(
    "--before", help="Forget what was added before this time: 2026-01-31, or 2026-01-31T12:00:00+00:00."
)
@click.option("--expired", is_flag=True, help="Forget expired documents.")
@as_json
def forget(path: str, before: str | None, expired: bool, as_json: bool) -> None:
    """Forget old documents; clusters whose keepers are removed get new ones."""
    from datetime import UTC, datetime

    if (before is None) != expired:
        raise click.UsageError("give either --before or --expired")
    moment = None
    if before is not None:
        try:
            moment = datetime.fromisoformat(before)
        except ValueError:
            raise click.BadParameter(
                f"{before!r} is not a time such as 2026-01-31", param_hint="--before"
            ) from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    existing(path)
    with nd.Index(path, mode="write") as found:
        count = found.expire() if moment is None else found.forget(moment.timestamp())
    click.echo(json.dumps({"removed": count}) if as_json else f"{counted(count, 'document')} forgotten")
