"""scan(): from files to a findings folder; a scan that was stopped resumes when it is run again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, FormatError, UnreadableInput
from neardup.findings.decisions import DecisionLog
from neardup.findings.folder import MANIFEST, Findings
from neardup.findings.lock import alone, make_folder
from neardup.findings.writer import Origin, write_findings
from neardup.pipeline.batches import Incoming
from neardup.pipeline.drawn_seed import sample_of_files, seed_of
from neardup.pipeline.fit import Prepared, needs_corpus
from neardup.pipeline.inputs import of_reader
from neardup.pipeline.pairs import Room
from neardup.pipeline.run import Run
from neardup.pipeline.sharder import SHARD_SCHEME
from neardup.pipeline.shards import FileShard, Shard
from neardup.progress import Progress
from neardup.readers.account import TOLERATED, Account, Reason
from neardup.readers.jsonl_blocks import TextBlock
from neardup.readers.limits import Limits
from neardup.readers.options import given_options
from neardup.readers.reader import Reader, read
from neardup.readers.rejects import Rejects
from neardup.storage.atomic_file import sync_folder
from neardup.storage.checked_json import read_checked, write_checked
from neardup.values.seeds import Seed
from neardup.values.sizes import parse_size
from neardup.values.threads import check_threads
from neardup.version import __version__

__all__ = ["REJECTS", "scan"]

REJECTS, WORK, SHARDS = "documents.rejects.jsonl", "work", "shards"
_SMALLEST_MEMORY = 64 << 20
WHOLE_PAGES = "pages were read whole: their main content holds under 30% of their words"


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
    allow_rejects: float = TOLERATED,
    strict: bool = False,
    progress: Progress | None = None,
) -> Findings:
    """Find the duplicates in files and write the findings to the folder `out`; nothing else is changed.

    A scan uses about `memory`, plus some 100 bytes per document. Documents that cannot be read are listed in
    `documents.rejects.jsonl` in the folder. `against` names corpora, or findings of a `reusable` scan with the same
    features and fingerprints; their documents are compared with the inputs but never dropped. `reusable` keeps the
    texts and fingerprints that this needs. A scan that was stopped resumes when it is run again with the same inputs
    and config. `overwrite` deletes what the folder holds, or with "finished" only a finished scan or another scan.

    Raises UnreadableInput if nothing can be read, or if more than the share `allow_rejects` of the rows is rejected
    (with `strict`, any row).
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
        allow_rejects,
        strict,
    )
    if not run.folder.parent.is_dir():
        raise DataError(f"{out}: the folder {run.folder.parent} does not exist; make it first")
    made = make_folder(run.folder)
    with alone(run.folder):
        try:
            run.begin(overwrite)
            return run.go(reusable)
        except UnreadableInput:
            shutil.rmtree(run.folder if made else run.work, ignore_errors=True)
            raise
        except BaseException:
            # A scan that failed before its first shard leaves nothing to resume from.
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
        allow_rejects: float,
        strict: bool,
    ) -> None:
        self.allow_rejects, self.strict = allow_rejects, strict
        self.inputs, self.folder, self.config = inputs, folder, config
        self.columns, self.limits, self.against = columns, limits, against
        self.memory, self.threads, self.progress = memory, threads, progress
        self.reader = self._reader(inputs, None)
        # A large corpus has few shards, a small corpus small ones: allocating new memory is slow.
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
                raise ConfigError(f"{folder}: holds some of the inputs; name an --out that holds none")

    def _reader(self, place: Any, rejects: Any) -> Reader:
        return read(
            place,
            rejects=rejects,
            limits=self.limits,
            columns=list(self.config.keep.fields),
            **self.columns,
        )

    def begin(self, overwrite: bool | Literal["finished"]) -> None:
        """Make sure that the folder is empty or holds an earlier part of this same scan."""
        # Settings that do not change the findings are left out: a scan may resume with other values of them.
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
        known = _marked(marker, overwrite) if marker.exists() else {}
        seed = known.pop("seed", None)
        other = marker.exists() and known != json.loads(json.dumps(identity))
        if other and not any(self.work.glob("*.shard")):  # it has not written a shard, so nothing is lost
            shutil.rmtree(self.work)
            other = False
        if overwrite is True or (overwrite and (other or (self.folder / MANIFEST).exists())):
            other = False
            for name in (WORK, SHARDS):
                shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / MANIFEST).unlink(missing_ok=True)
        if (self.folder / MANIFEST).exists():
            raise ConfigError(
                f"{self.folder}: already contains findings; name another --out, or add --overwrite"
            )
        if other:
            raise ConfigError(
                f"{self.folder}: contains an unfinished scan of other inputs or settings; add --overwrite to delete it"
            )
        self.work.mkdir(exist_ok=True)
        if not marker.exists():
            seed = self._seed()
            write_checked(marker, identity | {"seed": seed}, durable=False)
        if seed is not None:
            self.config = replace(self.config, seed=seed)

    def _seed(self) -> int | None:
        """The seed to take: that of the findings compared against, else one drawn from all files; None if the config
        has its own."""
        if not self.config.draws_seed:
            return None
        found = {place: Findings(place) for place in self.against if (Path(place) / MANIFEST).exists()}
        theirs = {Seed.of(other.config.features.seed).value for other in found.values()}
        if len(theirs) > 1:
            raise ConfigError(
                f"{', '.join(found)}: were scanned with different seeds; scan them again with one --seed"
            )
        if theirs:
            return theirs.pop()
        return seed_of(
            sample_of_files(
                [*(self.reader.files or ()), *(file for files in self.references for file in files)]
            )
        )

    def go(self, reusable: bool) -> Findings:
        run = Run(
            self.config,
            room=Room(self.memory, self.work),
            threads=self.threads,
            progress=self.progress,
            shard_bytes=self.size,
        )
        self._read_references(run)
        run.end_reference()
        shards, origin = self._read(run)
        found = run.find()
        write_findings(
            self.folder,
            run.corpus,
            found,
            replace(origin, scheme=run.prepared.scheme, seed=f"{run.prepared.features.seed}"),
            lambda rows: (shard.text_bytes(local) for shard, local in run.corpus.by_shard(rows)),
            self.progress,
        )
        if reusable:
            self._keep_shards(shards)
        else:
            shutil.rmtree(self.work)
        findings = Findings(self.folder)
        DecisionLog(findings).set_aside()
        return findings

    def _keep_shards(self, count: int) -> None:
        """Keep the shards and fingerprints of the corpus; delete those of references and leftovers of a killed run."""
        names = {f"{number:05}.{kind}" for number in range(count) for kind in ("shard", "prints")}
        for path in self.work.iterdir():
            if path.name not in names:
                path.unlink() if path.is_file() else shutil.rmtree(path)
        self.work.rename(self.folder / SHARDS)
        sync_folder(self.folder)

    def _read(self, run: Run) -> tuple[int, Origin]:
        """Read the corpus; returns the number of shards and a record of the inputs. Every run reads all lines again, so
        it also writes the rejects file again."""
        with Rejects(self.folder / REJECTS) as rejects:
            reader = self._reader(self.inputs, rejects)
            reader.digesting = True
            self.progress.stage("read", reader.bytes_total or None, "bytes")
            shards = run.read(
                of_reader(reader, self.config),
                progress=lambda _: self.progress.reached(reader.bytes_read),
            )
            for shard in shards:
                if shard.whole:
                    reader.account.notes[WHOLE_PAGES] += shard.whole
                for file, row, reason in shard.failures:
                    rejects.add(file, row, kind := f"HTML: {reason.partition(':')[0]}", reason)
                    reader.account.reject_document(Reason(file, row, kind, reason))
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
        self._check(reader.account)
        return len(shards), Origin(
            config=self.config,
            scheme="",
            seed="",
            inputs=inputs,
            columns=self.columns,
            limits=self.limits,
            against=self.against,
            references=[
                {"path": source.path, "bytes": source.size} for files in self.references for source in files
            ],
            rejected=rejects.counts,
            passed_over=rejects.skipped,
            account=reader.account.to_json(),
            threads=self.threads,
            memory=self.memory,
            shards=len(shards),
        )

    def _check(self, account: Account) -> None:
        """Stop if too little could be read; the list of rejected rows is then beside the folder, which is removed."""
        if not account.rows:
            return  # an empty file was read whole
        beside = self.folder.with_name(f"{self.folder.name}.rejects.jsonl")
        try:
            account.check(self.allow_rejects, strict=self.strict, rejects=beside)
        except UnreadableInput:
            if account.rejected:
                os.replace(self.folder / REJECTS, beside)
            raise

    def _read_references(self, run: Run) -> None:
        """Take the reference documents from the shards of an earlier scan, or read them now."""
        for number, place in enumerate(self.against):
            if (Path(place) / MANIFEST).exists():
                run.take(self._kept(Path(place), run.prepared))
                continue
            self.progress.stage(f"read reference {place}")
            reader = self._reader(place, None)
            run.read(_renamed(of_reader(reader, self.config), place), f"reference-{number}-")

    def _kept(self, place: Path, prepared: Prepared) -> list[Shard]:
        """The shards of another scan; ConfigError if its features or fingerprints are different."""
        folder = place / SHARDS
        other = Findings(place)
        if not folder.is_dir():
            raise ConfigError(
                f"{place}: contains no fingerprints; scan that corpus again with --reusable, or name the corpus itself"
            )
        if needs_corpus(self.config):
            raise ConfigError(
                "weights learned from a corpus fit only that corpus: name the reference corpus itself"
            )
        method = self.config.method
        scheme = f"{_kept(self.config)} | {prepared.scheme}"
        if needs_corpus(other.config) or scheme != f"{_kept(other.config)} | {other.manifest['scheme']}":
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


