"""Corpora that a scan compares its inputs with: shards that an earlier scan kept, or documents that are read now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.findings.folder import Findings
from neardup.pipeline.batches import DocumentBatch
from neardup.pipeline.fit import Prepared, needs_corpus
from neardup.pipeline.inputs import of_reader
from neardup.pipeline.sharder import SHARD_SCHEME
from neardup.pipeline.shards import FileShard, Shard
from neardup.readers.ahead import Work
from neardup.readers.reader import Reader
from neardup.readers.text_block import TextBlock

__all__ = ["SHARDS", "kept_shards", "reference_documents"]

SHARDS = "shards"


def kept_shards(place: Path, config: Config, prepared: Prepared) -> list[Shard]:
    """The shards of another scan; ConfigError if its features or fingerprints are different."""
    folder = place / SHARDS
    other = Findings(place)
    if not folder.is_dir():
        raise ConfigError(
            f"{place}: contains no fingerprints; scan that corpus again with --reusable, or name the corpus itself"
        )
    if needs_corpus(config):
        raise ConfigError(
            "weights learned from a corpus fit only that corpus: name the reference corpus itself"
        )
    method = config.method
    scheme = f"{_kept_scheme(config)} | {prepared.scheme}"
    if needs_corpus(other.config) or scheme != f"{_kept_scheme(other.config)} | {other.manifest['scheme']}":
        raise ConfigError(
            f"{place}: was scanned with other features or fingerprints; use its settings (method, width, floor, "
            f"recall), or name the corpus itself\n  there: {other.manifest['scheme']}\n  here:  {prepared.scheme}"
        )
    shards: list[Shard] = []
    for number in range(int(other.manifest["counts"]["shards"])):
        shard = FileShard(folder / f"{number:05}.shard", SHARD_SCHEME)
        shard.file_names = tuple(f"{place.name}/{name}" for name in shard.file_names)
        if method is not None:
            shard.attach(folder / f"{number:05}.prints", scheme)
        shards.append(shard)
    return shards


def _kept_scheme(config: Config) -> str:
    """What decides the columns that the config's method keeps, in addition to the fingerprints' own scheme."""
    method = config.method
    return "" if method is None else method.kept_scheme(config.prints)


def reference_documents(
    reader: Reader, config: Config, place: str, work: Work
) -> Iterator[DocumentBatch | TextBlock]:
    """Documents of a reference, with file names that no file of the corpus has."""
    name = Path(place).name
    for batch in of_reader(reader, config, work):
        if isinstance(batch, TextBlock):
            yield replace(batch, file=f"{name}/{batch.file}")
        else:
            yield replace(batch, files=[f"{name}/{file}" for file in batch.files])
