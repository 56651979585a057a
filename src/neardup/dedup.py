"""dedup(): the whole job as one call, for documents in memory or read from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.errors import ConfigError
from neardup.progress import Progress

if TYPE_CHECKING:
    from os import PathLike

    from neardup.config.config import Config
    from neardup.result import Result

__all__ = ["dedup"]


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
    # Imported here, so that `import neardup` is quick although this function is among its names.
    import tempfile
    from contextlib import ExitStack
    from dataclasses import replace
    from functools import partial
    from pathlib import Path

    import numpy as np

    from neardup.config.config import Config
    from neardup.pipeline.inputs import incoming
    from neardup.pipeline.pairs import Room
    from neardup.pipeline.run import Run
    from neardup.readers import Limits, read
    from neardup.result import Result
    from neardup.values.sizes import parse_size

    config = _settled(config or Config(), threshold, floor, recall, features, keep)
    progress = progress or Progress()
    room = Room() if memory is None else Room(parse_size(memory))
    with ExitStack() as stack:
        if memory is not None:
            place = stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix="neardup-"))
            room = replace(room, folder=Path(place))
        run = Run(config, room=room, threads=threads, progress=progress)
        progress.stage("read")
        if memory is not None and (isinstance(documents, str) or hasattr(documents, "__fspath__")):
            documents = read(documents, limits=Limits.within(parse_size(memory)))
        source, batches = incoming(documents, config)
        failed = {(file, row) for shard in run.read(batches) for file, row, _ in shard.failures}
        found = run.find()
        cut = run.cluster(found)
        progress.finish()
        corpus = run.corpus
        return Result(
            ids=tuple(corpus.ids(np.arange(len(corpus)))),
            cut=cut,
            found=found,
            threshold=config.verify.threshold,
            empty=int((corpus.column("empty") != 0).sum()),
            filtered=int((corpus.column("filtered") != 0).sum()),
            failed=len(failed),
            seconds=progress.seconds,
            source=partial(source, failed),
        )


def _settled(
    config: Config,
    threshold: float | None,
    floor: float | None,
    recall: float | None,
    features: Any,
    keep: Any,
) -> Config:
    """The config with what was said beside it."""
    from dataclasses import replace

    from neardup.clusters.keepers import Keep

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
