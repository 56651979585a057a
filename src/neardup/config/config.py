"""One object for everything that decides an answer: a strategy for each stage. TOML files have the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, get_args

from neardup.clusters.keepers import Keep
from neardup.clusters.protect import DEFAULT, Guard, check_guards
from neardup.compare.verify import Containment, Cosine, Edit, Identity, Jaccard
from neardup.config.filters import Filters
from neardup.config.kinds import built_in
from neardup.config.plain import from_plain, to_plain, to_toml
from neardup.config.templates import Templates
from neardup.errors import ConfigError
from neardup.features.highlights import URL_FIELD, Highlights
from neardup.features.shingles import Shingles, TextFeatures, Words
from neardup.features.vectors import Vectors
from neardup.features.weights import Counting, Idf
from neardup.fingerprints.fingerprints import Codes, Fingerprints, Sketches
from neardup.fingerprints.keyed import Keys
from neardup.fingerprints.printer import Printer
from neardup.search.interface import Method
from neardup.search.lsh import LSH
from neardup.values.checks import check_fields, checked
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["VECTOR_BITS", "Config", "Templates"]

VECTOR_BITS = 128
"""The bits of a code of a vector, if nothing else is said."""

Verify = Jaccard | Containment | Cosine | Edit | Identity
Html = Literal["main", "second-opinion", "whole", "trafilatura", "tags", "anchors", "links", "none"]
MethodName = Literal["minhash", "simhash", "bits", "exact", "imatch", "supers", "buckets", "sketch"]


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
    vectors: Vectors | None
    highlights: Highlights | None


@dataclass(frozen=True, repr=False)
class Config:
    """How duplicates are found and which of them is kept. The default is MinHash for corpora.

    `features` are fingerprinted; `compare`, by default the same, are what `verify` measures every candidate on. With
    `idf` the features' weights are multiplied by an inverse document frequency learnt from the corpus beforehand; its
    value is how occurrences count. `fingerprint` and `search` are a pair: MinHash with LSH or Agree; Simhash or
    BitMinHash with a Hamming method; IMatch, SuperFingerprints or BucketChecksums with Agree; or methods of your own,
    see neardup.search.interface. Left out, LSH bands are chosen for the least similarity asked for and the `recall`,
    or for Containment the probes of Inverted, which needs no fingerprint.
    `near=False` finds equal words only. Documents of fewer than `short` tokens are compared by an exact join of
    their feature sets instead, when the measure is Jaccard; 0 turns that off. `html` says what of a page counts.
    `seed` is the seed of all hashes. Left out, `dedup`, `scan` and Spark draw it from the corpus, so that nobody who
    adds a document can know it beforehand; an index draws a secret one.
    `protect` names the guards (`clusters/protect.py`): a document whose difference from its keeper a guard covers is
    kept.
    With `vectors`, documents are compared by the vectors of a column and not by their words: Gaussian projections make
    codes of them, candidates are found within a radius that fits the measure and the `recall`, and verified by the true
    cosine, from 0.9 up if nothing else is said. Texts are what people see, and what guards compare: by default only
    the language, because duplicates in meaning have other titles and passages.

    With `highlights`, the words that a page sets apart, and those of links to it, count more in its simhash.

    templates  learn what recurs in each source, and do not compare it; by default off
    keep       which document of a cluster is kept; by default the longest
    filters    which documents are left out before anything is compared

    >>> import neardup as nd
    >>> config = nd.Config(features=nd.Shingles(3), verify=nd.Jaccard(0.7))
    >>> config.verify.threshold
    0.7
    >>> nd.Config.of("simhash", radius=3).search
    Join(radius=3, ...)
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
    vectors: Vectors | None = None
    highlights: Highlights | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.vectors is not None:
            self._check_vectors()
        if not isinstance(self.features, TextFeatures) or not isinstance(self.compare, TextFeatures | None):
            raise ConfigError("features are Words, Shingles, Characters or Sentences")
        if not isinstance(self.verify, Verify):
            raise ConfigError("candidates are verified by Jaccard, Containment, Cosine, Edit or Identity")
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
        self._check_highlights()
        if self.idf is not None and self.features.weights != "constant":
            raise ConfigError("idf is learnt from the corpus: leave the features' own weights out")

    def _check_vectors(self) -> None:
        """ConfigError for settings that need words. The default measure becomes the cosine; of the default guards only
        that of the language remains, for other words with the same meaning are what vectors find."""
        if self.verify == Jaccard():
            object.__setattr__(self, "verify", Cosine(0.9))
        if self.protect == DEFAULT:
            object.__setattr__(self, "protect", ("language",))
        if not isinstance(self.verify, Cosine):
            raise ConfigError(f"vectors are compared by their cosine: use nd.Cosine, not {self.verify!r}")
        if not self.near:
            raise ConfigError("vectors are compared by their cosine: near=False finds equal words only")
        for name in ("compare", "idf", "templates"):
            if getattr(self, name) is not None:
                raise ConfigError(f"{name} is for words; leave it out with vectors")
        if self.fingerprint is not None and not self._has_simhash:
            raise ConfigError(
                f"vectors have codes of Simhash(gaussian=True), not of {type(self.fingerprint).__name__}"
            )

    @property
    def _has_simhash(self) -> bool:
        from neardup.fingerprints.simhash import Simhash  # seldom asked

        return isinstance(self.fingerprint, Simhash)

    def _check_highlights(self) -> None:
        """ConfigError for highlights with settings that have no use for the weights of words."""
        if self.highlights is None:
            return
        if self.vectors is not None:
            raise ConfigError("highlights weigh words; leave them out with vectors")
        if not self._has_simhash or type(self.features) is not Words:
            raise ConfigError(
                'highlights weigh single words, of a simhash: use nd.Config.of("simhash", highlights=...)'
            )
        if self.features.select is not None:
            raise ConfigError("highlights weigh all words; leave the selection of features out")
        if self.html not in ("main", "whole"):
            raise ConfigError(
                f'highlights are in the text of pages: html is "main" or "whole", not {self.html!r}'
            )

    @property
    def equal(self) -> str:
        """What exact duplicates have in common: their words, or their vector."""
        return "words" if self.vectors is None else "vector"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a document that are needed beside its text."""
        own = () if self.vectors is None else (self.vectors.column,)
        url = (URL_FIELD,) if self.highlights is not None and self.highlights.links is not None else ()
        return (*own, *url, *self.keep.fields)

    def check_words(self, where: str) -> None:
        """ConfigError if documents have vectors or highlights, where there are only texts."""
        if self.vectors is not None:
            raise ConfigError(f"{where} compares words; vectors are for scan, dedup and nd.dedup")
        if self.highlights is not None:
            raise ConfigError(
                f"{where} takes texts without pages; highlights are for scan, dedup and nd.dedup"
            )

    def _spread(self) -> None:
        """Give the seed to the strategies."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | Seed):
            raise ConfigError(f"a seed is a whole number from 0 to 2**64 - 1, not {self.seed!r}")
        made = Seed.of(self.seed)
        seed = made if made.secret else made.value
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "features", replace(self.features, seed=seed))
        if self.vectors is not None:
            object.__setattr__(self, "vectors", replace(self.vectors, seed=seed))
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
        return f"<Config: {self.outline}, keep {self.keep.by}>" if self.near else f"<Config: {self.outline}>"

    @property
    def outline(self) -> str:
        """How duplicates are found, in a few words."""
        if not self.near:
            return "equal words only"
        method = self.prints if self._search.takes else self._search
        search = "" if self.search is None else f" + {type(self.search).__name__}"
        verified = f"{type(self.verify).__name__} >= {self.verify.threshold:g}"
        made = type(self.features if self.vectors is None else self.vectors).__name__
        return f"{made}, {type(method).__name__}{search}, {verified}"

    @property
    def shown(self) -> TextFeatures:
        """What a pair shares is shown in these, for any measure."""
        return self.features if self.compare is None else self.compare

    @property
    def compared(self) -> TextFeatures:
        """What `verify` measures."""
        return self.verify.measured_on(self.shown)

    @property
    def bands(self) -> LSH:
        """The LSH bands for the least similarity and the recall, of as many values as the fingerprint has."""
        return LSH.usual(self.verify.jaccard, self.recall, getattr(self.fingerprint, "values", None))

    @property
    def prints(self) -> Printer:
        """The fingerprint in force."""
        search = self._search
        if self.fingerprint is not None:
            return search.fitted_printer(self.fingerprint)
        if self.vectors is not None:
            bits = getattr(self.search, "bits", None) or VECTOR_BITS
            return search.fitted_printer(built_in("simhash", bits, gaussian=True, margins="none"))
        usual = search.fingerprint()
        return usual if self.seed is None else usual.seeded(self.seed)

    @property
    def method(self) -> Method | None:
        """The search in force, with everything chosen that it leaves open; None if only equal words are found."""
        return self._search.settled(self.prints, self.verify, self.recall) if self.near else None

    @property
    def _search(self) -> Method:
        if self.search is not None:
            return self.search
        if self.vectors is not None:
            bits = VECTOR_BITS if self.fingerprint is None else getattr(self.fingerprint, "bits", VECTOR_BITS)
            from neardup.search.vector_radius import radius_for  # not for texts

            return _join(radius_for(self.verify.least, bits, self.recall))
        if self.fingerprint is None:
            probes: Method = built_in("inverted") if isinstance(self.verify, Containment) else self.bands
            return probes
        usual = _USUAL.get(self.fingerprint.makes)
        if usual is None:
            raise ConfigError(f"name the search for {type(self.fingerprint).__name__}: there is no default")
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
        are verified in the same way. Everything else is a field of Config."""
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
            chosen.setdefault("fingerprint", built_in("simhash", margins="none"))
            chosen.setdefault("search", built_in("join", radius=8 if radius is None else radius))
        elif method == "bits":
            chosen.setdefault("fingerprint", built_in("bits"))
            chosen.setdefault("search", built_in("join", radius=12 if radius is None else radius))
        elif method in ("imatch", "buckets"):
            shingles = chosen.pop("features", Shingles())
            words = Words(normalize=shingles.normalize)
            chosen = {"compare": shingles, "features": words, **chosen}
            if method == "imatch":
                chosen.setdefault("fingerprint", built_in("imatch", lexicons=10, share=0.3))
                chosen.setdefault("search", built_in("agree", 3))
            else:
                chosen.setdefault("fingerprint", built_in("buckets"))
        elif method == "supers":
            chosen.setdefault("fingerprint", built_in("supers"))
        elif method == "sketch":
            chosen.setdefault("fingerprint", built_in("minhash", 100))
            chosen.setdefault("search", built_in("agree", 90))
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
    @checked
    def load(cls, path: str | Path) -> Config:
        """Read a TOML file. Unknown names are refused, with those there are."""
        import tomllib  # for files alone

        try:
            plain = tomllib.loads(Path(path).read_text("utf-8"))
        except (ValueError, RecursionError) as error:  # bad TOML, bad UTF-8, a number without end, nesting
            raise ConfigError(f"{path}: {error}") from None
        return cls.from_plain(plain, str(path))


def _join_for(config: Config, fingerprint: Any) -> Method:
    return _join({32: 3, 64: 8}.get(fingerprint.bits, 16))


def _join(radius: int) -> Method:
    made: Method = built_in("join", radius)
    return made


# How each kind of fingerprint is searched where a config does not say.
_USUAL: dict[type[Fingerprints], Callable[[Config, Any], Method]] = {
    Sketches: lambda config, fingerprint: config.bands,
    Codes: _join_for,
    Keys: lambda config, fingerprint: built_in("agree", fingerprint.agreeing),
}
