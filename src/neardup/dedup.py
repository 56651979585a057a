"""dedup(): the whole job as one call, for documents in memory or read from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from neardup.errors import ConfigError
from neardup.progress import Progress
from neardup.values.checks import checked

if TYPE_CHECKING:
    from neardup.clusters.keepers import By, Keep
    from neardup.clusters.protect import Guard
    from neardup.clusters.selection import Cut
    from neardup.config.config import Config
    from neardup.features.shingles import TextFeatures
    from neardup.pipeline.corpus import Corpus
    from neardup.pipeline.inputs import Documents, Input
    from neardup.pipeline.pairs import FoundPairs
    from neardup.result import Result

__all__ = ["dedup"]


@checked
def dedup(
    documents: Documents,
    config: Config | None = None,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    threshold: float | None = None,
    floor: float | None = None,
    recall: float | None = None,
    features: TextFeatures | None = None,
    keep: Keep | By | None = None,
    protect: Sequence[Guard] | None = None,
    memory: int | str | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    threads: int = 1,
) -> Result:
    """Find duplicates and near-duplicates: by default documents that share 0.8 of their word 5-shingles.

    `documents` are a list or a column of texts, a table (pandas, polars, pyarrow, Hugging Face), a dict of id to text,
    mappings, Documents, a pathlib.Path, or what `read` gives; anything else raises UnsupportedInput, a TypeError.
    `text` names the column with the text, or several that are joined, and `id` that of the ids. Positions in the result
    are those of the rows in what was given.

    Equal words are found by digest, near-duplicates by the config's method; every candidate is verified on its features
    and kept down to `floor`; then the best-ranked document of each cluster is kept, and every other one is similar to
    it, not merely to a chain that leads there. A document that differs from its keeper in a way that `protect` names
    (by default its title or language) is kept. The named settings change those of the config. Nothing is changed or
    written.

    Without `memory` all is held; with it, for example "2GB", texts and fingerprints lie in a temporary folder (or in
    `folder`) and the stages keep to it, beside about 100 bytes a document.

    threshold  the least similarity of a duplicate, above 0 and at most 1; default 0.8
    recall     the least share of the similar pairs that is found, above 0 and below 1; default 0.99
    progress   a Progress that is informed of each stage; by default nothing is shown
    threads    from 1 up; the result is the same for any number
    returns    a Result: what is kept, what is dropped and because of which document
    raises     ConfigError for a wrong setting, UnreadableInput if nothing can be read

    >>> import neardup as nd
    >>> result = nd.dedup(["The ferry leaves at eight!", "the ferry leaves at eight", "Whisk the eggs"])
    >>> result.kept.tolist()
    [0, 2]
    """
    # Imported here, so that `import neardup` is quick although this function is among its names.
    import tempfile
    from contextlib import ExitStack
    from dataclasses import replace
    from pathlib import Path

    from neardup.config.config import Config
    from neardup.pipeline.inputs import incoming
    from neardup.pipeline.pairs import Room
    from neardup.pipeline.run import Run
    from neardup.values.sizes import parse_size

    config = _settled(config or Config(), threshold, floor, recall, features, keep, protect)
    progress = progress or Progress()
    room = Room() if memory is None else Room(parse_size(memory))
    with ExitStack() as stack:
        if memory is not None:
            place = stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix="neardup-"))
            room = replace(room, folder=Path(place))
        progress.stage("read")
        given = incoming(documents, config, text=text, id=id, memory=room.memory if memory else None)
        run = Run(given.config, room=room, threads=threads, progress=progress)
        failures = [one for shard in run.read(given.batches) for one in shard.failures]
        found = run.find()
        cut = run.cluster(found)
        progress.finish()
        return _result(given, failures, run.corpus, cut, found, progress.seconds)


def _result(
    given: Input,
    failures: Sequence[tuple[str, int, str]],
    corpus: Corpus,
    cut: Cut,
    found: FoundPairs,
    seconds: dict[str, float],
) -> Result:
    """What was found, by position in what was given."""
    import numpy as np

    from neardup.config.filters import REASONS
    from neardup.pipeline.positions import at_positions
    from neardup.result import Result

    positions = given.positions(failures)
    account = given.account(failures)
    if account.rows:
        account.check(allow=1)  # raises if there is no document in them
    cut, found = at_positions(cut, found, positions, given.total)
    filtered = corpus.column("filtered")
    out = np.flatnonzero(filtered)
    return Result(
        ids=given.ids(corpus, positions),
        cut=cut,
        found=found,
        threshold=given.config.verify.threshold,
        empty_rows=positions[corpus.column("empty") != 0],
        filtered_rows=positions[out],
        filtered_by=tuple(REASONS[int(code)] for code in filtered[out]),
        rejected=tuple(given.rejected),
        failed=len(failures),
        account=account.to_json(),
        seconds=seconds,
        source=given.documents,
        measure=given.config.verify.name,
        equal=given.config.equal,
    )


def _settled(
    config: Config,
    threshold: float | None,
    floor: float | None,
    recall: float | None,
    features: TextFeatures | None,
    keep: Keep | By | None,
    protect: Sequence[Guard] | None,
) -> Config:
    """The config with what was said beside it."""
    from dataclasses import replace

    from neardup.clusters.keepers import Keep
    from neardup.config.config import Config

    if not isinstance(config, Config):
        raise ConfigError(f"config is nd.Config(...), not {config!r}")
    if threshold is not None or floor is not None:
        at = config.verify.threshold if threshold is None else threshold
        config = config.with_threshold(at, floor)
    if recall is not None:
        config = replace(config, recall=recall)
    if features is not None:
        config = replace(config, features=features)
    if isinstance(protect, str):
        raise ConfigError(f"protect is a list; write protect=[{protect!r}]")
    if protect is not None:
        config = replace(config, protect=tuple(protect))
    if isinstance(keep, str):
        keep = replace(config.keep, by=keep)
    elif keep is not None and not isinstance(keep, Keep):
        raise ConfigError(f'keep is a policy such as "longest" or nd.Keep(...), not {keep!r}')
    return replace(config, keep=keep) if keep is not None else config
