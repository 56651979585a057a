"""Templates of sources: what recurs across the pages of a site, learnt by frequency, shown as text and taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.compare.verify import Jaccard
from neardup.config.config import Config, Templates
from neardup.features.lines import LineTable, without_lines
from neardup.features.normalize import Normalize, normalize, tokens
from neardup.features.shingles import Shingles, TextFeatures
from neardup.features.weights import Common
from neardup.fingerprints.one_pass import digest
from neardup.pipeline.equal_words import first_rows
from neardup.pipeline.fit import template_lines
from neardup.pipeline.inputs import Documents, incoming
from neardup.pipeline.run import Run
from neardup.values.checks import check_fields, checked, checked_methods
from neardup.values.distinct import hashes_among

__all__ = ["LearntTemplates", "SourceTemplate", "learn_templates"]

_SHOWN_FROM = 50  # documents of a source looked at for passages to show
_LONGEST = 40  # words of a passage shown


@dataclass(frozen=True)
class SourceTemplate:
    r"""What recurs in one source: the numbers of learnt `features` and `lines`, and some of them.

    `share` is the share of the features of its documents that were learnt. `passages` and `line_samples` are the most
    frequent ones: pairs of a text and the number of documents that contain it.

    >>> import neardup as nd
    >>> texts = [f"Home, news and contact of the harbour\nStory {number} of the day" for number in range(200)]
    >>> learnt = nd.pipeline.learn_templates(texts)
    >>> learnt.sources[0].line_samples
    (('home news and contact of the harbour', 200),)
    """

    source: str
    documents: int
    features: int
    lines: int
    share: float
    passages: tuple[tuple[str, int], ...]
    line_samples: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        check_fields(self)


@checked_methods
@dataclass(frozen=True)
class LearntTemplates:
    r"""What was learnt from each source that has enough documents; `small` counts the sources that have too few.

    `exact` counts the documents that have the words of an earlier one: as they are, then without template lines, then
    with digits, dates and session ids folded as well. What it gains needs no search for near-duplicates any more.
    `figures` counts those of the last step that differ in what was folded alone: look at them before you fold.

    sources    what was learned, for each source
    documents  documents read
    settings   the `Templates` that were used
    lines      hashes of the template lines of each source
    features   how features are made

    >>> import neardup as nd
    >>> texts = [f"Home, news and contact of the harbour\nStory {number} of the day" for number in range(200)]
    >>> learnt = nd.pipeline.learn_templates(texts)
    >>> learnt.documents, learnt.small
    (200, 0)
    """

    sources: tuple[SourceTemplate, ...]
    small: int
    documents: int
    settings: Templates
    exact: tuple[int, int, int]
    figures: int
    lines: Mapping[str, NDArray[np.uint64]] = field(repr=False)
    features: TextFeatures = field(default_factory=Shingles, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)

    def strip(self, text: str, source: str = "") -> str:
        """A text of a source without the source's template lines; as it is, if nothing else would be left."""
        known = self.lines.get(source)
        return text if known is None else _stripped([text], known, self.features, 1)[0]

    def to_json(self) -> dict[str, Any]:
        """Everything but the lists of lines, as plain JSON values."""
        return {
            "documents": self.documents,
            "small_sources": self.small,
            "settings": asdict(self.settings),
            "exact": dict(zip(("before", "without_lines", "folded"), self.exact, strict=True)),
            "figures": self.figures,
            "sources": [asdict(source) for source in self.sources],
        }


@checked
def learn_templates(
    documents: Documents, config: Config | None = None, *, samples: int = 5, threads: int = 1
) -> LearntTemplates:
    r"""Learn what recurs in more than `config.templates.share` of the documents of each source.

    `documents` as for `dedup`. Sources are files, or what `config.keep.source` says. Features are those the config
    compares; lines are whole lines of text, equal where their words are. Texts are held in memory.

    samples  how many lines and passages of each source are listed
    threads  from 1 up
    raises   UnsupportedInput for what holds no documents

    >>> import neardup as nd
    >>> texts = [f"Home, news and contact of the harbour\nStory {number} of the day" for number in range(200)]
    >>> learnt = nd.pipeline.learn_templates(texts)
    >>> learnt.sources[0].lines
    1
    """
    config = config or Config()
    settings = config.templates or Templates()
    verify = config.verify if config.verify.templates else Jaccard(config.verify.threshold)
    config = replace(config, templates=settings, verify=verify, near=True)
    given = incoming(documents, config)
    config = given.config
    run = Run(config, threads=threads)
    run.read(given.batches)
    corpus, prepared = run.corpus, run.learn()
    texts = [
        text.decode("utf-8", "replace")
        for part in corpus.shards
        for text in part.text_bytes(np.arange(part.count))
    ]
    names, how = corpus.source_names, config.compared.normalize
    found, lines = [], {}
    live = np.flatnonzero(~corpus.out)
    for number, one in sorted(prepared.templates.items()):
        rows = live[corpus.sources[live] == number]
        mine = [texts[row] for row in rows]
        keys, counts = template_lines(corpus, rows, config, threads)
        lines[names[number]] = keys
        assert one.compared is not None, "the measure is one of sets"
        found.append(
            SourceTemplate(
                names[number],
                len(rows),
                len(one.compared.frequencies.hashes),
                len(keys),
                _share(mine, config.compared, one.compared, threads),
                _passages(mine, config.compared, one.compared, samples),
                _line_samples(mine, keys, counts, config.compared, samples, threads),
            )
        )
    learnt = LearntTemplates(
        tuple(found),
        len(np.unique(corpus.sources[live])) - len(found),
        len(corpus),
        settings,
        (0, 0, 0),
        0,
        lines,
        config.compared,
    )
    stripped = list(texts)
    for number in prepared.templates:
        rows = np.flatnonzero(corpus.sources == number)
        made = _stripped([texts[row] for row in rows], lines[names[number]], config.compared, threads)
        for row, text in zip(rows.tolist(), made, strict=True):
            stripped[row] = text
    plain = replace(how, digits="keep", dates="keep", ids="keep").without_words()
    folded = replace(plain, digits="fold", dates="fold", ids="fold")
    first = [
        _firsts(some, each, config, threads)
        for some, each in ((texts, plain), (stripped, plain), (stripped, folded))
    ]
    gone = [int((part != np.arange(len(part))).sum()) for part in first]
    only = int((first[1] != first[1][first[2]]).sum())
    return replace(learnt, exact=(gone[0], gone[1], gone[2]), figures=only)


