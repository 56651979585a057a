"""scan(): from files to a findings folder; killed and run again, it goes on where it stopped."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.findings.folder import MANIFEST, VERSION, Findings
from neardup.findings.lock import alone, make_folder
from neardup.findings.writer import write_documents, write_manifest, write_pairs, write_texts
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.fit import Prepared, needs_corpus, prepare
from neardup.pipeline.inputs import of_reader
from neardup.pipeline.run import Found, Room, find
from neardup.pipeline.sharder import SHARD_SCHEME, Incoming, Sharder
from neardup.pipeline.shards import FileShard, Shard
from neardup.progress import Progress
from neardup.readers.jsonl_blocks import TextBlock
from neardup.readers.limits import Limits
from neardup.readers.options import given_options
from neardup.readers.reader import Reader, read
from neardup.readers.rejects import Rejects
from neardup.storage.atomic_file import AtomicFile
from neardup.values.sizes import parse_size
from neardup.values.threads import check_threads
from neardup.version import __version__

__all__ = ["REJECTS", "scan"]

REJECTS, WORK, SHARDS = "documents.rejects.jsonl", "work", "shards"
_SMALLEST_MEMORY = 64 << 20


@dataclass(frozen=True)
class _Told:
    """What one pass over the inputs told."""

    inputs: list[dict[str, Any]]
    rejected: dict[str, int]
    skipped: dict[str, int]


def scan(
    inputs: str | PathLike[str] | Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    config: Config | None = None,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    format: str | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    ext: str | Sequence[str] = (),
    hidden: bool = False,
    no_ignore: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    limits: Limits | None = None,
    against: Sequence[str | PathLike[str]] = (),
    memory: int | str = "2GB",
    threads: int = 1,
    reusable: bool = False,
    overwrite: bool | Literal["finished"] = False,
    shard_bytes: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Find the duplicates in files and write what was found to the folder `out`; nothing else is changed.

    Memory stays about `memory`, plus some 100 bytes a document. What cannot be read goes to `documents.rejects.jsonl`
    in the folder. `against` names corpora, or findings of a `reusable` scan with the same features and fingerprints,
    whose documents are compared with but never dropped; `reusable` keeps texts and fingerprints for that. A scan that
    was stopped goes on where it was when it is run again with the same inputs and config; `overwrite` drops what is
    there, or only what is "finished" or of another scan.
    """
    run = _Run(
        [inputs] if isinstance(inputs, str | PathLike) else list(inputs),
        Path(out),
        config or Config(),
        {
            "text": text if text is None or isinstance(text, str) else list(text),
            "id": id,
            "format": format,
            **given_options(include, exclude, ext, hidden, no_ignore, encoding, delimiter),
        },
        limits or Limits(),
        [os.fspath(place) for place in against],
        max(_SMALLEST_MEMORY, parse_size(memory)),
        check_threads(threads),
        shard_bytes,
        progress or Progress(),
    )
    if not run.folder.parent.is_dir():
        raise DataError(f"{out}: the folder {run.folder.parent} does not exist; make it first")
    made = make_folder(run.folder)
    with alone(run.folder):
        try:
            run.begin(overwrite)
            return run.go(reusable)
        except BaseException:
            # A scan that failed before its first shard leaves nothing to go on from.
            if made and not any(run.work.glob("*.shard")):
                shutil.rmtree(run.folder, ignore_errors=True)
            raise


