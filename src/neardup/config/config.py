"""One object for everything that decides an answer: a strategy for each stage. TOML files have the same names."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, get_args

from neardup.clusters.keepers import Keep
from neardup.clusters.protect import DEFAULT, Guard, check_guards
from neardup.compare.verify import Containment, Cosine, Jaccard
from neardup.config.filters import Filters
from neardup.config.plain import from_plain, to_plain, to_toml
from neardup.errors import ConfigError
from neardup.features.shingles import Shingles, TextFeatures, Words
from neardup.features.weights import Counting, Idf
from neardup.fingerprints.bucket_checksums import BucketChecksums
from neardup.fingerprints.fingerprints import Codes, Fingerprints, Sketches
from neardup.fingerprints.imatch import IMatch
from neardup.fingerprints.keyed import Keys
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.printer import Printer
from neardup.fingerprints.simhash import Simhash
from neardup.fingerprints.super_fingerprints import SuperFingerprints
from neardup.search.agreement import Agree
from neardup.search.containment import Inverted
from neardup.search.hamming.join import Join
from neardup.search.interface import Method
from neardup.search.lsh import LSH
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["Config", "Templates"]

Verify = Jaccard | Containment | Cosine
Html = Literal["main", "whole", "trafilatura", "tags", "anchors", "links", "none"]
MethodName = Literal["minhash", "simhash", "bits", "exact", "imatch", "supers", "buckets", "sketch"]


@dataclass(frozen=True)
class Templates:
    """Lines and features that recur in more than `share` of a source's documents are not compared: menus, footers,
    notices. Lines go before features are made, unless `lines` is False; a document that has no others keeps them.

    They must be in `at_least` documents too: where a source is small, copies of one page are no template.
    They are learnt from up to `sample` documents of each source that has at least `least`; of a document that has
    nothing else the `floor` least common ones stay.
    """

    share: float = 0.01
    least: int = 100
    floor: int = 1
    sample: int = 10_000
    at_least: int = 10
    lines: bool = True

    def often(self, documents: int) -> float:
        """In more documents than this something recurs, of so many that were looked at."""
        return max(self.share * documents, self.at_least - 1)

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ConfigError(f"templates: a share is between 0 and 1, not {self.share}")
        if min(self.least, self.floor, self.sample, self.at_least) < 1:
            raise ConfigError("templates: least, floor, sample and at_least are 1 or more")


class ConfigFields(TypedDict, total=False):
    """The fields of Config, each as an option."""

    features: TextFeatures
    compare: TextFeatures | None
    idf: Counting | None
    fingerprint: Printer | None
    search: Method | None
    verify: Verify
    near: bool
    recall: float
    short: int
    templates: Templates | None
    clusters: Literal["keepers", "components"]
    keep: Keep
    protect: tuple[Guard, ...]
    filters: Filters
    html: Html
    seed: int | Seed | None


@dataclass(frozen=True, repr=False)
class Config:
    """How duplicates are found and which of them is kept. The default is MinHash for corpora.

    `features` are fingerprinted; `compare`, by default the same, are what `verify` measures every candidate on. With
    `idf` the features' weights are multiplied by an inverse document frequency learnt from the corpus beforehand; its
    value is how occurrences count. `fingerprint` and `search` are a pair: MinHash with LSH or Agree; Simhash or
    BitMinHash with a Hamming method; IMatch, SuperFingerprints or BucketChecksums with Agree; or methods of your own,
    see neardup.search.interface. Left out, LSH bands are chosen for the least similarity asked for and the `recall`,
    or for Containment the probes of Inverted, which needs no fingerprint.
    `near=False` looks for equal words only. Documents of fewer than `short` tokens are compared by an exact join of
    their feature sets instead, when the measure is Jaccard; 0 turns that off. `html` says what of a page counts.
    `seed` is the seed of all hashes. Left out, `dedup`, `scan` and Spark draw it from the corpus, so that nobody who
    adds a document can know it beforehand; an index draws a secret one.
    `protect` names the guards (`clusters/protect.py`): a document that differs so from its keeper is kept.
    """

    features: TextFeatures = field(default_factory=Shingles)
    compare: TextFeatures | None = None
    idf: Counting | None = None
    fingerprint: Printer | None = None
    search: Method | None = None
    verify: Verify = field(default_factory=Jaccard)
    near: bool = True
    recall: float = 0.99
    short: int = 40
    templates: Templates | None = None
    clusters: Literal["keepers", "components"] = "keepers"
    keep: Keep = field(default_factory=Keep)
    protect: tuple[Guard, ...] = DEFAULT
    filters: Filters = field(default_factory=Filters)
    html: Html = "main"
    seed: int | Seed | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.features, TextFeatures) or not isinstance(self.compare, TextFeatures | None):
            raise ConfigError("features are Words, Shingles, Characters or Sentences")
        if not isinstance(self.verify, Verify):
            raise ConfigError("candidates are verified by Jaccard, Containment or Cosine")
        if not isinstance(self.fingerprint, Printer | None):
            raise ConfigError(f"a fingerprint is MinHash, Simhash or BitMinHash, not {self.fingerprint!r}")
        if not isinstance(self.search, Method | None):
            raise ConfigError(f"a search is LSH or a Hamming method, not {self.search!r}")
        for name, kind in (("keep", Keep), ("filters", Filters), ("templates", Templates | None)):
            if not isinstance(getattr(self, name), kind):
                raise ConfigError(f"{name} is nd.{name.title()}(...), not {getattr(self, name)!r}")
        if self.seed is not None:
            self._spread()
        check_guards(self.protect)
        if not 0 < self.recall < 1:
            raise ConfigError(f"a recall is between 0 and 1, not {self.recall}")
        if self.short < 0:
            raise ConfigError(f"short documents have fewer than `short` tokens: 0 or more, not {self.short}")
        if self.clusters not in ("keepers", "components"):
            raise ConfigError(f'clusters are made of "keepers" or "components", not {self.clusters!r}')
        if self.html not in get_args(Html):
            raise ConfigError(f"html is one of {', '.join(get_args(Html))}, not {self.html!r}")
        if self.search is not None:
            self.search.check_fit(self.prints, self.fingerprint is not None, self.verify)
        if self.idf is not None and self.features.weights != "constant":
            raise ConfigError("idf is learnt from the corpus: leave the features' own weights out")

    def _spread(self) -> None:
        """Give the seed to the strategies."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | Seed):
            raise ConfigError(f"a seed is a whole number from 0 to 2**64 - 1, not {self.seed!r}")
        made = Seed.of(self.seed)
        seed = made if made.secret else made.value
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "features", replace(self.features, seed=seed))
        if self.compare is not None:
            object.__setattr__(self, "compare", replace(self.compare, seed=seed))
        if self.fingerprint is not None:
            object.__setattr__(self, "fingerprint", self.fingerprint.seeded(seed))

    @property
    def draws_seed(self) -> bool:
        """Whether the seed is left to the corpus: none is given, and nothing was fitted with one."""
        own = [self.features, *(part for part in (self.compare, self.fingerprint) if part is not None)]
        given = any(Seed.of(getattr(part, "seed", DEFAULT_SEED)) != Seed(DEFAULT_SEED) for part in own)
        parts = [part for part in own if isinstance(part, TextFeatures)]
        fitted = any(
            isinstance(part.weights, Idf) or part.common is not None or part.phrases is not None
            for part in parts
        )
        return self.seed is None and not given and not fitted

    def __repr__(self) -> str:
        """One line with what most people ask first; `to_toml` has everything."""
        if not self.near:
            return "<Config: equal words only>"
        method = self.prints if self._search.takes else self._search
        search = "" if self.search is None else f" + {type(self.search).__name__}"
        verified = f"{type(self.verify).__name__} >= {self.verify.threshold:g}"
        made = type(self.features).__name__
        return f"<Config: {made}, {type(method).__name__}{search}, {verified}, keep {self.keep.by}>"

    @property
    def compared(self) -> TextFeatures:
        """What `verify` measures."""
        return self.features if self.compare is None else self.compare

    @property
    def bands(self) -> LSH:
        """The LSH bands for the least similarity and the recall, of as many values as the fingerprint has."""
        return LSH.usual(self.verify.least, self.recall, getattr(self.fingerprint, "values", None))

    @property
    def prints(self) -> Printer:
        """The fingerprint in force."""
        if self.fingerprint is not None:
            return self.fingerprint
        usual = self._search.fingerprint()
        return usual if self.seed is None else usual.seeded(self.seed)

    @property
    def method(self) -> Method | None:
        """The search in force, with everything chosen that it leaves open; None if only equal words are looked for."""
        return self._search.settled(self.prints, self.verify, self.recall) if self.near else None

    @property
    def _search(self) -> Method:
        if self.search is not None:
            return self.search
        if self.fingerprint is None:
            return Inverted() if isinstance(self.verify, Containment) else self.bands
        usual = _USUAL.get(self.fingerprint.makes)
        if usual is None:
            raise ConfigError(f"name the search for {type(self.fingerprint).__name__}: there is no usual one")
        return usual(self, self.fingerprint)

    @classmethod
    def of(
        cls,
        method: MethodName = "minhash",
        *,
        threshold: float = 0.8,
        floor: float | None = None,
        radius: int | None = None,
        **others: Unpack[ConfigFields],
    ) -> Config:
        """A named method: "minhash", "simhash" (TF-IDF words, a wide radius, verified), "bits" (1-bit MinHash) or
        "exact"; "imatch" (3 of 10 lexicons), "supers" (2 of 6), "buckets" (most checksums) or "sketch" (90 of 100). All
        are verified alike. Everything else is a field of Config."""
        verify = others.pop("verify", None) or Jaccard(threshold, floor)
        chosen: dict[str, Any] = {"verify": verify, **others}
        if radius is not None and method not in ("simhash", "bits"):
            raise ConfigError(f"a radius is for codes, of simhash or bits; {method} has none")
        if method == "exact":
            chosen["near"] = False
        elif method == "simhash":
            shingles = chosen.pop("features", Shingles())
            chosen = {
                "compare": shingles,
                "features": Words(normalize=shingles.normalize),
                "idf": "count",
                **chosen,
            }
            chosen.setdefault("fingerprint", Simhash(margins="none"))
            chosen.setdefault("search", Join(radius=8 if radius is None else radius))
        elif method == "bits":
            chosen.setdefault("fingerprint", BitMinHash())
            chosen.setdefault("search", Join(radius=12 if radius is None else radius))
        elif method in ("imatch", "buckets"):
            shingles = chosen.pop("features", Shingles())
            words = Words(normalize=shingles.normalize)
            chosen = {"compare": shingles, "features": words, **chosen}
            if method == "imatch":
                chosen.setdefault("fingerprint", IMatch(lexicons=10, share=0.3))
                chosen.setdefault("search", Agree(3))
            else:
                chosen.setdefault("fingerprint", BucketChecksums())
        elif method == "supers":
            chosen.setdefault("fingerprint", SuperFingerprints())
        elif method == "sketch":
            chosen.setdefault("fingerprint", MinHash(100))
            chosen.setdefault("search", Agree(90))
        elif method != "minhash":
            raise ConfigError(f"a method is one of {', '.join(get_args(MethodName))}, not {method!r}")
        return cls(**chosen)

    def with_threshold(self, threshold: float, floor: float | None = None) -> Config:
        """The same with another threshold and floor."""
        return replace(self, verify=replace(self.verify, threshold=threshold, floor=floor))

    def to_plain(self) -> dict[str, Any]:
        """As tables, lists, texts and numbers: what TOML and JSON can hold."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], where: str = "config") -> Config:
        """What `to_plain` gave, or a part of it: what is left out has its default."""
        made = from_plain(cls, plain, where)
        assert isinstance(made, Config)
        return made

    def to_toml(self) -> str:
        """As a TOML file that `load` reads back to an equal Config."""
        return to_toml(self.to_plain())

    @classmethod
    def load(cls, path: str | Path) -> Config:
        """Read a TOML file. Unknown names are refused, with those there are."""
        try:
            plain = tomllib.loads(Path(path).read_text("utf-8"))
        except (ValueError, RecursionError) as error:  # bad TOML, bad UTF-8, a number without end, nesting
            raise ConfigError(f"{path}: {error}") from None
        return cls.from_plain(plain, str(path))


def _join_for(config: Config, fingerprint: Any) -> Method:
    return Join(radius={32: 3, 64: 8}.get(fingerprint.bits, 16))


# How each kind of fingerprint is searched where a config does not say.
_USUAL: dict[type[Fingerprints], Callable[[Config, Any], Method]] = {
    Sketches: lambda config, fingerprint: config.bands,
    Codes: _join_for,
    Keys: lambda config, fingerprint: Agree(fingerprint.agreeing),
}
