"""The inputs of a run: files on any Hadoop filesystem, or a DataFrame, always in the same order and pieces."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.readers.account import Account
from neardup.readers.folders import named_files
from neardup.readers.interface import Terms
from neardup.readers.jsonl import decoded
from neardup.readers.layout import Layout, Shaping, find_layout, is_html
from neardup.readers.limits import Limits
from neardup.readers.options import ReadOptions
from neardup.readers.recognise import HEAD, recognise
from neardup.readers.rejects import Rejects
from neardup.readers.sources import format_of, nothing_to_read
from neardup.spark.pieces import PATH, START, ReadRecipe, plain_path
from neardup.spark.ranges import FileRange, ranges_of
from neardup.spark.storage import Listed, file_system, java_path

__all__ = ["File", "Files", "FrameInput", "SparkInput"]

Worker = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_GLOB = re.compile(r"([\\{}\[\]*?])")
_PEEKED = 100
_HEAD = 16 * HEAD  # bytes of a file that may be compressed
_IGNORED = re.compile(r"_(?!metadata|common_metadata)[^=]*$|\.|.*\._COPYING_$")
_AGAINST = "against "  # prefix of the format, in the names of layouts, for files of reference corpora


@dataclass(frozen=True)
class File:
    """One input: its full path, its name relative to the named folder, and size and time, which show a change."""

    path: str
    name: str
    format: str
    size: int
    changed: int


class SparkInput(Protocol):
    """The interface of an input for the stages."""

    @property
    def recipes(self) -> list[ReadRecipe]:
        """How its rows become documents, one recipe for each format."""
        ...

    @property
    def size(self) -> int:
        """Stored bytes; 0 if unknown."""
        ...

    @property
    def keeps_texts(self) -> bool:
        """Whether the run stores texts for later passes instead of reading them again."""
        ...

    def identity(self) -> dict[str, Any]: ...

    def rows(self, recipe: ReadRecipe, session: SparkSession) -> DataFrame:
        """The columns of the recipe, and for each row path and start of its piece."""
        ...


@dataclass(frozen=True)
class Files:
    """Files of JSONL, Parquet, WARC or any other format of the local readers, sorted by name. The first `reference` of
    them belong to reference corpora, which are never changed."""

    files: tuple[File, ...]
    layouts: dict[str, Layout] = field(hash=False)
    fields: tuple[str, ...]
    html: str
    limits: Limits = field(default_factory=Limits)
    reference: int = 0
    account: Account = field(default_factory=Account, compare=False)
    content: str = ""  # a digest of a sample of all files
    split: int = 0  # bytes of a part of a file that workers read themselves; 0: Spark reads them

    @classmethod
    def find(
        cls,
        spark: SparkSession,
        named: Sequence[str],
        config: Config,
        *,
        text: str | None = None,
        id: str | None = None,
        format: str | None = None,
        against: Sequence[str] = (),
    ) -> Files:
        """The files of the given paths, folders or globs; and those of reference corpora."""
        theirs: list[File] = []
        for place in against:
            below = place.rstrip("/").rpartition("/")[2]
            listed = _named(spark, [place], format, Account())
            theirs += [replace(file, name=f"{below}/{file.name}") for file in listed]
        files = _named(spark, named, format, account := Account())
        both = {file.path for file in theirs} & {file.path for file in files}
        both |= {path for path, count in Counter(file.path for file in theirs).items() if count > 1}
        if both:
            raise ConfigError(
                f"{min(both)}: is named twice; a file is an input or one of a corpus to compare against"
            )
        made = cls(
            (*theirs, *files), {}, config.keep.fields, config.html, reference=len(theirs), account=account
        )
        # A reference corpus may have other column names, so it gets its own layout.
        for kind in sorted({made._kind(number) for number in range(len(made.files))}):
            made.layouts[kind] = made._layout(spark, kind, text, id)
        return made

    @classmethod
    def of_run(cls, identity: dict[str, Any]) -> Files:
        """The files of an earlier run."""
        config = Config.from_plain(identity["config"])
        files = tuple(File(*entry) for entry in identity["inputs"])
        layouts = {kind: Layout(text, id, (text,)) for kind, (text, id) in identity["columns"].items()}
        return cls(files, layouts, (), config.html, reference=identity.get("reference", 0))

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def keeps_texts(self) -> bool:
        # Extracting text from pages costs more than storing it.
        return any(recipe.html or recipe.kind == "files" for recipe in self.recipes)

    @property
    def recipes(self) -> list[ReadRecipe]:
        made = []
        for kind, layout in self.layouts.items():
            numbers = {plain_path(f.path): i for i, f in enumerate(self.files) if self._kind(i) == kind}
            kind = kind.removeprefix(_AGAINST)
            page = is_html(layout) or kind in ("html", "warc")
            read_as = {"jsonl": "lines", "parquet": "columns"}.get(kind, "files")
            html = page and self.html != "none"
            tasks: tuple[tuple[FileRange, ...], ...] = ()
            if read_as == "lines":
                tasks = ranges_of(
                    [(self.files[i].path, self.files[i].size) for i in numbers.values()], self.split
                )
            made.append(
                ReadRecipe(
                    read_as, layout.text, layout.id, self.fields, html, kind, numbers, self.limits, tasks
                )
            )
        return made

    def identity(self) -> dict[str, Any]:
        return {
            "inputs": [[f.path, f.name, f.format, f.size, f.changed] for f in self.files],
            "columns": {kind: [layout.text, layout.id] for kind, layout in self.layouts.items()},
            "reference": self.reference,
            "content": self.content,
        }

    def rows(self, recipe: ReadRecipe, session: SparkSession, *, whole: bool = False) -> DataFrame:
        """The rows of the table; with `whole`, all its columns, unchanged."""
        if recipe.tasks:
            return session.range(0, len(recipe.tasks), 1, len(recipe.tasks))
        paths = [_GLOB.sub(r"\\\1", f.path) for f in self.files if plain_path(f.path) in recipe.files]
        where = [F.col("_metadata.file_path").alias(PATH), F.col("_metadata.file_block_start").alias(START)]
        if recipe.kind == "lines":
            value = F.col("value").cast("binary").alias("value")
            return session.read.option("lineSep", "\n").text(paths).select(*where, value)
        if recipe.kind == "columns":
            frame = session.read.option("mergeSchema", "true").parquet(*paths)
            return frame.select(*where, *(["*"] if whole else _columns(frame, recipe)))
        frame = session.read.format("binaryFile").load(paths)
        # Where every worker can open the files itself, it reads them piece by piece; else Spark brings them whole.
        here = all(path.startswith("file:") for path in recipe.files)
        content = F.lit(None).cast("binary").alias("content") if here else F.col("content")
        return frame.select(where[0], F.lit(0).cast("long").alias(START), content)

    def _kind(self, number: int) -> str:
        """The format of a file, with a prefix if it is of a reference corpus."""
        return (_AGAINST if number < self.reference else "") + self.files[number].format

    def _layout(self, spark: SparkSession, kind: str, text: str | None, id: str | None) -> Layout:
        paths = [_GLOB.sub(r"\\\1", f.path) for i, f in enumerate(self.files) if self._kind(i) == kind]
        kind = kind.removeprefix(_AGAINST)
        if kind == "parquet":
            frame = spark.read.option("mergeSchema", "true").parquet(*paths)
            return find_layout(frame.columns, text, id, paths[0])
        if kind != "jsonl":
            return Layout("text", "id", ("id", "text"))
        for path in paths:
            first = spark.read.option("lineSep", "\n").text(path).select(F.col("value").cast("binary"))
            lines = first.limit(_PEEKED).toArrow().column(0).to_pylist()
            if lines:
                lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
            terms = Terms(self.limits, Rejects(), text, id, None, 1000)
            rows = decoded(((i, line, True) for i, line in enumerate(lines, 1)), path, terms)
            shaping = Shaping(rows, path, text, id, None, self.limits, terms.rejects)
            for _ in shaping:
                break
            if shaping.layout is not None:
                return replace(shaping.layout, schema=None)
        return Layout(text or "text", id, (text or "text",))


def _columns(frame: DataFrame, recipe: ReadRecipe) -> list[Any]:
    """The columns text, id and fields of a table, renamed to these names."""
    kinds = {column.name: column.dataType for column in frame.schema.fields}
    for name in (recipe.text, *((recipe.id,) if recipe.id else ()), *recipe.fields):
        if name not in kinds:
            raise ConfigError(f"there is no column {name!r}; the columns are: {', '.join(kinds)}")
    if not isinstance(kinds[recipe.text], T.StringType):
        raise ConfigError(f"the column {recipe.text!r} is {kinds[recipe.text].simpleString()}, not text")
    chosen = [F.col(f"`{recipe.text}`").alias("text")]
    if recipe.id:
        if not isinstance(kinds[recipe.id], T.AtomicType):
            raise ConfigError(f"the column {recipe.id!r} is {kinds[recipe.id].simpleString()}, not an id")
        chosen.append(F.col(f"`{recipe.id}`").cast("string").alias("id"))
    return chosen + [F.col(f"`{name}`") for name in recipe.fields if name not in ("text", "id")]


def _named(spark: SparkSession, named: Sequence[str], format: str | None, account: Account) -> list[File]:
    """The files of the given paths, sorted by name. The account counts each that was found and is not read."""
    found: dict[str, tuple[Listed, str, bool]] = {}
    for place in named:
        for listed, name, below in _listed(spark, place, account):
            if listed.path in found and below:
                account.skip("same file again", name)
            found.setdefault(listed.path, (listed, name, below))
    twice = {n for n, c in Counter(name for _, name, _ in found.values()).items() if c > 1}
    files = []
    for listed, name, below in found.values():
        kind = format or format_of(listed.path)
        if kind is None:
            kind = _recognised(spark, listed)
            if kind in ("binary", "marker"):
                if not below:
                    raise ConfigError(
                        f"{listed.path}: name and content show no format; give one with --format (in Python format=)"
                    )
                account.skip("empty marker" if kind == "marker" else kind, name)
                continue
        account.take()
        name = listed.path if name in twice else name
        files.append(File(listed.path, name, kind, listed.size, listed.changed))
    if not files:
        raise nothing_to_read(named, account)
    files.sort(key=lambda file: (file.name, file.path))
    return files


def _recognised(spark: SparkSession, listed: Listed) -> str:
    """The format of a file whose name shows none, by its first bytes."""
    name = listed.path.rpartition("/")[2]
    if not listed.size:
        return "marker" if name.startswith("_") and "." not in name else "text"
    system, path = file_system(spark, listed.path)
    stream = system.open(path)
    try:
        head = bytes(stream.readNBytes(_HEAD))
    finally:
        stream.close()
    return recognise(name, io.BytesIO(head))


def _listed(spark: SparkSession, place: str, account: Account) -> Iterator[tuple[Listed, str, bool]]:
    """The files of one path, each with its relative name, and whether it was found by a folder or glob."""
    system, path = file_system(spark, place)
    matches = system.globStatus(path)
    if matches is None or not len(matches):
        raise DataError(f"{place}: there is no such file or folder")
    magic = str(path.toString()) != str(matches[0].getPath().toString()) and _GLOB.search(place) is not None
    plain = re.split(r"[{\[*?]", place)[0].rpartition("/")[0] if magic else ""
    root = str(system.makeQualified(java_path(spark, plain)).toString()) if plain else ""
    found: dict[str, tuple[Listed, bool]] = {}
    for match in matches:
        full = str(match.getPath().toString())
        if not match.isDirectory():
            listed = Listed(full, match.getLen(), match.getModificationTime())
            name = full[len(root) :].lstrip("/") if root else str(match.getPath().getName())
            found[name] = listed, magic
            continue
        every = system.listFiles(match.getPath(), True)
        while every.hasNext():
            status = every.next()
            file = str(status.getPath().toString())
            name = file[len(root or full) :].lstrip("/")
            found[name] = Listed(file, status.getLen(), status.getModificationTime()), True
    for name, why in named_files(found, ReadOptions()):
        listed, below = found[name]
        if why is None and _IGNORED.match(name.rpartition("/")[2]) and listed.size:
            why = "name that Spark does not read"
            if not below:
                raise ConfigError(f"{place}: Spark reads no file whose name begins with _ or .; rename it")
        if why is not None and below:
            account.skip(why, name)
        else:
            yield listed, name, below


@dataclass(frozen=True)
class FrameInput:
    """A DataFrame with a column of ids; documents are ordered by id."""

    frame: DataFrame = field(hash=False)
    text: str
    id: str
    fields: tuple[str, ...] = ()
    html: bool = False
    limits: Limits = field(default_factory=Limits)
    content: str = ""  # a digest of all that is read of it

    @property
    def size(self) -> int:
        return 0

    @property
    def keeps_texts(self) -> bool:
        # Computing a DataFrame again may be expensive, and its rows may then differ.
        return True

    @property
    def recipes(self) -> list[ReadRecipe]:
        return [ReadRecipe("columns", self.text, self.id, self.fields, self.html, "frame", {}, self.limits)]

    @property
    def numeric(self) -> bool:
        """Whether ids are ordered as numbers."""
        return isinstance(self.frame.schema[self.id].dataType, T.IntegralType)

    def identity(self) -> dict[str, Any]:
        return {
            "inputs": [self.frame.schema.simpleString(), sorted(self.frame.inputFiles())],
            "columns": {"frame": [self.text, self.id]},
            "content": self.content,
        }

    def selected(self, recipe: ReadRecipe) -> DataFrame:
        """The columns that are read: text, id and fields."""
        return self.frame.select(*_columns(self.frame, recipe))

    def rows(self, recipe: ReadRecipe, session: SparkSession) -> DataFrame:
        part = F.spark_partition_id().cast("string").alias(PATH)
        return self.frame.select(part, F.lit(0).cast("long").alias(START), *_columns(self.frame, recipe))