class _Run:
    def __init__(
        self,
        inputs: list[str | PathLike[str]],
        folder: Path,
        config: Config,
        columns: dict[str, Any],
        limits: Limits,
        against: list[str],
        memory: int,
        threads: int,
        shard_bytes: int | None,
        progress: Progress,
    ) -> None:
        self.inputs, self.folder, self.config = inputs, folder, config
        self.columns, self.limits, self.against = columns, limits, against
        self.memory, self.threads, self.progress = memory, threads, progress
        self.reader = self._reader(inputs, None)
        # Few shards of a large corpus, small ones of a small corpus: fresh memory is dear.
        share = (self.reader.bytes_total or 0) // 64
        self.size = shard_bytes or min(max(share, 1 << 23), 1 << 26, max(1 << 20, memory // 32))
        self.work = folder / WORK
        self.references = [
            list(self._reader(place, None).files or ())
            for place in self.against
            if not (Path(place) / MANIFEST).exists()
        ]
        inside = Path(os.path.realpath(folder))
        for source in self.reader.files or ():
            path = Path(source.path)
            if path.is_relative_to(inside) and path.parent != inside / "stdin":
                raise ConfigError(f"{folder}: is a part of the inputs; name an --out that is not")

    def _reader(self, place: Any, rejects: Any) -> Reader:
        columns = [name for name in (self.config.keep.field, self.config.keep.score) if name]
        return read(
            place,
            rejects=rejects,
            limits=self.limits,
            columns=columns,
            **self.columns,
        )

    def begin(self, overwrite: bool | Literal["finished"]) -> None:
        """Make sure that what lies in the folder is of this very run, or nothing."""
        # Where the answer does not depend on a setting, a run may go on with another one.
        identity = {
            "inputs": [_identity(source) for source in self.reader.files or ()],
            "against": self.against,
            "references": [_identity(source) for files in self.references for source in files],
            "columns": self.columns,
            "limits": asdict(self.limits),
            "config": self.config.to_plain(),
            "version": __version__,
        }
        marker = self.work / "run.json"
        other = marker.exists() and _read_json(marker) != identity
        if other and not any(self.work.glob("*.shard")):  # it did not get far: nothing is lost
            shutil.rmtree(self.work)
            other = False
        if overwrite is True or (overwrite and (other or (self.folder / MANIFEST).exists())):
            other = False
            for name in (WORK, SHARDS):
                shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / MANIFEST).unlink(missing_ok=True)
        if (self.folder / MANIFEST).exists():
            raise ConfigError(
                f"{self.folder}: holds findings already; name another --out, or add --overwrite"
            )
        if other:
            raise ConfigError(
                f"{self.folder}: an unfinished scan of other inputs or settings is there; add --overwrite to drop it"
            )
        self.work.mkdir(exist_ok=True)
        if not marker.exists():
            with AtomicFile(marker, durable=False) as file:
                file.write(json.dumps(identity).encode())

    def go(self, reusable: bool) -> Findings:
        config, progress = self.config, self.progress
        prepared = Prepared.untaught(config, self.threads)
        references, shards_of_references = self._references(prepared)
        sharder = self._sharder(prepared, "")
        shards, told = self._shards(sharder)
        reference = sum(shard.count for shard in references)
        corpus = Corpus([*references, *shards], reference)
        if needs_corpus(config):
            progress.stage("fingerprint", len(corpus), "documents")
            prepared = prepare(config, corpus, threads=self.threads)
            done = 0
            for part, made in (*shards_of_references, (sharder, shards)):
                for count in part.fingerprint(made, prepared):
                    progress.reached(done := done + count)
        rank = config.keep.rank(corpus.sizes, corpus.sources, corpus.source_names, corpus.scores)
        rank[reference:] += len(rank)
        room = Room(self.memory, self.work)
        found = find(corpus, prepared, rank, room=room, progress=progress)
        progress.stage("write")
        write_pairs(self.folder, found.pairs)
        write_texts(self.folder, corpus, found)
        names = write_documents(self.folder, corpus, found.first)
        progress.finish()
        write_manifest(self.folder, self._manifest(corpus, found, prepared, told, names, len(shards)))
        if reusable:
            self._keep_shards(len(shards))
        else:
            shutil.rmtree(self.work)
        return Findings(self.folder)

    def _keep_shards(self, count: int) -> None:
        """Shards and fingerprints of the corpus; not those of references, nor what a killed run left behind."""
        names = {f"{number:05}.{kind}" for number in range(count) for kind in ("shard", "prints")}
        for path in self.work.iterdir():
            if path.name not in names:
                path.unlink() if path.is_file() else shutil.rmtree(path)
        self.work.rename(self.folder / SHARDS)

    def _sharder(self, prepared: Prepared, prefix: str) -> Sharder:
        return Sharder(
            self.config, prepared, folder=self.work, prefix=prefix, size=self.size, threads=self.threads
        )

    def _shards(self, sharder: Sharder) -> tuple[list[Shard], _Told]:
        """Read the corpus. The rejects file is made anew by every pass, as all lines are read again."""
        with Rejects(self.folder / REJECTS) as rejects:
            reader = self._reader(self.inputs, rejects)
            reader.digesting = True
            self.progress.stage("read", reader.bytes_total or None, "bytes")
            shards = sharder.shards(
                of_reader(reader, self.config), lambda _: self.progress.reached(reader.bytes_read)
            )
            for shard in shards:
                assert isinstance(shard, FileShard)
                for file, row, reason in shard.failures:
                    rejects.add(file, row, f"HTML: {reason.partition(':')[0]}", reason)
            inputs = [
                {
                    "path": source.path,
                    "name": source.name,
                    "format": source.format,
                    "bytes": source.size,
                    "sha256": reader.digests.get(source.name),
                }
                for source in reader.files or ()
            ]
            return shards, _Told(inputs, dict(rejects.counts), dict(rejects.skipped))

    def _references(self, prepared: Prepared) -> tuple[list[Shard], list[tuple[Sharder, list[Shard]]]]:
        """Shards of what the corpus is compared against: those kept by an earlier scan, or read now."""
        every: list[Shard] = []
        made: list[tuple[Sharder, list[Shard]]] = []
        for number, place in enumerate(self.against):
            if (Path(place) / MANIFEST).exists():
                every += self._kept(Path(place), prepared)
                continue
            self.progress.stage(f"read reference {place}")
            sharder = self._sharder(prepared, f"reference-{number}-")
            reader = self._reader(place, None)
            shards = sharder.shards(_renamed(of_reader(reader, self.config), place))
            made.append((sharder, shards))
            every += shards
        return every, made

    def _kept(self, place: Path, prepared: Prepared) -> list[Shard]:
        """The shards of another scan, if they are of the same features and fingerprints."""
        folder = place / SHARDS
        other = Findings(place)
        if not folder.is_dir():
            raise ConfigError(
                f"{place}: keeps no fingerprints; scan that corpus again with --reusable, or name the corpus itself"
            )
        if needs_corpus(self.config):
            raise ConfigError(
                "weights learnt from a corpus fit that corpus: name the reference corpus itself"
            )
        from neardup.pipeline.methods import method_of

        method = method_of(self.config)
        scheme = f"{method.scheme if method is not None else ''} | {prepared.scheme}"
        theirs = method_of(other.config)
        if needs_corpus(other.config) or scheme != (
            f"{theirs.scheme if theirs is not None else ''} | {other.manifest['scheme']}"
        ):
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

    def _manifest(
        self, corpus: Corpus, found: Found, prepared: Prepared, told: _Told, names: list[str], shards: int
    ) -> dict[str, Any]:
        filtered = corpus.column("filtered")[corpus.reference :]
        return {
            "format": VERSION,
            "neardup": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "inputs": told.inputs,
            "columns": self.columns,
            "limits": asdict(self.limits),
            "against": self.against,
            "references": [
                {"path": source.path, "bytes": source.size} for files in self.references for source in files
            ],
            "config": self.config.to_plain(),
            "scheme": prepared.scheme,
            "seed": f"{prepared.features.seed}",
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "system": platform.platform(),
            },
            "threads": self.threads,
            "memory": self.memory,
            "counts": {
                "documents": len(corpus) - corpus.reference,
                "reference": corpus.reference,
                "shards": shards,
                "empty": int((corpus.column("empty")[corpus.reference :] != 0).sum()),
                "filtered": {
                    str(k): int(v) for k, v in sorted(Counter(filtered[filtered != 0].tolist()).items())
                },
                "pairs": len(found.pairs),
                "candidates": found.candidates,
                "capped": found.capped,
                "skipped": found.skipped,
                "implied": found.implied,
                "pruned": found.pruned,
                "figures": found.figures,
                "rejected": told.rejected,
                "passed_over": told.skipped,
            },
            "seconds": {name: round(seconds, 3) for name, seconds in self.progress.seconds.items()},
            "file_names": names,
            "source_names": corpus.source_names,
        }


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError:
        return None


def _identity(source: Any) -> list[Any]:
    """What tells whether an input is still the same before it is read: name, size and time of its last change."""
    try:
        changed = os.stat(source.path).st_mtime_ns
    except OSError:  # remote
        changed = 0
    return [source.path, source.size, changed]


def _renamed(batches: Iterator[Incoming | TextBlock], place: str) -> Iterator[Incoming | TextBlock]:
    """Documents of a reference, their files named so that they are no others' namesakes."""
    name = Path(place).name
    for batch in batches:
        if isinstance(batch, TextBlock):
            yield replace(batch, file=f"{name}/{batch.file}")
        else:
            yield replace(batch, files=[f"{name}/{file}" for file in batch.files])