def _kept(config: Config) -> str:
    """What decides the columns that the config's method keeps, besides the fingerprints' own scheme."""
    method = config.method
    return "" if method is None else method.kept_scheme(config.prints)


def _marked(marker: Path, overwrite: object) -> dict[str, Any]:
    """What the unfinished scan is of, and its seed; nothing if its mark has no checksum, as in older versions."""
    try:
        identity, checked = read_checked(marker, "the mark of an unfinished scan")
    except FormatError as error:
        if overwrite or not any(marker.parent.glob("*.shard")):
            return {}
        raise DataError(f"{error}; add --overwrite to scan from the beginning") from None
    return identity if checked else {}


def _identity(source: Any) -> list[Any]:
    """Name, size and time of last change: these show, without reading it, whether an input is still the same."""
    try:
        changed = os.stat(source.path).st_mtime_ns
    except OSError:  # remote
        changed = 0
    return [source.path, source.size, changed]


def _renamed(batches: Iterator[Incoming | TextBlock], place: str) -> Iterator[Incoming | TextBlock]:
    """Documents of a reference, with file names that no file of the corpus has."""
    name = Path(place).name
    for batch in batches:
        if isinstance(batch, TextBlock):
            yield replace(batch, file=f"{name}/{batch.file}")
        else:
            yield replace(batch, files=[f"{name}/{file}" for file in batch.files])
