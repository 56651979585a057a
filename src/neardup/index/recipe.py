"""How an index turns texts into fingerprints and keys: fixed when it is created, and stored in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, MissingExtra, SchemeError
from neardup.features.shingles import TextFeatures
from neardup.features.texts import Texts, as_texts
from neardup.features.weights import Frequencies, Idf
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.minhash import BitMinHash
from neardup.fingerprints.printer import Printer
from neardup.search.exact import EqualWords
from neardup.search.hamming.tables import Compact
from neardup.search.interface import KeyMethod, Method, Reach
from neardup.search.key_join import Probing
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["Codec", "Contents", "Recipe", "default_config"]

Contents = Literal["text", "features", "none"]
Codec = Literal["zlib", "zstd"]


def default_config(contents: Contents) -> Config:
    """The config of an index that was made without a sample: 1-bit MinHash codes of word shingles, which need no
    document frequencies.

    If hits are verified the radius is wide: documents with a Jaccard similarity of 0.8 are 6.4 bits apart on average,
    and 94% of such pairs are within 10 bits. If hits are not verified, the radius is 6 bits, which means about 0.8.
    """
    return Config(fingerprint=BitMinHash(), search=Compact(6 if contents == "none" else 10))


@dataclass(frozen=True)
class Recipe:
    """The config with its seed, the scheme of its fingerprints, and what is stored of a document.

    A `foreign` index accepts only fingerprints of that scheme and makes none itself. `codec` compresses stored texts; a
    new index has the faster one if it is installed, and keeps it.
    """

    config: Config
    seed: Seed
    contents: Contents = "text"
    foreign: str | None = None
    codec: Codec = "zlib"

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
        config.check_words("an index")
        if config.templates is not None:
            raise ConfigError("templates are learnt from a whole corpus; an index cannot have them")
        if foreign is not None and contents != "none":
            raise ConfigError('an index of foreign fingerprints stores no texts: give store="none"')
        if (method := config.method) is not None:
            method.check_live(config.prints)
            config = _online(config)
        features = config.features
        given = [features.seed, config.compared.seed, getattr(config.fingerprint, "seed", DEFAULT_SEED)]
        fitted = isinstance(features.weights, Idf)
        if seed is None and config.seed is not None:
            seed = Seed.of(config.seed)
        if seed is None:
            own = any(Seed.of(value) != Seed(DEFAULT_SEED) for value in given)
            seed = Seed.of(features.seed) if fitted or own else Seed.secret_random()
        elif fitted and Seed.of(features.seed) != seed:
            raise ConfigError(
                "these weights were fitted with another seed: give a sample instead of fitted weights"
            )
        codec: Codec = "zstd" if contents == "text" and find_spec("zstandard") is not None else "zlib"
        made = cls(_seeded(config, seed), seed, contents, foreign, codec)
        if config.idf is not None and foreign is None:
            if sample is None:
                raise ConfigError(
                    "these features are weighed by document frequencies, which never change once an index is made: "
                    "give sample=, texts to count them on, or a fingerprint without weights (nd.BitMinHash)"
                )
            weights = Idf.fit(sample, made.config.features, tf=config.idf, threads=threads)
            made = replace(made, config=_weighed(made.config, weights))
        return made

    @cached_property
    def method(self) -> Method:
        """The search method: that of the config, or equality of words."""
        return self.config.method or EqualWords(self.seed)

    @cached_property
    def printer(self) -> Printer:
        """The object that makes fingerprints."""
        return self.config.prints if self.config.near else self.method.fingerprint()

    @property
    def scheme(self) -> str:
        """The scheme of this index's fingerprints."""
        if self.foreign is not None:
            return self.foreign
        return self.prints([]).scheme

    @property
    def verifies(self) -> bool:
        """Whether hits are verified on the features of the documents."""
        return self.contents != "none" and self.config.near

    @property
    def compares_words(self) -> bool:
        """Whether documents of one digest are equal only if their words are, byte by byte."""
        return self.contents == "text" and not self.config.near

    @property
    def settings(self) -> Config:
        """The config without seed and document frequencies, for another index that fits its own."""
        weights = self.config.features.weights
        plain = _seeded(_weighed(self.config, "constant"), Seed(DEFAULT_SEED))
        return replace(plain, idf=weights.tf) if isinstance(weights, Idf) else plain

    @property
    def compared(self) -> TextFeatures:
        return self.config.compared

    @cached_property
    def width(self) -> int:
        """Size of a stored fingerprint in bytes."""
        return self.printer.width

    @cached_property
    def reach(self) -> Reach | None:
        """The search radius of codes; None if keys must be equal."""
        return self.method.reach(self.printer)

    @cached_property
    def tables(self) -> int:
        """The number of tables of keys: one, or that of the method."""
        return 1 if self.method.whole_keys else self.method.table_count(self.printer)

    @property
    def words(self) -> int:
        """The number of words in the keys of a document: those of its fingerprint, or one for each table."""
        return self.width // 8 if self.method.whole_keys else self.tables

    @property
    def sparse(self) -> bool:
        """Whether a key of 0 means no key."""
        return self.method.sparse and not self.method.whole_keys

    def prints(self, texts: Texts | _core.Texts, threads: int = 1) -> Fingerprints:
        """The fingerprints of texts."""
        if self.foreign is not None:
            raise DataError("this index accepts only fingerprints; it cannot make them from texts")
        made: Fingerprints = self.printer.read(
            as_texts(texts), self.config.features, threads, digests=False
        ).prints
        return made

    def check(self, prints: Fingerprints) -> NDArray[Any]:
        """The column of given fingerprints, as it is stored: one line of `width` bytes for each document."""
        if prints.scheme != self.scheme_checked:
            raise SchemeError(self.scheme_checked, prints.scheme)
        if not isinstance(prints, self.printer.makes):
            raise DataError(
                f"an index of {self.printer.makes.__name__.lower()} cannot take {type(prints).__name__}"
            )
        return self.method.stored(prints, self.printer)

    @property
    def scheme_checked(self) -> str:
        cached = self.__dict__.get("_scheme")
        if cached is None:
            cached = self.__dict__["_scheme"] = self.scheme
        return str(cached)

    def column(self, data: bytes) -> NDArray[Any]:
        """Stored fingerprints, one after the other, as a column."""
        kind = self.printer.blank.main.dtype.newbyteorder("<")
        return np.frombuffer(data, kind).reshape(-1, self.width // kind.itemsize)

    def keys(self, column: NDArray[Any], threads: int = 1) -> NDArray[np.uint64]:
        """The keys of each document in the tables: uint64[documents, words]."""
        if self.method.whole_keys:
            return np.ascontiguousarray(column).view(np.uint64)
        return self.method.live_keys(self._restored(column), threads)

    def probes(self, column: NDArray[Any]) -> Probing | None:
        """Keys that documents search for in addition to their own keys; None if there are none."""
        if self.method.whole_keys or not isinstance(self.method, KeyMethod) or not self.method.probing:
            return None
        found = self.method.probes(self._restored(column))
        return found.row, found.table, np.maximum(found.key, np.uint64(1))

    @property
    def checks(self) -> bool:
        """Whether documents that share a key must pass a check of their fingerprints."""
        return self.method.checks and not self.method.whole_keys

    def passes(self, one: NDArray[Any], two: NDArray[Any]) -> NDArray[np.bool_]:
        """Which fingerprints, line by line of two columns, pass that check."""
        assert isinstance(self.method, KeyMethod)
        count = len(one)
        both = self._restored(np.concatenate([one, two]))
        left = np.arange(count)
        found = self.method.check(both, left, left + count)
        return np.ones(count, np.bool_) if found is None else found

    def _restored(self, column: NDArray[Any]) -> Fingerprints:
        none = np.zeros(len(column), np.bool_)
        return self.printer.restored(self.scheme_checked, none, {self.printer.makes.MAIN: column})

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
        if self.codec != "zlib":  # earlier versions have no other
            settings["codec"] = self.codec
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
        if settings["store"] not in ("text", "features", "none"):
            raise ValueError("what the index stores is unknown")
        if (codec := settings.get("codec", "zlib")) not in ("zlib", "zstd"):
            raise ValueError("the codec of the stored texts is unknown")
        if codec == "zstd" and find_spec("zstandard") is None:
            raise MissingExtra("an index whose texts are compressed by Zstandard", "io")
        made = cls(config, seed, settings["store"], settings["foreign"], codec)
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
        public, config = Seed(DEFAULT_SEED), _online(config)
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


def _online(config: Config) -> Config:
    """The config with the search that an index uses: a search of a whole corpus names another one."""
    method = config.method
    online = None if method is None else method.online(config.verify, config.recall)
    return config if online is method else replace(config, search=online)


def _seeded(config: Config, seed: Seed) -> Config:
    features = replace(config.features, seed=seed)
    compare = None if config.compare is None else replace(config.compare, seed=seed)
    prints = config.fingerprint
    if prints is None and config.near:
        prints = config.prints
    if prints is not None:
        prints = prints.seeded(seed)
    return replace(config, features=features, compare=compare, fingerprint=prints, seed=None)


def _weighed(config: Config, weights: Any) -> Config:
    features = config.features
    if isinstance(weights, Idf) or isinstance(features.weights, Idf):
        features = replace(features, weights=weights)
    return replace(config, features=features, idf=None)
