"""The seed of a run, drawn from its corpus: the same for the same input, and unknown to anyone who adds a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from neardup.config.config import Config
from neardup.pipeline.batches import Batch, DocumentBatch, TextColumn
from neardup.readers.corpus_sample import sample_files, sample_texts
from neardup.readers.sources import Source
from neardup.readers.text_block import TextBlock

__all__ = ["drawn_from", "drawn_from_stream", "sample_of_files", "seed_of"]

_HEAD = 4 << 20  # bytes of text that are read before the seed of a stream is drawn


def seed_of(sample: bytes) -> int:
    """The seed that a sample of the corpus gives."""
    return int.from_bytes(sample[:8], "little")


def drawn_from(config: Config, sample: bytes) -> Config:
    """The config with the seed of a sample, unless it has its own."""
    return replace(config, seed=seed_of(sample)) if config.draws_seed else config


def sample_of_files(files: Sequence[Source]) -> bytes:
    """The sample of files. Of standard input and of files of unknown size the beginning counts."""
    far = any("://" in file.path for file in files)
    return sample_files([(file.size, file.peek or file.open) for file in files], far=far)


def drawn_from_stream(config: Config, batches: Iterator[Batch]) -> tuple[Config, Iterator[Batch]]:
    """The same for documents that come once: those of the first 4 MiB are held while the seed is drawn from them."""
    if not config.draws_seed:
        return config, batches
    held: list[Batch] = []
    texts: list[bytes] = []
    while sum(map(len, texts)) < _HEAD and (batch := next(batches, None)) is not None:
        held.append(batch)
        texts += _texts(batch)
    sample = sample_texts(len(texts), texts.__getitem__)
    return drawn_from(config, sample), chain(held, batches)


def _texts(batch: Batch) -> list[bytes]:
    if isinstance(batch, TextColumn):
        batch = batch.block()
    if isinstance(batch, TextBlock):
        batch = DocumentBatch(batch.documents(), [], [])
    return [document.text.encode("utf-8", "surrogatepass") for document in batch.documents]
