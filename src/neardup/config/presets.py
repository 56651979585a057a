"""Settings for each use: a named Config, and the reason for its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from neardup.clusters.keepers import Keep
from neardup.compare.verify import Containment, Jaccard
from neardup.config.config import Config, Templates
from neardup.config.filters import Filters
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize
from neardup.features.shingles import Shingles, Words
from neardup.fingerprints.minhash import MinHash
from neardup.search.lsh import LSH
from neardup.values.checks import check_fields, checked

__all__ = ["PRESETS", "Preset", "preset"]


@dataclass(frozen=True)
class Preset:
    """A named Config: what it is `made_for`, the `reason` of its settings, and a `warning` where there is one.

    name  the name for `nd.preset`
    make  a function that returns the config

    >>> import neardup as nd
    >>> nd.config.PRESETS["source"].made_for
    'source files'
    """

    name: str
    made_for: str
    reason: str
    make: Callable[[], Config]
    warning: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def config(self) -> Config:
        return self.make()


def _crawl() -> Config:
    figures = Normalize(digits="fold", ids="fold", dates="fold")
    return Config(features=Shingles(normalize=figures), verify=Jaccard(0.8, 0.7), html="main")


def _news() -> Config:
    return Config(
        features=Shingles(width=3),
        verify=Jaccard(0.5, 0.4),
        filters=Filters(min_words=20, same_language=True),
        keep=Keep(by="longest"),
        protect=(),  # a reprint has its own headline; texts of two languages are never compared
    )


def _mail() -> Config:
    figures = Normalize(digits="fold", ids="fold", dates="fold")
    return Config(
        features=Shingles(width=3, normalize=figures),
        verify=Jaccard(0.7, 0.6),
        keep=Keep(by="first"),
        protect=("language",),  # the first line of a mail is a greeting, with a name
    )


def _legal() -> Config:
    # 80% of the shorter one's terms in the longer, and that no more than a fourth longer: Jaccard is .8 / 1.45 or more.
    return Config(
        features=Words(),
        fingerprint=MinHash(512),
        search=LSH.for_threshold(0.55, 0.99, values=512),
        verify=Containment(0.8, 0.8),
        filters=Filters(length=0.2),
        short=0,
        keep=Keep(by="last"),
    )


def _source() -> Config:
    code = Normalize(casefold=False, punctuation="keep")
    return Config(
        features=Shingles(width=7, normalize=code),
        verify=Jaccard(0.7, 0.6),
        keep=Keep(by="first"),
        protect=("numbers",),  # a table of other numbers is another file; the first line is no title
    )


def _plagiarism() -> Config:
    # Heavy rewriting leaves few runs of five words: of three, a sixth of an answer still is its source's.
    return Config(
        features=Shingles(width=3),
        verify=Containment(0.15, 0.1),
        recall=0.95,
        short=0,
        keep=Keep(by="first"),
        protect=(),  # it lists what was borrowed, whatever its title
    )


def _short() -> Config:
    # Short texts are mostly template: what recurs in 1% of them is not compared, and few of the rest must be shared.
    return Config(features=Shingles(width=3), verify=Jaccard(0.3, 0.2), templates=Templates(share=0.01))


def _corpus() -> Config:
    return Config(features=Shingles(), verify=Jaccard(0.8, 0.7), html="main", keep=Keep(by="longest"))


_ALL = (
    Preset(
        "crawl",
        "pages of a web crawl",
        "Pages that differ only in ads, counters and time stamps are one page: the main content counts, and digits, "
        "dates and session ids are folded.",
        _crawl,
        "Documents that differ only in figures (price lists, results, bills) are merged; the summary counts those "
        "whose words are equal but for digits.",
    ),
    Preset(
        "news",
        "reprints and agency texts",
        "Editors cut and rewrite: half of the word 3-shingles is enough for people to call two articles one story. "
        "Texts of two languages are never compared, and texts under 20 words (headlines, captions) are left out.",
        _news,
    ),
    Preset(
        "mail",
        "mailboxes and spam waves",
        "Senders vary names, amounts and ids: figures are folded and shingles are short, so that one changed word "
        "costs three of them, not five. The first mail is kept.",
        _mail,
        "Bills and notices that differ only in figures are merged; the summary counts those whose words are equal but "
        "for digits.",
    ),
    Preset(
        "legal",
        "versions of contracts and filings",
        "Conrad and Schriber's rule: 80% of the terms shared and lengths within 20%. Terms are words in any order. The "
        "last version is kept.",
        _legal,
    ),
    Preset(
        "source",
        "source files",
        "Case and punctuation carry meaning in code; runs of seven tokens are about a line. Licence headers weigh "
        "little at .7 of a file's shingles.",
        _source,
    ),
    Preset(
        "plagiarism",
        "essays and papers that borrow",
        "Rewriting leaves few long runs of words: what counts is the share of the shorter text's runs of three words "
        "that the other holds, however long that is. Texts on one subject share under a tenth of them.",
        _plagiarism,
    ),
    Preset(
        "short",
        "short texts such as notes, help pages and product lines",
        "One changed word costs a short text many shingles, so three words of a shingle and .3 of them are enough. "
        "What recurs in more than 1% of the texts is template and not compared; another title is another text.",
        _short,
    ),
    Preset(
        "corpus",
        "training data of language models",
        "Word 5-shingles at .8 almost never merge texts that people call different; the longest copy is kept.",
        _corpus,
    ),
)
PRESETS: Mapping[str, Preset] = {one.name: one for one in _ALL}


@checked
def preset(name: str) -> Config:
    """The Config of a named use: crawl, news, mail, legal, source, plagiarism, short or corpus; see `PRESETS`.

    name    one of the names above
    raises  ConfigError if there is no such preset

    >>> import neardup as nd
    >>> nd.preset("source").verify.threshold
    0.7
    """
    if name not in PRESETS:
        raise ConfigError(f"there is no preset {name!r}; there are: {', '.join(PRESETS)}")
    return PRESETS[name].config
