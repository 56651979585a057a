"""The rules that a calibration chooses from: what is compared and by which measure; and the score of pairs by each.

A rule with a threshold is a config: the width of shingles, the measure, whether templates are left out, what of a page
counts, and the guards. A pair that a guard holds has score 0, for it is never called a duplicate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.protect import DEFAULT, Guard, held_reasons
from neardup.compare.changes import describe
from neardup.compare.similarity import containment, jaccard
from neardup.compare.verify import Containment, Jaccard, Pairs
from neardup.config.config import Config, Templates
from neardup.features import Shingles
from neardup.features.features import Features
from neardup.features.lines import lines_of, recurring_lines, without_lines
from neardup.features.weights import Common, Frequencies
from neardup.values.checks import checked_methods

__all__ = ["RULES", "WIDTHS", "Rule", "rule_scores", "rules_for"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Page = Literal["main", "whole"]
WIDTHS = (5, 3, 8, 12)


@checked_methods
@dataclass(frozen=True)
class Rule:
    """What is compared and how; with a threshold it is a config.

    width      words of a shingle
    measure    "jaccard" or "containment"
    templates  whether what recurs in a source is left out
    html       what of a page is compared: its main content or the whole page
    guards     which differences keep a document

    >>> import neardup as nd
    >>> nd.evaluate.Rule(width=3, measure="containment").guards
    ('title', 'language', 'passages')
    """

    width: int = 5
    measure: Literal["jaccard", "containment"] = "jaccard"
    templates: bool = False
    html: Page = "main"
    guards: tuple[Guard, ...] = DEFAULT

    @property
    def departures(self) -> int:
        """The number of settings in which the rule differs from the default."""
        usual = Rule()
        names = ("width", "measure", "templates", "html", "guards")
        return sum(getattr(self, name) != getattr(usual, name) for name in names)

    def __str__(self) -> str:
        name = {"jaccard": "Jaccard", "containment": "containment"}[self.measure]
        said = [f"{name} of {self.width}-word shingles"]
        said += ["without templates"] if self.templates else []
        said += ["of whole pages"] if self.html == "whole" else []
        said.append(f"guards {', '.join(self.guards)}" if self.guards else "no guards")
        return ", ".join(said)

    def options(self, threshold: float) -> str:
        """The options of `neardup scan` that mean this rule; defaults are left out."""
        said = [f"--threshold {threshold:g}"]
        said += [f"--width {self.width}"] if self.width != 5 else []
        said += [f"--measure {self.measure}"] if self.measure != "jaccard" else []
        said += [f"--templates {Templates().share:g}"] if self.templates else []
        said += [f"--html {self.html}"] if self.html != "main" else []
        if self.guards != DEFAULT:
            said.append(f"--protect {','.join(self.guards) or 'none'}")
        return " ".join(said)

    def config(self, threshold: float) -> Config:
        """The config of this rule."""
        floor = max(round(threshold - 0.1, 6), min(0.05, threshold))
        verify = (Jaccard if self.measure == "jaccard" else Containment)(threshold, floor)
        return Config(
            features=Shingles(self.width),
            verify=verify,
            templates=Templates() if self.templates else None,
            html=self.html,
            protect=self.guards,
        )


RULES: tuple[Rule, ...] = tuple(
    sorted(
        (
            Rule(width, measure, templates, page, guards)
            for width in WIDTHS
            for measure in ("jaccard", "containment")
            for templates in (False, True)
            for page in ("main", "whole")
            for guards in (DEFAULT, ())
        ),
        key=lambda rule: rule.departures,
    )
)  # fmt: skip
"""The default first, then by how much they differ from it."""


def rules_for(pages: Mapping[Page, object], documents: int) -> tuple[Rule, ...]:
    """The rules that make sense here: whole pages if there are any, templates where there are enough documents."""
    many = documents >= Templates().least
    return tuple(rule for rule in RULES if rule.html in pages and (many or not rule.templates))


def rule_scores(
    pages: Mapping[Page, Sequence[bytes]],
    rank: Rows,
    left: Rows,
    right: Rows,
    rules: Sequence[Rule],
    *,
    threads: int = 1,
) -> Floats:
    """The score of each pair of rows by each rule: an array of rules x pairs. `pages` holds the texts of all documents,
    of main content and perhaps of whole pages too; templates are learnt from all of them."""
    rows, at = np.unique(np.concatenate([left, right]), return_inverse=True)
    ours, theirs = at[: len(left)], at[len(left) :]
    plain: dict[tuple[Page, int, bool, str], Floats] = {}
    held: dict[tuple[Page, tuple[Guard, ...]], NDArray[np.bool_]] = {}
    for page, texts in pages.items():
        mine = [rule for rule in rules if rule.html == page]
        for width, cut, made in _features(texts, rows, mine, threads):
            plain[page, width, cut, "jaccard"] = jaccard(made, ours, theirs, threads=threads)
            plain[page, width, cut, "containment"] = containment(
                made, ours, theirs, of="smaller", threads=threads
            )
        if any(rule.guards for rule in mine):
            sizes = np.fromiter(map(len, texts), np.int64, len(texts))
            pairs = Pairs.of(left, right, np.ones(len(left)))
            fetch = partial(_rows_of, texts)
            counts = describe(pairs, sizes, fetch, threads=threads)
            for guards in {rule.guards for rule in mine}:
                held[page, guards] = held_reasons(counts, guards, rank[left] <= rank[right]) != 0
    scores = np.zeros((len(rules), len(left)))
    for place, rule in enumerate(rules):
        found = plain[rule.html, rule.width, rule.templates, rule.measure]
        scores[place] = np.where(held[rule.html, rule.guards], 0.0, found) if rule.guards else found
    return scores


def _rows_of(texts: Sequence[bytes], rows: Rows) -> list[bytes]:
    return [texts[row] for row in rows.tolist()]


def _features(
    texts: Sequence[bytes], rows: Rows, rules: Sequence[Rule], threads: int
) -> Iterator[tuple[int, bool, Features]]:
    """The features of some rows for each width, with templates and without them, as a scan makes them."""
    chosen = [texts[row] for row in rows.tolist()]
    often = Templates().often(len(texts))
    without: list[bytes] | None = None
    for width, cut in sorted({(rule.width, rule.templates) for rule in rules}):
        features = Shingles(width)
        if not cut:
            yield width, cut, features.extract(chosen, threads=threads)
            continue
        if without is None:
            lines, _ = recurring_lines(iter([lines_of(texts, features, threads)]), often)
            without = without_lines(chosen, lines, features, threads)
        every = Frequencies.count(texts, features, threads=threads)
        common = replace(
            every, hashes=every.hashes[every.counts > often], counts=every.counts[every.counts > often]
        )
        template = Common(common, Templates().share, Templates().floor)
        yield width, cut, replace(features, common=template).extract(without, threads=threads)
