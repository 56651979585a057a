"""scan(): from files to a findings folder; a scan that was stopped resumes when it is run again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, FormatError, UnreadableInput
from neardup.findings.columns import DOCUMENTS, PAIRS, TEXTS
from neardup.findings.folder import MANIFEST, Findings
from neardup.findings.lock import alone, make_folder
from neardup.findings.references import SHARDS, kept_shards, reference_documents
from neardup.findings.scan_steps import (
    REJECTS,
    WORK,
    file_identity,
    read_corpus,
    reading_columns,
    write_run,
)
from neardup.findings.writer import Origin
from neardup.pipeline.drawn_seed import sample_of_files, seed_of
from neardup.pipeline.inputs import text_or_vectors
from neardup.pipeline.pairs import Room
from neardup.pipeline.run import Run
from neardup.progress import Progress
from neardup.readers.account import TOLERATED, Account
from neardup.readers.limits import Limits
from neardup.readers.reader import Reader, read
from neardup.readers.rejects import Rejects
from neardup.storage.atomic_file import sweep, sync_folder
from neardup.storage.checked_json import read_checked, write_checked
from neardup.values.checks import checked
from neardup.values.seeds import Seed
from neardup.values.sizes import parse_size
from neardup.values.threads import check_threads
from neardup.version import __version__

__all__ = ["scan"]

_SMALLEST_MEMORY = 64 << 20


@checked
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
    sha256: bool = False,
    progress: Progress | None = None,
) -> Findings:
    r"""Find the duplicates in files and write the findings to the folder `out`; nothing else is changed.

    A scan uses about `memory`, plus some 100 bytes per document. Documents that cannot be read are listed in
    `documents.rejects.jsonl` in the folder. `against` names corpora, or findings of a `reusable` scan with the same
    features and fingerprints; their documents are compared with the inputs but never dropped. `reusable` keeps the
    texts and fingerprints that this needs. A scan that was stopped resumes when it is run again with the same inputs
    and config. Inputs are known by a fast digest, and with `sha256` by their SHA-256 too. `overwrite` deletes what
    the folder holds, or with "finished" only a finished scan or another scan.

    Raises UnreadableInput if nothing can be read, or if more than the share `allow_rejects` of the rows is rejected
    (with `strict`, any row).

    text, id     the columns of the text and of the ids, where they are not obvious
    format, encoding, delimiter  of the files, where they are not recognised
    include, exclude, ext, hidden, no_ignore  which files of folders are read, as in `read`
    limits       the largest sizes that are read, in bytes; see Limits
    threads      from 1 up; the result is the same for any number
    shard_bytes  the size of a piece of work, in bytes; chosen by default
    progress     a Progress that is informed of each stage; by default nothing is shown
    returns      the Findings in the folder

    >>> import pathlib, tempfile
    >>> import neardup as nd
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pages.csv").write_text("id,text\na,The ferry leaves at eight!\nb,the ferry leaves at eight\n")
    >>> nd.scan(folder / "pages.csv", folder / "found").cut().kept.tolist()
    [True, False]
    """
    run = _Run(
        [inputs] if isinstance(inputs, str | PathLike) else list(inputs),
        Path(out),
        config or Config(),
        reading_columns(
            text=text,
            id=id,
            format=format,
            include=include,
            exclude=exclude,
            ext=ext,
            hidden=hidden,
            no_ignore=no_ignore,
            encoding=encoding,
            delimiter=delimiter,
        ),
        limits or Limits.within(parse_size(memory)),
        [os.fspath(place) for place in against],
        max(_SMALLEST_MEMORY, parse_size(memory)),
        check_threads(threads),
        shard_bytes,
        progress or Progress(),
        allow_rejects,
        strict,
        sha256,
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
        sha256: bool,
    ) -> None:
        self.allow_rejects, self.strict, self.sha256 = allow_rejects, strict, sha256
        self.inputs, self.folder, self.config = inputs, folder, config
        self.columns, self.limits, self.against = columns, limits, against
        self.memory, self.threads, self.progress = memory, threads, progress
        columns["text"] = text_or_vectors(config, columns["text"], lambda: self._reader(inputs, None))
        self.reader = self._reader(inputs, None)
        # Few shards, for each is opened and read many times; but some, so that a scan that was stopped can resume.
        share = (self.reader.bytes_total or 0) // 8
        self.size = shard_bytes or min(max(share, 1 << 23), 1 << 26, max(1 << 20, memory // 32))
        self.work = folder / WORK
        self.references = [
            list(self._reader(place, None).files or ())
            for place in self.against
            if not (Path(place) / MANIFEST).exists()
        ]
        inside = os.path.join(os.path.realpath(folder), "")
        for source in self.reader.files or ():
            if source.path.startswith(inside) and os.path.dirname(source.path) != f"{inside}stdin":
                raise ConfigError(f"{folder}: holds some of the inputs; name an --out that holds none")

    def _reader(self, place: Any, rejects: Any) -> Reader:
        reader = read(
            place,
            rejects=rejects,
            limits=self.limits,
            columns=list(self.config.fields),
            **self.columns,
        )
        if self.config.vectors is not None:
            reader.show_vectors(self.config.vectors.column)
        return reader

    def begin(self, overwrite: bool | Literal["finished"]) -> None:
        """Make sure that the folder is empty or holds an earlier part of this same scan."""
        # Settings that do not change the findings are left out: a scan may resume with other values of them.
        identity = {
            "inputs": [file_identity(source) for source in self.reader.files or ()],
            "against": self.against,
            "references": [file_identity(source) for files in self.references for source in files],
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
            ).with_options("--overwrite")
        if other:
            raise ConfigError(
                f"{self.folder}: contains an unfinished scan of other inputs or settings; add --overwrite to delete it"
            ).with_options("--overwrite")
        for name in (REJECTS, MANIFEST, DOCUMENTS, PAIRS, TEXTS):
            sweep(self.folder / name)  # what a scan that was killed left of them
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
            places=not reusable,
        )
        self._read_references(run)
        run.end_reference()
        shards, origin = self._read(run)
        findings = write_run(self.folder, run, run.search(), origin)
        if reusable:
            self._keep_shards(shards)
        else:
            # The findings are complete; what remains here is removed by the next scan.
            shutil.rmtree(self.work, ignore_errors=True)
        return findings

    def _keep_shards(self, count: int) -> None:
        """Keep the shards and fingerprints of the corpus; delete those of references and leftovers of a killed run."""
        names = {f"{number:05}.{kind}" for number in range(count) for kind in ("shard", "prints")}
        for path in self.work.iterdir():
            if path.name not in names:
                path.unlink() if path.is_file() else shutil.rmtree(path)
        shutil.rmtree(self.folder / SHARDS, ignore_errors=True)  # of a scan that failed here
        try:
            self.work.rename(self.folder / SHARDS)
            sync_folder(self.folder)
        except OSError:  # without them the scan is not what was asked for: the same command can be run again
            (self.folder / MANIFEST).unlink(missing_ok=True)
            raise

    def _read(self, run: Run) -> tuple[int, Origin]:
        """Read the corpus; returns the number of shards and a record of the inputs. Every run reads all lines again, so
        it also writes the rejects file again."""
        with Rejects(self.folder / REJECTS) as rejects:
            reader = self.reader.with_rejects(rejects)
            reader.digesting, reader.sha256 = True, self.sha256
            self.progress.stage("read", reader.bytes_total or None, "bytes")
            shards, inputs = read_corpus(run, reader, rejects, self.config, self.progress)
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
                run.take(kept_shards(Path(place), self.config, run.prepared))
                continue
            self.progress.stage(f"read reference {place}")
            reader = self._reader(place, None)
            run.read(partial(reference_documents, reader, self.config, place), f"reference-{number}-")


def _marked(marker: Path, overwrite: object) -> dict[str, Any]:
    """What the unfinished scan is of, and its seed; nothing if its mark has no checksum, as in older versions."""
    try:
        identity, checked = read_checked(marker, "the mark of an unfinished scan")
    except FormatError as error:
        if overwrite or not any(marker.parent.glob("*.shard")):
            return {}
        said = f"{error}; add --overwrite to scan from the beginning"
        raise DataError(said).with_options("--overwrite") from None
    return identity if checked else {}
