"""The names of strategies in a config: kind = "lsh". The table here lists the built-in ones; others are registered.

A config file never says where code is: a name is looked up in this table, among what was registered in this process,
and then among the entry points `neardup.methods` of installed packages, which is how the command finds them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from neardup.errors import ConfigError
from neardup.values.checks import checked

__all__ = ["built_in", "class_of", "is_kind", "kind_of", "kinds", "register"]

_GROUP = "neardup.methods"
_BUILT_IN = {
    "words": "neardup.features.shingles:Words",
    "shingles": "neardup.features.shingles:Shingles",
    "characters": "neardup.features.shingles:Characters",
    "sentences": "neardup.features.shingles:Sentences",
    "modulo": "neardup.features.select:Modulo",
    "smallest": "neardup.features.select:Smallest",
    "winnow": "neardup.features.select:Winnow",
    "minhash": "neardup.fingerprints.minhash:MinHash",
    "bits": "neardup.fingerprints.minhash:BitMinHash",
    "simhash": "neardup.fingerprints.simhash:Simhash",
    "imatch": "neardup.fingerprints.imatch:IMatch",
    "supers": "neardup.fingerprints.super_fingerprints:SuperFingerprints",
    "buckets": "neardup.fingerprints.bucket_checksums:BucketChecksums",
    "agree": "neardup.search.agreement:Agree",
    "lsh": "neardup.search.lsh:LSH",
    "inverted": "neardup.search.containment:Inverted",
    "join": "neardup.search.hamming.join:Join",
    "compact": "neardup.search.hamming.tables:Compact",
    "covering": "neardup.search.hamming.tables:Covering",
    "bphs": "neardup.search.hamming.tables:BPHS",
    "psm": "neardup.search.psm.psm:PSM",
    "scan": "neardup.search.hamming.scan:Scan",
    "adjacent": "neardup.search.hamming.adjacent:Adjacent",
    "jaccard": "neardup.compare.verify:Jaccard",
    "containment": "neardup.compare.verify:Containment",
    "cosine": "neardup.compare.verify:Cosine",
    "edit": "neardup.compare.verify:Edit",
    "identity": "neardup.compare.verify:Identity",
}
_PLACES = {place: kind for kind, place in _BUILT_IN.items()}
_registered: dict[str, type] = {}


@checked
def register(kind: str, strategy: type) -> None:
    """Give a strategy of your own, a frozen dataclass, its name in configs: `register("first8", FirstEight)`.

    A package that is installed needs no call: it names its class under the entry points "neardup.methods". Registering
    the same class again does nothing; a name that another one has is refused.

    kind    the name in configs
    raises  ConfigError for a name that is in use, or a class that is no frozen dataclass

    >>> from dataclasses import dataclass
    >>> import neardup as nd
    >>> @dataclass(frozen=True)
    ... class FewTables(nd.search.Covering):
    ...     tables: int | None = 5
    >>> nd.config.register("few-tables", FewTables)
    >>> nd.Config.of(search=FewTables(), fingerprint=nd.Simhash()).to_plain()["search"]["kind"]
    'few-tables'
    """
    if not isinstance(strategy, type):
        raise ConfigError(f"register takes a class, not {strategy!r}")
    if kind in _BUILT_IN or _registered.get(kind, strategy) is not strategy:
        raise ConfigError(f"the name {kind!r} is taken; choose another one for {strategy.__name__}")
    _registered[kind] = strategy


def kinds() -> list[str]:
    """All names there are."""
    return [*_BUILT_IN, *_registered, *(name for name in _installed() if name not in _registered)]


def class_of(kind: str) -> type | None:
    """The strategy of this name; None if there is none."""
    if kind in _BUILT_IN:
        return _built_in(kind)
    if kind in _registered:
        return _registered[kind]
    entry = _installed().get(kind)
    if entry is None:
        return None
    try:
        found = entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"the method {kind!r} cannot be loaded ({error}); install its package again"
        ) from None
    register(kind, found)
    return _registered[kind]


def built_in(kind: str, *given: Any, **named: Any) -> Any:
    """A built-in strategy of this name; its module is imported now, not with the config."""
    return _built_in(kind)(*given, **named)


def kind_of(strategy: type) -> str | None:
    """The name of a strategy; None if it has none."""
    place = f"{strategy.__module__}:{strategy.__qualname__}"
    if place in _PLACES:
        return _PLACES[place]
    named = next((kind for kind, known in _registered.items() if known is strategy), None)
    # Looking at installed packages is slow, and a class of our own is in none of them.
    if named is None and not place.startswith("neardup."):
        named = next((kind for kind, entry in _installed().items() if entry.value == place), None)
    return named


def is_kind(strategy: object) -> bool:
    """Whether this is a strategy with a name."""
    return isinstance(strategy, type) and kind_of(strategy) is not None


@cache
def _built_in(kind: str) -> type:
    module, _, name = _BUILT_IN[kind].partition(":")
    found = getattr(import_module(module), name)
    assert isinstance(found, type)
    return found


@cache
def _installed() -> dict[str, Any]:
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    return {entry.name: entry for entry in entry_points(group=_GROUP) if entry.name not in _BUILT_IN}
