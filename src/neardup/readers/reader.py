"""read(): documents out of anything, as a stream of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from os import PathLike, fspath
from typing import Any, TypeAlias, TypeGuard

from neardup.errors import ConfigError, DataError
from neardup.readers.account import Account, CountedRejects
from neardup.readers.ahead import Ahead, Work
from neardup.readers.batch import Batch
from neardup.readers.counted_file import counted_file
from neardup.readers.document import Document
from neardup.readers.file_digest import FileDigest, digest_file
from neardup.readers.interface import Opened, Terms
from neardup.readers.jsonl_blocks import jsonl_blocks
from neardup.readers.layout import Layout, Shaping, Text
from neardup.readers.limits import Limits
from neardup.readers.object_types import Objects
from neardup.readers.options import ReadOptions, given_options
from neardup.readers.rejects import Rejects
from neardup.readers.sources import Source, find_sources
from neardup.readers.text_block import TextBlock
from neardup.readers.unclear import Unclear
from neardup.values.checks import checked, checked_methods
from neardup.values.wording import counted

__all__ = ["Places", "Reader", "open_file", "read", "read_again", "text_columns"]


# What opens files of each format. A reader is imported when the first file of its format is read.
_OPEN = {
    "jsonl": "neardup.readers.jsonl:open_jsonl",
    "csv": "neardup.readers.csv:open_delimited",
    "tsv": "neardup.readers.csv:open_delimited",
    "parquet": "neardup.readers.parquet:open_parquet",
    "arrow": "neardup.readers.parquet:open_arrow",
    "text": "neardup.readers.text_files:open_page",
    "lines": "neardup.readers.text_lines:open_lines",
    "html": "neardup.readers.text_files:open_page",
    "warc": "neardup.readers.warc:open_warc",
    "mbox": "neardup.readers.mbox:open_mbox",
    "npy": "neardup.readers.npy:open_npy",
}
# Paths, globs, folders or URLs of files.
Places: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
_BATCH_CHARACTERS = 32 << 20


def open_file(source: Source, terms: Terms) -> Opened:
    """The rows of a file, by the reader of its format."""
    return _opener(source.format)(source, terms)


@cache
def _opener(format: str) -> Callable[[Source, Terms], Opened]:
    module, _, name = _OPEN[format].partition(":")
    found: Callable[[Source, Terms], Opened] = getattr(import_module(module), name)
    return found


@checked_methods
class Reader:
    """What `read` gives: iterate it for batches, as often as the source allows; each time it starts again.

    `account` is that of the last or current pass: files found, read and skipped, rows read and rejected; before the
    first pass, of the files. `rejects` holds the rejections. With `digesting` set, `digests` has the digest of each
    file read to its end, by name; with `sha256`, the SHA-256 too. With `keep_lines` set, batches have the lines that
    documents were read from, if their format is one of lines. `bytes_read` says how much of the files' `bytes_total` it
    has taken in, compressed as they are; of Parquet and Arrow files, only whole ones count.

    >>> import neardup as nd
    >>> reader = nd.read([{"id": "a", "text": "some words"}, {"id": "b", "text": None}])
    >>> [document.id for document in reader.documents()], reader.account.documents
    (['a', 'b'], 2)
    """

    @checked
    def __init__(
        self,
        source: Places | Objects | None,
        terms: Terms,
        files: list[Source] | None,
        sink: str | PathLike[str] | Rejects | None,
    ) -> None:
        self._source, self._terms, self._sink = source, terms, sink
        self.files = files
        self.rejects = terms.rejects
        self.account = terms.account
        self.bytes_read = 0
        self.digesting = self.sha256 = False
        self.keep_lines = False
        self.digests: dict[str, FileDigest] = {}
        self.bytes_total = sum(file.size or 0 for file in files or ())
        self._before: Layout | None = None

    def __repr__(self) -> str:
        if self.files is None:
            return f"<Reader of a {type(self._source).__name__}>"
        names = ", ".join(file.name for file in self.files[:2]) + (", ..." if len(self.files) > 2 else "")
        return f"<Reader of {counted(len(self.files), 'file')}: {names}>"

    def only(
        self, files: list[Source], before: Layout | None = None, rejects: Rejects | None = None
    ) -> Reader:
        """A reader of some of the files, whose account and `rejects` are of these alone. `before` is the layout of the
        files read before them, which is used if their own rows do not decide one."""
        if not all(isinstance(file, Source) for file in files):
            raise DataError("files must be files of this reader")
        account = Account(found=len(files), read=len(files))
        reader = Reader(self._source, replace(self._terms, account=account), files, rejects)
        reader._before = before
        return reader

    def with_rejects(self, rejects: Rejects) -> Reader:
        """A reader of the same files that adds what it rejects to `rejects`."""
        return Reader(self._source, self._terms, self.files, rejects)

    def show_vectors(self, column: str) -> None:
        """Lists of numbers in this column may be shown as text. In any other text column such a row is rejected."""
        self._terms = replace(self._terms, vectors=column)

    @property
    def rejects_path(self) -> str | None:
        """The file that lists the rejected rows, if one was named."""
        return None if self._sink is None or isinstance(self._sink, Rejects) else fspath(self._sink)

    @property
    def source(self) -> Source:
        """The file of a reader that has exactly one."""
        assert self.files is not None
        (file,) = self.files
        return file

    def documents(self) -> Iterator[Document]:
        """The documents one by one."""
        for batch in self:
            yield from batch

    def __iter__(self) -> Iterator[Batch]:
        return self._pass(self._batches)

    def blocks(self, work: Work | None = None) -> Iterator[Batch | TextBlock]:
        """The same documents; those of JSONL files as columns of ids and texts without the rest, which is several
        times faster. `work` is done on these while they are read, and each block has what came of it."""
        return self._pass(partial(self._blocks, work=work))

    def _pass(self, run: Callable[[Terms], Iterator[Any]]) -> Iterator[Any]:
        shared = isinstance(self._sink, Rejects)
        sink = self._sink if isinstance(self._sink, Rejects) else Rejects(self._sink)
        self.rejects, self.account = sink, self._terms.account.of_files()
        terms = replace(
            self._terms,
            rejects=CountedRejects(self.account, sink),
            account=self.account,
            raw={} if self.keep_lines else None,
        )
        with nullcontext() if shared else sink:
            for batch in run(terms):
                self.account.documents += len(batch)
                yield batch
            self.account.settle()
            sink.skipped.update(self.account.skipped)

    def _blocks(self, terms: Terms, work: Work | None) -> Iterator[Batch | TextBlock]:
        if self.files is None or any(file.format != "jsonl" for file in self.files):
            yield from self._batches(terms)
            return
        self.bytes_read = before = 0
        unclear = Unclear(len(self.files))
        ahead = Ahead(work, self._before)
        try:
            for file in self.files:
                counted = replace(file, open=partial(counted_file, file, self))
                yield from unclear.passed(jsonl_blocks(counted, terms, ahead), file, terms)
                before += file.size or 0
                self.bytes_read = before
            yield from ahead.drain()
        finally:
            ahead.close()
        unclear.settle(self.account)

    def _batches(self, terms: Terms) -> Iterator[Batch]:
        documents: list[Document] = []
        files: list[str] = []
        rows: list[int] = []
        lines: list[bytes | None] | None = None if terms.raw is None else []
        layout = self._before
        size, most = 0, min(_BATCH_CHARACTERS, terms.limits.line_bytes // 2)
        for shaping, row, document in self._documents(terms):
            assert shaping.layout is not None
            full = len(documents) == terms.batch or size > most
            if documents and (full or (shaping.layout is not layout and shaping.layout != layout)):
                assert layout is not None
                yield Batch(documents, files, rows, layout, lines)
                documents, files, rows, size = [], [], [], 0
                lines = None if terms.raw is None else []
            layout = shaping.layout
            documents.append(document)
            files.append(shaping.name)
            rows.append(row)
            if lines is not None and terms.raw is not None:
                lines.append(terms.raw.pop(row, None))
            size += len(document.text)
        if documents:
            assert layout is not None
            yield Batch(documents, files, rows, layout, lines)

    def _documents(self, terms: Terms) -> Iterator[tuple[Shaping, int, Document]]:
        """The documents, each with its row and the shaping it came from."""
        if self.files is None:
            from neardup.readers.tables import NAME, open_object  # not for files

            shaping = _shaping(open_object(self._source, terms), NAME, terms, missing_is_null=True)
            shaping.fallback = self._before
            for row, document in shaping:
                yield shaping, row, document
            return
        self.bytes_read = before = 0
        layout = self._before
        unclear = Unclear(len(self.files))
        for file in self.files:
            for shaping, row, document in unclear.passed(self._of_file(file, terms, layout), file, terms):
                layout = shaping.layout
                yield shaping, row, document
            before += file.size or 0
            self.bytes_read = before
        unclear.settle(self.account)

    def _of_file(
        self, file: Source, terms: Terms, before: Layout | None
    ) -> Iterator[tuple[Shaping, int, Document]]:
        if file.format not in ("parquet", "arrow"):  # those need a real file
            file = replace(file, open=partial(counted_file, file, self))
        elif self.digesting:
            with file.open() as whole:
                self.digests[file.name] = digest_file(whole, self.sha256)
        shaping = _shaping(open_file(file, terms), file.name, terms)
        shaping.fallback = before
        shaping.raw = terms.raw
        for row, document in shaping:
            yield shaping, row, document


def _shaping(opened: Opened, name: str, terms: Terms, missing_is_null: bool = False) -> Shaping:
    return Shaping(
        opened.rows,
        name,
        terms.text,
        terms.id,
        terms.columns,
        terms.limits,
        terms.rejects,
        opened.layout,
        account=terms.account,
        missing_is_null=missing_is_null,
        vectors=terms.vectors,
    )


@checked
def read(
    source: Places | Objects,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    ext: str | Sequence[str] = (),
    hidden: bool = False,
    no_ignore: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    limits: Limits | None = None,
    rejects: str | PathLike[str] | Rejects | None = None,
    batch: int = 1000,
) -> Reader:
    """Documents from files, or from a table in memory, as a stream of batches; never all at once.

    `source` is a path, glob, folder or URL, or several of them, or "-" for standard input; or a pandas, polars, pyarrow
    or Hugging Face table, or an iterable of mappings or Documents. Files may be JSONL, JSON, CSV, TSV, Parquet, Arrow,
    text, HTML, WARC or mbox (by their names, or `format`, or else by what they hold), compressed with gzip, bzip2, xz
    or zstd (by their bytes); they are read in the order of their names. `text` and `id` name columns that are not
    obvious; several text columns are joined by a blank line. The others end up in `meta`, or only those in `columns`.
    Ids that are missing are made of file and row.

    Of folders and globs, hidden files are left out unless `hidden`, and the folders of version control, virtual
    environments and tools unless `no_ignore`; `include`, `exclude` (patterns) and `ext` (endings) choose among the
    rest. `encoding` and `delimiter` are detected unless they are given. `Reader.account` counts everything.

    What cannot be used is written to `rejects`, a path or a Rejects, and counted there; reading continues. A batch
    holds at most `batch` documents, fewer when they are long.

    limits   the largest sizes that are read, in bytes; see Limits
    returns  a Reader, which can be iterated again
    raises   DataError if a file does not exist, MissingExtra if a format needs a package that is not installed

    >>> import neardup as nd
    >>> for batch in nd.read([{"url": "https://example.org/", "body": "some words"}], text="body", id="url"):
    ...     print(batch[0].id, len(batch))
    https://example.org/ 1
    """
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise ConfigError(f"batch must be a whole number of at least 1, not {batch!r}")
    if isinstance(columns, str):
        raise ConfigError(f"columns must be a list of names; write columns=[{columns!r}]")
    sink = rejects if isinstance(rejects, Rejects) else Rejects()
    chosen = frozenset(columns) if columns is not None else None
    options = ReadOptions(**given_options(include, exclude, ext, hidden, no_ignore, encoding, delimiter))
    terms = Terms(limits or Limits(), sink, text_columns(text), id, chosen, batch, options)
    files: list[Source] | None = None
    if _names_files(source):
        files = find_sources(source, format, options, terms.account)
    elif format is not None:
        raise ConfigError("format= is for files; this source is not a path")
    return Reader(source, terms, files, rejects)


def read_again(
    path: str,
    name: str,
    format: str,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    limits: Limits | None = None,
    before: Layout | None = None,
) -> Reader:
    """One file of an earlier `read` again, under the name it had there, so that made ids are the same. `before` is the
    layout of the files read before it, which is used if its own rows do not decide one."""
    options = ReadOptions(encoding=encoding, delimiter=delimiter)
    terms = Terms(limits or Limits(), Rejects(), text_columns(text), id, None, 1000, options)
    (source,) = find_sources(path, format, options, terms.account)
    reader = Reader(None, terms, [replace(source, name=name)], None)
    reader._before = before
    return reader


def text_columns(text: str | Sequence[str] | None) -> Text:
    """One name as it is, several as a tuple."""
    if text is None or isinstance(text, str):
        return text
    names = tuple(text)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise ConfigError(f"text is the name of a column, or a list of different names, not {list(names)!r}")
    return names if len(names) > 1 else names[0]


def _names_files(source: Places | Objects) -> TypeGuard[Places]:
    if isinstance(source, str | PathLike):
        return True
    if not isinstance(source, list | tuple | set | frozenset):
        return False
    return all(isinstance(place, str | PathLike) for place in source)
