"""`neardup index add` and `seen`: streams of documents into a live index, and what is new of them out again."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

import neardup as nd
from neardup.cli.documents import StreamedDocument, stream_with_lines
from neardup.cli.index_options import accepted, as_json, folder, nearness, shown_id, threads
from neardup.cli.inputs import check_read, reading_of
from neardup.cli.options import durability_option, page_options
from neardup.cli.outputs import (
    WritingCommand,
    may_overwrite,
    out_format_option,
    output_option,
    overwrite_option,
)
from neardup.readers.account import account_sums
from neardup.readers.writers import format_for
from neardup.storage.atomic_file import AtomicFile
from neardup.storage.output import is_stream
from neardup.values.wording import counted, printable

__all__ = ["add", "seen"]

_STREAM = re.compile(r"stdin-[0-9TZ]{16}-[0-9a-f]{6}")


def _put(
    path: str,
    inputs: tuple[str, ...],
    ttl: float | None,
    durability: Any,
    threads: int,
    options: dict[str, Any],
    done: _Done,
) -> Iterator[list[tuple[Any, StreamedDocument]]]:
    """Put documents into an index; yields the answers, each with its document, batch by batch. `done` is complete at
    the end."""
    html = options.pop("html")
    reader = done.reader = nd.read(list(inputs), **reading_of(options))
    stream = UnfinishedStream(path)
    if reader.files is not None:
        reader.files = [_named(file, stream) for file in reader.files]
    done.formats = {file.format for file in reader.files or ()}
    with nd.Index(path, mode="write", durability=durability, ttl=ttl, threads=threads) as target:
        stream.begin()
        done.stream = stream
        before = len(target)
        for batch in stream_with_lines(reader, html, done.unread, threads):
            taken = [one for one in batch if accepted([one.document], done.unread)]
            answers = target.seen([one.document for one in taken])
            done.documents += len(answers)
            done.new += sum(answer.new for answer in answers)
            yield list(zip(answers, taken, strict=True))
        done.replaced = before + done.documents - len(target)
        done.complete = True


def _named(file: Any, stream: UnfinishedStream) -> Any:
    """Rows of standard input that have no id get one that no other stream uses; otherwise the rows of each stream
    would replace those of the one before."""
    return replace(file, name=stream.name) if file.path == "-" else file


class UnfinishedStream:
    """The name of a stream from standard input, which is in the ids of its rows. It is kept in the index until all that
    is new of the stream is written. If the command is killed before that, the next stream has the same name: its rows
    replace those of the killed one, and are new again. Otherwise the index would remember what no output has."""

    def __init__(self, path: str) -> None:
        self._mark = None if "://" in path else Path(path) / "stream"
        self._used = False
        self._name = ""
        if self._mark is not None and self._mark.is_file():
            self._name = self._mark.read_text("ascii", "replace")[:100]

    @property
    def name(self) -> str:
        self._used = True
        if not _STREAM.fullmatch(self._name):
            moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            self._name = f"stdin-{moment}-{secrets.token_hex(3)}"
        return self._name

    def begin(self) -> None:
        """Keep the name, if it is used, in an index that exists."""
        if self._used and self._mark is not None:
            with AtomicFile(self._mark) as file:
                file.write(self._name.encode())
                file.commit()

    def finish(self) -> None:
        """Forget the name: everything that the index remembers is written."""
        if self._used and self._mark is not None:
            self._mark.unlink(missing_ok=True)


@dataclass
class _Done:
    """What became of the documents. `replaced` counts those that replaced one with the same id; `formats` are those of
    the inputs."""

    documents: int = 0
    new: int = 0
    replaced: int = 0
    unread: dict[str, int] = field(default_factory=dict)
    formats: set[str] = field(default_factory=set)
    reader: nd.Reader | None = None
    stream: UnfinishedStream | None = None
    complete: bool = False

    @property
    def nothing(self) -> bool:
        """Whether there were rows, and none of them could be read."""
        assert self.reader is not None
        return self.complete and bool(self.reader.account.rows) and not self.reader.account.documents

    def finish(self) -> None:
        """All that was put into the index is written or printed."""
        if self.stream is not None:
            self.stream.finish()

    def show(self, to_error: bool) -> None:
        if self.replaced:
            click.echo(f"  {self.replaced:,} replaced a document with the same id", err=to_error)
        for reason, many in sorted(self.unread.items()):
            click.echo(f"  {many:,} could not be read: {printable(reason)}", err=to_error)
        account = self.reader.account if self.reader is not None else None
        if account is not None and account.skipped:
            for line in account_sums(account.to_json()):
                click.echo(f"  {line}", err=to_error)


def _putting(*options: Callable[[Any], Any]) -> Callable[[Callable[..., None]], click.Command]:
    """A command that puts documents into an index: it gets the answers as they come, what was done, whether to print
    JSON, and its own options."""

    def made(command: Callable[..., None]) -> click.Command:
        @folder
        @click.argument("inputs", nargs=-1, required=True)
        @page_options
        @click.option("--ttl", type=float, help="Seconds after which these documents are forgotten.")
        @durability_option
        @threads
        @as_json
        def run(
            path: str, inputs: tuple[str, ...], ttl: float | None, durability: str, threads: int, as_json: bool,
            **given: Any,
        ) -> None:  # fmt: skip
            done, own = _Done(), {name: given.pop(name) for name in ("out", "out_format") if name in given}
            command(_put(path, inputs, ttl, durability, threads, given, done), done, as_json, **own)
            assert done.reader is not None
            check_read(done.reader, given)  # what was read is in the index, and written

        wrapped: Any = run
        for option in reversed(options):
            wrapped = option(wrapped)
        return click.command(command.__name__, cls=WritingCommand, help=command.__doc__)(wrapped)

    return made


@_putting()
def add(batches: Iterator[Any], done: _Done, as_json: bool) -> None:
    """Add the documents in INPUTS (files, folders, globs) to an index; it is made if it is not there.

    A document takes the place of the one with its id. Without a column of ids, it is named by its file and row, and a
    file by its path in the folder given.
    """
    start = time.perf_counter()
    for _ in batches:
        pass
    done.finish()
    duplicates = done.documents - done.new
    if as_json:
        facts: dict[str, Any] = {"documents": done.documents, "new": done.new, "duplicates": duplicates}
        facts |= {"replaced": done.replaced, "rejected": done.unread}
        click.echo(json.dumps(facts | {"seconds": round(time.perf_counter() - start, 3)}))
        return
    click.echo(
        f"{counted(done.documents, 'document')} added: {done.new:,} new, {counted(duplicates, 'duplicate')}"
    )
    done.show(to_error=False)


@_putting(
    output_option(
        "--out", "-o", help="Write the new documents here, their lines unchanged; - is standard output."
    ),
    out_format_option,
    overwrite_option,
)
def seen(
    batches: Iterator[list[tuple[Any, StreamedDocument]]],
    done: _Done,
    as_json: bool,
    out: str | None,
    out_format: str | None,
) -> None:
    """Print for each document in INPUTS whether it is new, and remember it.

    With --out, only the new documents are written, so that a stream is filtered: zcat today.jsonl.gz | neardup index
    seen INDEX - --out - > new.jsonl
    """
    if out is not None:
        _filter(batches, done, as_json, out, out_format)
        return
    for answers in batches:
        for answer, _ in answers:
            if as_json:
                click.echo(json.dumps(answer._asdict(), ensure_ascii=False))
            elif answer.new:
                click.echo(f"new        {shown_id(answer.id)}")
            else:
                one, other = shown_id(answer.id), shown_id(answer.duplicate_of)
                click.echo(f"duplicate  {one}  of {other}  {nearness(answer)}")
    done.finish()
    done.show(to_error=True)


def _filter(
    batches: Iterator[list[tuple[Any, StreamedDocument]]],
    done: _Done,
    as_json: bool,
    out: str,
    out_format: str | None,
) -> None:
    """Write the new documents. If something fails on the way, those that the index remembers already are still
    written: they would not be new a second time."""
    format = format_for(out, out_format)[0]  # an unknown ending is an error before anything is remembered
    writer: nd.readers.Writer | None = None
    try:
        for answers in batches:
            for answer, one in answers:
                if not answer.new:
                    continue
                if writer is None:
                    if out_format is None and is_stream(out) and done.formats <= {"csv", "tsv", "lines"}:
                        format = one.format
                    writer = nd.readers.open_writer(out, format, like=one.layout, overwrite=may_overwrite())
                writer.write_line(one.original, one.line, one.layout, one.format)
            if writer is not None:
                writer.flush()
    except BrokenPipeError:
        raise
    except BaseException:
        if writer is not None:
            writer.close()
            done.finish()
            click.echo(
                f"neardup: {out} has the {counted(writer.rows, 'new document')} up to the error", err=True
            )
        raise
    if done.nothing:
        return  # the caller says so; an empty file would look like a stream without news
    if writer is None:
        writer = nd.readers.open_writer(out, format, overwrite=may_overwrite())
    writer.close()
    done.finish()
    if as_json:
        facts = {"documents": done.documents, "new": done.new, "out": out, "rejected": done.unread}
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    click.echo(f"{done.new:,} of {counted(done.documents, 'document')} new, written to {out}")
    done.show(to_error=False)
