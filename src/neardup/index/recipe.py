"""How an index turns texts into fingerprints and keys: fixed when it is created, and stored in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.features.shingles import TextFeatures
from neardup.features.texts import Texts
from neardup.features.weights import Frequencies, Idf
from neardup.fingerprints.fingerprints import Codes, Digests, Fingerprints, Sketches
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.one_pass import digest, fingerprint
from neardup.fingerprints.simhash import Simhash
from neardup.search.hamming.tables import Compact, TableMethod
from neardup.search.interface import check_codes
from neardup.search.psm.psm import PSM
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["Contents", "Recipe", "default_config"]

Contents = Literal["text", "features", "none"]
Kind = Literal["exact", "codes", "sketches"]
DIGEST_BITS = 128


def default_config(contents: Contents) -> Config:
    """For an index without a sample: 1-bit MinHash codes of word shingles, which need no document frequencies.

    If hits are verified the radius is wide: documents with a Jaccard similarity of 0.8 are 6.4 bits apart on average,
    and 94% of such pairs are within 10 bits. If hits are not verified, the radius is 6 bits, which means about 0.8.
    """
    return Config(fingerprint=BitMinHash(), search=Compact(6 if contents == "none" else 10))


@dataclass(frozen=True)
class Recipe:
    """The config with its seed, the scheme of its fingerprints, and what is stored of a document.

    A `foreign` index accepts only fingerprints of that scheme and makes none itself.
    """

    config: Config
    seed: Seed
    contents: Contents = "text"
    foreign: str | None = None

    @classmethod
    def make(
        cls,
        config: Config,
        seed: Seed | None,
        contents: Contents,
        foreign: str | None,
        sample: Texts | None,
        threads: int,
    ) -> Recipe:
        """The recipe of a new index; a config with `idf` is fitted on the sample."""
        if contents not in ("text", "features", "none"):
            raise ConfigError(f'an index stores "text", "features" or "none" of a document, not {contents!r}')
        if config.near and config.agree is not None:
            raise ConfigError(
                "an index is of MinHash bands or of codes; other schemes are for scans and dedup"
            )
        if config.templates is not None:
            raise ConfigError("templates are learnt from a whole corpus; an index cannot have them")
        if foreign is not None and contents != "none":
            raise ConfigError('an index of foreign fingerprints stores no texts: give store="none"')
        if config.inverted is not None:
            # That search reads a whole corpus. An index compares sketches, which miss a small document inside a large
            # one.
            config = replace(config, search=config.bands)
        features = config.features
        prints = config.fingerprint
        given = [features.seed, config.compared.seed]
        given += [prints.seed] if isinstance(prints, MinHash | BitMinHash) else []
        fitted = isinstance(features.weights, Idf)
        if seed is None:
            own = any(Seed.of(value) != Seed(DEFAULT_SEED) for value in given)
            seed = Seed.of(features.seed) if fitted or own else Seed.secret_random()
        elif fitted and Seed.of(features.seed) != seed:
            raise ConfigError(
                "these weights were fitted with another seed: give a sample instead of fitted weights"
            )
        made = cls(_seeded(config, seed), seed, contents, foreign)
        if config.idf is not None and foreign is None:
            if sample is None:
                raise ConfigError(
                    "these features are weighed by document frequencies, which never change once an index is made: "
                    "give sample=, texts to count them on, or a fingerprint without weights (nd.BitMinHash)"
                )
            weights = Idf.fit(sample, made.config.features, tf=config.idf, threads=threads)
            made = replace(made, config=_weighed(made.config, weights))
        made.method()
        return made

    @property
    def kind(self) -> Kind:
        if not self.config.near:
            return "exact"
        return "sketches" if isinstance(self.config.prints, MinHash) else "codes"

    @property
    def scheme(self) -> str:
        """The scheme of this index's fingerprints."""
        if self.foreign is not None:
            return self.foreign
        return self.prints([]).scheme

    @property
    def verifies(self) -> bool:
        """Whether hits are verified on the features of the documents."""
        return self.contents != "none" and self.kind != "exact"

    @property
    def settings(self) -> Config:
        """The config without seed and document frequencies, for another index that fits its own."""
        weights = self.config.features.weights
        plain = _seeded(_weighed(self.config, "constant"), Seed(DEFAULT_SEED))
        return replace(plain, idf=weights.tf) if isinstance(weights, Idf) else plain

    @property
    def compared(self) -> TextFeatures:
        return self.config.compared

    @property
    def width(self) -> int:
        """Size of a stored fingerprint in bytes."""
        if self.kind == "exact":
            return DIGEST_BITS // 8
        prints = self.config.prints
        assert isinstance(prints, MinHash | Simhash | BitMinHash)
        return 4 * prints.values if isinstance(prints, MinHash) else (prints.bits + 63) // 64 * 8

    def method(self) -> TableMethod:
        """The exact search method of one table of keys; the radius is 0 except for codes."""
        if self.kind == "exact":
            return Compact(0, bits=DIGEST_BITS)
        if self.kind == "sketches":
            return Compact(0)
        hamming = self.config.hamming
        if isinstance(hamming, PSM):
            raise ConfigError(
                "a live index says of near-duplicates that exactly one is new, so it has to find all of them, and PSM "
                "finds a share: give search=nd.search.Compact (smallest), nd.search.Covering (fastest) or nd.BPHS"
            )
        prints = self.config.prints
        assert isinstance(prints, Simhash | BitMinHash)
        if isinstance(hamming, TableMethod):
            if hamming.bits != prints.bits:
                raise ConfigError(f"codes of {prints.bits} bits need a search with bits={prints.bits}")
            return hamming
        return Compact(hamming.radius, bits=prints.bits)

    @property
    def tables(self) -> int:
        """The number of tables of keys: one for each band of a sketch."""
        return self.config.bands.bands if self.kind == "sketches" else 1

    def prints(self, texts: Texts | _core.Texts, threads: int = 1) -> Fingerprints:
        """The fingerprints of texts."""
        if self.foreign is not None:
            raise DataError("this index accepts only fingerprints; it cannot make them from texts")
        config = self.config
        if self.kind == "exact":
            how = config.features.normalize.without_words()
            # These features are made of tokens, so native texts are enough.
            return digest(texts, normalized=how, seed=self.seed, threads=threads)  # type: ignore[arg-type]
        made = config.prints
        assert isinstance(made, MinHash | Simhash | BitMinHash)
        return fingerprint(texts, config.features, made, threads=threads)

    def check(self, prints: Fingerprints) -> NDArray[Any]:
        """The column of given fingerprints, as it is stored: one line of `width` bytes for each document."""
        if prints.scheme != self.scheme_checked:
            raise SchemeError(self.scheme_checked, prints.scheme)
        if self.kind == "codes" and isinstance(prints, Codes):
            hamming = self.config.prints
            assert isinstance(hamming, Simhash | BitMinHash)
            return check_codes(prints, hamming.bits)
        if self.kind == "sketches" and isinstance(prints, Sketches):
            column: NDArray[Any] = np.ascontiguousarray(prints.values, np.uint32)
        elif self.kind == "exact" and isinstance(prints, Digests):
            column = np.ascontiguousarray(prints.digests, np.uint8)
        else:
            raise DataError(f"an index of {self.kind} cannot take {type(prints).__name__}")
        if column.ndim != 2 or column.itemsize * column.shape[1] != self.width:
            raise DataError(f"fingerprints of this index have {self.width} bytes")
        return column

    @property
    def scheme_checked(self) -> str:
        cached = self.__dict__.get("_scheme")
        if cached is None:
            cached = self.__dict__["_scheme"] = self.scheme
        return str(cached)

    def column(self, data: bytes) -> NDArray[Any]:
        """Stored fingerprints, one after the other, as a column."""
        kind = {"codes": "<u8", "sketches": "<u4", "exact": "|u1"}[self.kind]
        return np.frombuffer(data, kind).reshape(-1, self.width // np.dtype(kind).itemsize)

    def keys(self, column: NDArray[Any], threads: int = 1) -> NDArray[np.uint64]:
        """The keys of each document in the tables: uint64[documents, words]; for sketches one word for each band."""
        if self.kind == "codes":
            return column
        if self.kind == "exact":
            return np.ascontiguousarray(column).view(np.uint64)
        sketches = Sketches(self.scheme_checked, np.zeros(len(column), bool), np.ascontiguousarray(column))
        return np.ascontiguousarray(self.config.bands.band_keys(sketches, threads=threads).T)

    def to_settings(self) -> dict[str, Any]:
        """The settings for the database. The seed is separate from the config, because the config may be shown."""
        weights = self.config.features.weights
        plain = _seeded(_weighed(self.config, "constant"), Seed(DEFAULT_SEED)).to_plain()
        settings: dict[str, Any] = {
            "config": json.dumps(plain, sort_keys=True),
            "seed": self.seed.value.to_bytes(8, "little"),
            "secret": int(self.seed.secret),
            "store": self.contents,
            "scheme": self.scheme_checked,
            "foreign": self.foreign,
        }
        if isinstance(weights, Idf):
            counted = weights.frequencies
            settings |= {
                "idf": weights.tf,
                "idf_documents": counted.documents,
                "idf_features": counted.features,
                "idf_hashes": counted.hashes.astype("<u8").tobytes(),
                "idf_counts": counted.counts.astype("<u8").tobytes(),
            }
        return settings

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Recipe:
        """The inverse of `to_settings`."""
        seed = Seed(int.from_bytes(settings["seed"], "little"), bool(settings["secret"]))
        config = _seeded(Config.from_plain(json.loads(settings["config"]), "the index's config"), seed)
        if "idf" in settings:
            hashes = np.frombuffer(settings["idf_hashes"], "<u8")
            counts = np.frombuffer(settings["idf_counts"], "<u8")
            counted = Frequencies(settings["idf_documents"], hashes, counts, settings["idf_features"])
            config = _weighed(config, Idf(counted, settings["idf"]))
        made = cls(config, seed, settings["store"], settings["foreign"])
        if made.scheme_checked != settings["scheme"]:
            raise SchemeError(settings["scheme"], made.scheme_checked)
        return made

    def check_given(
        self, path: object, config: Config | None, store: Contents | None, scheme: str | None
    ) -> None:
        """ConfigError if the arguments for an existing index differ from those it was created with."""
        if config is not None and self.differs(config):
            raise ConfigError(f"{path} was made with another config; reindex it into a new one")
        if store is not None and store != self.contents:
            raise ConfigError(f'{path} was made with store="{self.contents}"; reindex it into a new one')
        if scheme is not None and scheme != self.scheme_checked:
            raise ConfigError(f"{path} is of another scheme: {self.scheme_checked}")

    def differs(self, config: Config) -> bool:
        """Whether this config makes other fingerprints or finds other duplicates; seeds are ignored."""
        public = Seed(DEFAULT_SEED)
        weights: Any = config.features.weights
        if isinstance(weights, Idf):
            config = _weighed(config, "constant")
        mine = _seeded(_weighed(self.config, "constant"), public)
        fitted = config.idf is not None or isinstance(weights, Idf)
        if fitted != isinstance(self.config.features.weights, Idf):
            return True
        return _plain(mine) != _plain(_seeded(config, public))


def _plain(config: Config) -> dict[str, Any]:
    return replace(config, idf=None).to_plain()


def _seeded(config: Config, seed: Seed) -> Config:
    features = replace(config.features, seed=seed)
    compare = None if config.compare is None else replace(config.compare, seed=seed)
    prints = config.fingerprint
    if prints is None and config.near:
        prints = config.prints
    if isinstance(prints, MinHash | BitMinHash):
        prints = replace(prints, seed=seed)
    return replace(config, features=features, compare=compare, fingerprint=prints)


def _weighed(config: Config, weights: Any) -> Config:
    features = config.features
    if isinstance(weights, Idf) or isinstance(features.weights, Idf):
        features = replace(features, weights=weights)
    return replace(config, features=features, idf=None)