def _firsts(texts: Sequence[str], how: Normalize, config: Config, threads: int) -> NDArray[np.int64]:
    made = digest(texts, normalized=how, seed=config.compared.seed, threads=threads)
    return first_rows(np.ascontiguousarray(made.digests).view("<u8").reshape(-1, 2), made.empty)


def _stripped(
    texts: Sequence[str], known: NDArray[np.uint64], features: TextFeatures, threads: int
) -> list[str]:
    raw = [text.encode("utf-8", "replace") for text in texts]
    return [text.decode() for text in without_lines(raw, known, features, threads)]


def _line_samples(
    texts: Sequence[str],
    keys: NDArray[np.uint64],
    counts: NDArray[np.int64],
    features: TextFeatures,
    most: int,
    threads: int,
) -> tuple[tuple[str, int], ...]:
    """The most frequent of the lines as their words, with how many texts have each."""
    top = np.lexsort((keys, -counts))[:most]
    wanted = {int(keys[i]): int(counts[i]) for i in top}
    found: dict[int, str] = {}
    for start in range(0, len(texts), _SHOWN_FROM):
        if len(found) == len(wanted):
            break
        lines = LineTable(
            [text.encode("utf-8", "replace") for text in texts[start : start + _SHOWN_FROM]],
            features,
            threads,
        )
        for i in np.flatnonzero(hashes_among(lines.keys, keys[top])).tolist():
            raw = lines.data[lines.begins[i] : lines.ends[i]].tobytes().decode()
            found.setdefault(int(lines.keys[i]), normalize([raw], features.normalize)[0])
    ranked = sorted(((found[key], count) for key, count in wanted.items()), key=lambda one: (-one[1], one[0]))
    return tuple(ranked)


def _share(texts: Sequence[str], features: TextFeatures, common: Common, threads: int) -> float:
    """What part of the texts' features is common."""
    every = features.extract(texts, threads=threads).hashes
    return float(hashes_among(every, common.frequencies.hashes).mean()) if len(every) else 0.0


def _passages(
    texts: Sequence[str], features: TextFeatures, common: Common, most: int
) -> tuple[tuple[str, int], ...]:
    """Runs of words all of whose features are common, those in most texts first, then the longest, with how many texts
    have each. They are taken from some texts, spread over all."""
    step = -(-len(texts) // _SHOWN_FROM) or 1
    seen: Counter[str] = Counter()
    for text in texts[::step]:
        seen.update(set(_runs(text, features.unweighted(), common)))
    runs = sorted(seen, key=lambda run: (-seen[run], -len(run), run))[:most]
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), _SHOWN_FROM):
        for words in tokens(texts[start : start + _SHOWN_FROM], features.normalize):
            text = f" {' '.join(words)} "
            counts.update(run for run in runs if f" {run.removesuffix(' …')} " in text)
    return tuple((run, counts[run]) for run in sorted(runs, key=lambda run: (-counts[run], -len(run), run)))


def _runs(text: str, features: TextFeatures, common: Common) -> Iterator[str]:
    words = tokens([text], features.normalize)[0]
    width = min(features.width, len(words))
    if not width or features.unit.name != "words":
        return
    shingles = [" ".join(words[i : i + width]) for i in range(len(words) - width + 1)]
    made = features.extract(shingles)
    hashes = made.hashes[made.offsets[:-1]]
    known = hashes_among(hashes, common.frequencies.hashes)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    for begin, end in edges.reshape(-1, 2).tolist():
        run = words[begin : end + width - 1]
        yield " ".join(run[:_LONGEST]) + (" …" if len(run) > _LONGEST else "")
