"""dedup(): the whole job as one call, for documents in memory or read from anywhere."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from neardup.config import Config
from neardup.corpus.corpus import Corpus
from neardup.cut import Cut, cut
from neardup.documents import Document
from neardup.errors import ConfigError, DataError
from neardup.features.texts import raw_texts
from neardup.io.blocks import TextBlock
from neardup.io.columns import is_html
from neardup.io.reading import Reader, read
from neardup.keep import Keep
from neardup.pipeline import Room, find
from neardup.preparing import Prepared, needs_corpus, prepare
from neardup.progress import Progress
from neardup.result import Result
from neardup.sharding import Incoming, Sharder
from neardup.sizes import parse_size
from neardup.threads import check_threads

__all__ = ["cut_corpus", "dedup", "incoming", "of_reader"]

_BATCH = 1 << 14


def dedup(
    documents: Any,
    config: Config | None = None,
    *,
    threshold: float | None = None,
    floor: float | None = None,
    recall: float | None = None,
    features: Any = None,
    keep: Any = None,
    memory: int | str | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    threads: int = 1,
) -> Result:
    """Find duplicates and near-duplicates: by default documents that share 0.8 of their word 5-shingles.

    `documents` are texts or Documents in a list, a column of texts, a table, or what `read` gives. Equal words are
    found by digest, near-duplicates by the config's method; every candidate is verified on its features and kept down
    to `floor`; then the best-ranked document of each cluster stays, and every other one is similar to it, not merely to
    a chain that leads there. The named settings change those of the config. Nothing is changed or written.

    Without `memory` all is held; with it, for example "2GB", texts and fingerprints lie in a temporary folder (or in
    `folder`) and the stages keep to it, beside about 100 bytes a document.
    """
    check_threads(threads)
    config = _settled(config or Config(), threshold, floor, recall, features, keep)
    told = progress or Progress()
    room = Room() if memory is None else Room(parse_size(memory))
    with ExitStack() as stack:
        if memory is not None:
            place = stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix="neardup-"))
            room = replace(room, folder=Path(place))
        told.stage("read")
        sharder = Sharder(config, Prepared.untaught(config, threads), folder=room.folder, threads=threads)
        sharder.size = min(sharder.size, max(1 << 20, room.memory // 32))
        source, batches = incoming(documents, config)
        corpus = Corpus(sharder.shards(batches))
        failed = {(file, row) for shard in corpus.shards for file, row, _ in shard.failures}
        prepared = sharder.prepared
        if needs_corpus(config):
            told.stage("fingerprint", len(corpus), "documents")
            prepared = prepare(config, corpus, threads=threads)
            done = 0
            for count in sharder.fingerprint(corpus.shards, prepared):
                told.reached(done := done + count)
        rank = config.keep.rank(corpus.sizes, corpus.sources, corpus.source_names, corpus.scores)
        found = find(corpus, prepared, rank, room=room, progress=told)
        told.stage("cluster")
        result = Result(
            ids=tuple(corpus.ids(np.arange(len(corpus)))),
            cut=cut_corpus(corpus, found, config, config.verify.threshold, rank),
            found=found,
            threshold=config.verify.threshold,
            empty=int((corpus.column("empty") != 0).sum()),
            filtered=int((corpus.column("filtered") != 0).sum()),
            failed=len(failed),
            seconds=told.seconds,
            source=partial(source, failed),
        )
        told.finish()
    return result


def cut_corpus(corpus: Corpus, found: Any, config: Config, threshold: float, rank: Any) -> Cut:
    """What one threshold makes of a corpus; filtered rows go."""
    made = cut(
        found.pairs,
        found.first,
        rank,
        threshold=threshold,
        many=config.keep.many,
        among=config.keep.among,
        sources=corpus.sources,
        method=config.clusters,
        reference=corpus.reference,
    )
    kept = made.kept & (corpus.column("filtered") == 0)
    return Cut(made.clusters, kept)


def incoming(documents: Any, config: Config) -> tuple[Any, Iterator[Incoming | TextBlock]]:
    """What documents come from, to be read again without those that failed, named by file and row; and the stream of
    what the config needs of them."""
    if isinstance(documents, str | PathLike):
        documents = read(documents)
    elif not isinstance(documents, Reader | list | tuple) and hasattr(documents, "columns"):
        documents = read(documents)  # a table of pandas, polars or pyarrow
    if isinstance(documents, Reader):
        reader = documents
        return partial(_read_again, reader), of_reader(reader, config)
    items = documents if hasattr(documents, "__len__") else list(documents)
    if all(isinstance(item, Document) for item in items):
        made = list(items)
    else:
        texts = raw_texts(items)
        ids = [item.id if isinstance(item, Document) else str(row) for row, item in enumerate(items)]
        made = [
            Document(id_, text if isinstance(text, str) else text.decode("utf-8", "replace"))
            for id_, text in zip(ids, texts, strict=True)
        ]
    try:
        "".join(document.id for document in made).encode()
    except UnicodeEncodeError as error:
        raise DataError("an id is not well-formed Unicode") from error
    return lambda failed: iter(made), _of_list(made)


def _read_again(reader: Reader, failed: set[tuple[str, int]]) -> Iterator[Document]:
    for batch in reader:
        for file, row, document in zip(batch.files, batch.rows, batch.documents, strict=True):
            if (file, row) not in failed:
                yield document


def _of_list(documents: list[Document]) -> Iterator[Incoming | TextBlock]:
    for start in range(0, len(documents), _BATCH):
        part = documents[start : start + _BATCH]
        yield Incoming(part, [""] * len(part), list(range(start, start + len(part))))


def of_reader(reader: Reader, config: Config) -> Iterator[Incoming | TextBlock]:
    """The stream of a reader's documents: with their fields where the config asks for one, else as bare columns."""
    formats = {source.name: source.format for source in reader.files or ()}
    bare = config.keep.source is None and config.keep.score is None
    for batch in reader.blocks() if bare else reader:
        if isinstance(batch, TextBlock):
            if batch.html and config.html != "none":
                files, rows = [batch.file] * len(batch), batch.rows.tolist()
                yield Incoming(batch.documents(), files, rows, html=True)
            else:
                yield batch
            continue
        page = is_html(batch.layout) or formats.get(batch.files[0]) in ("html", "warc")
        yield Incoming(batch.documents, batch.files, batch.rows, page)


def _settled(
    config: Config,
    threshold: float | None,
    floor: float | None,
    recall: float | None,
    features: Any,
    keep: Any,
) -> Config:
    """The config with what was said beside it."""
    if threshold is not None or floor is not None:
        at = config.verify.threshold if threshold is None else threshold
        config = config.with_threshold(at, floor)
    if recall is not None:
        config = replace(config, recall=recall)
    if features is not None:
        config = replace(config, features=features)
    if isinstance(keep, str):
        keep = replace(config.keep, by=keep)  # type: ignore[arg-type]
    elif keep is not None and not isinstance(keep, Keep):
        raise ConfigError(f'keep is a policy such as "longest" or nd.Keep(...), not {keep!r}')
    return replace(config, keep=keep) if keep is not None else config
