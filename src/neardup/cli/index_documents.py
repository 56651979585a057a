"""`neardup index ...`: documents in and out of a live index."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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
    reading,
    shown,
    threads,
)
from neardup.cli.inputs import read_text
from neardup.values.wording import counted, printable

__all__ = ["add", "cluster", "create", "forget", "get", "remove", "search", "seen"]


@click.command()
@folder
@making
@click.option("--sample", "samples", multiple=True, help="Files to fit document frequencies on (simhash).")
@reading
@access
@threads
@as_json
def create(
    path: str, config: str | None, method: str | None, threshold: float | None, radius: int | None, store: Any,
    samples: tuple[str, ...], text: str | None, id_: str | None, format_: str | None, html: Any, access: Any,
    threads: int, as_json: bool,
) -> None:  # fmt: skip
    """Make a new, empty index. `index add` does so too, with the usual settings."""
    sample = None
    if samples:
        reader = nd.read(list(samples), text=text, id=id_, format=format_)
        sample = (document.text for batch in stream(reader, html, {}, threads) for document in batch)
    chosen = config_of(config, method, threshold, radius, store)
    with contextlib.suppress(FileNotFoundError):
        existing(path)
        raise nd.DataError(f"{shown(path)}: there is an index already")
    with nd.Index(path, chosen, store=store, sample=sample, threads=threads, access=access) as made:
        facts = {"index": str(made.path), "scheme": made.scheme, "store": made.store}
        click.echo(json.dumps(facts) if as_json else f"{made.path}: a new index\n  {made.scheme}")


def _put(
    path: str,
    inputs: tuple[str, ...],
    ttl: float | None,
    durability: Any,
    threads: int,
    options: dict[str, Any],
    done: _Done,
) -> Iterator[Any]:
    """Answers batch by batch; what has been done is complete at the end."""
    html = options.pop("html")
    reader = nd.read(list(inputs), **options)
    with nd.Index(path, mode="write", durability=durability, ttl=ttl, threads=threads) as target:
        before = len(target)
        for batch in stream(reader, html, done.unread, threads):
            answers = target.seen(accepted(batch, done.unread))
            done.documents += len(answers)
            done.new += sum(answer.new for answer in answers)
            yield answers
        done.replaced = before + done.documents - len(target)


@dataclass
class _Done:
    """What became of the documents. `replaced` counts those that took the place of one with the same id."""

    documents: int = 0
    new: int = 0
    replaced: int = 0
    unread: dict[str, int] = field(default_factory=dict)

    def tell(self, to_error: bool) -> None:
        if self.replaced:
            click.echo(f"  {self.replaced:,} took the place of a document with the same id", err=to_error)
        for reason, many in sorted(self.unread.items()):
            click.echo(f"  {many:,} could not be read: {printable(reason)}", err=to_error)


def _putting(command: Callable[[Iterator[Any], _Done, bool], None]) -> click.Command:
    """A command that puts documents into an index: it is given the answers as they come, what was done, and whether to
    say it in JSON."""

    @folder
    @click.argument("inputs", nargs=-1, required=True)
    @reading
    @click.option("--ttl", type=float, help="Seconds after which these documents are forgotten.")
    @click.option("--durability", type=click.Choice(["normal", "full"]), default="normal", show_default=True)
    @threads
    @as_json
    def run(
        path: str, inputs: tuple[str, ...], text: str | None, id_: str | None, format_: str | None, html: Any,
        ttl: float | None, durability: str, threads: int, as_json: bool,
    ) -> None:  # fmt: skip
        options = {"text": text, "id": id_, "format": format_, "html": html}
        done = _Done()
        command(_put(path, inputs, ttl, durability, threads, options, done), done, as_json)

    return click.command(command.__name__, help=command.__doc__)(run)


@_putting
def add(batches: Iterator[Any], done: _Done, as_json: bool) -> None:
    """Add the documents in INPUTS (files, folders, globs) to an index; it is made if it is not there.

    A document takes the place of the one with its id. Without a column of ids, it is named by its file and row, and a
    file by its path in the folder given.
    """
    start = time.perf_counter()
    for _ in batches:
        pass
    duplicates = done.documents - done.new
    if as_json:
        facts: dict[str, Any] = {"documents": done.documents, "new": done.new, "duplicates": duplicates}
        facts |= {"replaced": done.replaced, "rejected": done.unread}
        click.echo(json.dumps(facts | {"seconds": round(time.perf_counter() - start, 3)}))
        return
    click.echo(
        f"{counted(done.documents, 'document')} added: {done.new:,} new, {counted(duplicates, 'duplicate')}"
    )
    done.tell(to_error=False)


@_putting
def seen(batches: Iterator[Any], done: _Done, as_json: bool) -> None:
    """Say of each document in INPUTS whether it is new, and remember it."""
    for answers in batches:
        for answer in answers:
            if as_json:
                click.echo(json.dumps(answer._asdict(), ensure_ascii=False))
            elif answer.new:
                click.echo(f"new        {_name(answer.id)}")
            else:
                one, other = _name(answer.id), _name(answer.duplicate_of)
                click.echo(f"duplicate  {one}  of {other}  {_near(answer)}")
    done.tell(to_error=True)


def _name(id: str) -> str:
    """An id, which may be anything that a page was called, fit for a terminal and as long as it is."""
    from neardup.index.inputs import LONGEST_ID

    return printable(id, LONGEST_ID)


def _near(found: Any) -> str:
    said = [f"similarity {found.similarity:.3f}"] if found.similarity is not None else []
    return ", ".join(said + ([f"distance {found.distance}"] if found.distance is not None else []))


@click.command()
@folder
@click.argument("files", nargs=-1, required=True)
@click.option("--first", is_flag=True, help="One hit at most for each.")
@click.option(
    "--html",
    type=click.Choice(["main", "whole", "none"]),
    default="main",
    show_default=True,
    help="What of a file named .html counts.",
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
                click.echo(f"  {_name(hit.id)}  {_near(hit)}")


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
                click.echo(f"neardup: {found.path}: there is no document {_name(id)}", err=True)
            elif as_json:
                print_ = None if entry.fingerprint is None else entry.fingerprint.hex()
                click.echo(json.dumps(entry._asdict() | {"fingerprint": print_}, ensure_ascii=False))
            else:
                added = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(entry.added))
                click.echo(
                    f"{_name(entry.id)}  added {added} UTC"
                    + ("" if entry.keeper == id else f", follows {_name(entry.keeper)}")
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
        click.echo(
            f"{'keeper ' if member.id == group.keeper else 'follows'}  {_name(member.id)}  {_near(member)}".rstrip()
        )


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
@click.option("--expired", is_flag=True, help="Forget what has outlived its time to live.")
@as_json
def forget(path: str, before: str | None, expired: bool, as_json: bool) -> None:
    """Forget old documents; clusters whose keepers go get new ones."""
    from datetime import UTC, datetime

    if (before is None) != expired:
        raise click.UsageError("give either --before or --expired")
    moment = None
    if before is not None:
        try:
            moment = datetime.fromisoformat(before)
        except ValueError:
            raise click.BadParameter(
                f"{before!r} is no time such as 2026-01-31", param_hint="--before"
            ) from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    existing(path)
    with nd.Index(path, mode="write") as found:
        count = found.expire() if moment is None else found.forget(moment.timestamp())
    click.echo(json.dumps({"removed": count}) if as_json else f"{counted(count, 'document')} forgotten")
