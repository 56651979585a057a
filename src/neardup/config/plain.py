"""Strategies as plain tables and back, so that one config can live in TOML, in JSON and in code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from neardup.errors import ConfigError
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["from_plain", "to_plain", "to_toml"]

# Where a field may hold one of several strategies, its table says which: kind = "shingles".
_KINDS = {
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
}


@cache
def _class(kind: str) -> type:
    module, _, name = _KINDS[kind].partition(":")
    found = getattr(import_module(module), name)
    assert isinstance(found, type)
    return found


@cache
def _kinds() -> frozenset[type]:
    return frozenset(map(_class, _KINDS))


def to_plain(value: Any) -> Any:
    """A strategy as a table of its fields, those left out that have no value."""
    if isinstance(value, Seed):
        if value.secret:
            raise ConfigError("a secret seed is not written into a config: it would be secret no longer")
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        kind = next((k for k, place in _KINDS.items() if place.endswith(f":{type(value).__name__}")), None)
        plain: dict[str, Any] = {} if kind is None else {"kind": kind}
        for entry in fields(value):
            item = getattr(value, entry.name)
            if item is not None and not (entry.name == "seed" and item == DEFAULT_SEED):
                plain[entry.name] = to_plain(item)
        return plain
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, bool | int | float | str):
        return value
    raise ConfigError(f"{type(value).__name__} cannot be written into a config; fit it anew where it is used")


def from_plain(kind: type, plain: Any, where: str) -> Any:
    """The strategy a table describes; `where` names its place in messages."""
    if not isinstance(plain, Mapping):
        raise ConfigError(f"{where}: expected a table, not {plain!r}")
    hints, known = get_type_hints(kind), {entry.name: entry for entry in fields(kind)}
    # A kind has chosen the strategy already, where there was one to choose.
    given = {name: value for name, value in plain.items() if name != "kind" or kind not in _kinds()}
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise ConfigError(f"{where}: there is no {unknown[0]!r}; there are: {', '.join(known)}")
    missing = [
        name
        for name, entry in known.items()
        if name not in given and entry.default is MISSING and entry.default_factory is MISSING
    ]
    if missing:
        raise ConfigError(f"{where}: {missing[0]!r} is missing")
    values = {
        name: _value(hints[name], value, f"{where}: {name}", known[name].default_factory)
        for name, value in given.items()
    }
    try:
        return kind(**values)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _value(hint: Any, value: Any, where: str, usual: Any) -> Any:
    """The value a field of this type takes; `usual` is the strategy it has by default, if any."""
    choices = [choice for choice in _choices(hint) if choice is not NoneType]
    if isinstance(value, Mapping):
        strategies = [choice for choice in choices if isinstance(choice, type) and is_dataclass(choice)]
        if not strategies:
            raise ConfigError(f"{where} is a table; it must be {_wanted(choices)}")
        return from_plain(_named(strategies, value, where, usual), value, where)
    for choice in choices:
        if get_origin(choice) is Literal and value in get_args(choice):
            return value
        if get_origin(choice) is tuple and isinstance(value, list) and _all_of(get_args(choice)[0], value):
            return tuple(value)
        if choice is float and type(value) in (int, float):
            return float(value)
        if choice in (bool, int, str) and type(value) is choice:
            return value
    raise ConfigError(f"{where} is {value!r}; it must be {_wanted(choices)}")


def _all_of(kind: type, items: list[Any]) -> bool:
    return all(type(item) is kind for item in items)


def _wanted(choices: list[Any]) -> str:
    """What a value may be, for messages."""
    names = [repr(name) for choice in choices if get_origin(choice) is Literal for name in get_args(choice)]
    names += [
        f"a list of {get_args(choice)[0].__name__}" for choice in choices if get_origin(choice) is tuple
    ]
    names += [choice.__name__ for choice in choices if isinstance(choice, type) and not get_origin(choice)]
    return " or ".join(names)


def _named(strategies: list[type], table: Mapping[str, Any], where: str, usual: Any) -> type:
    named = table.get("kind")
    if named is None:
        if usual in _kinds() or usual in strategies:
            return usual  # type: ignore[no-any-return]
        if len(strategies) == 1 and not strategies[0].__subclasses__():
            return strategies[0]
        raise ConfigError(f'{where}: say which, with kind = "..."')
    if not isinstance(named, str) or named not in _KINDS:
        raise ConfigError(f"{where}: there is no kind {named!r}; there are: {', '.join(_KINDS)}")
    found = _class(named)
    if not issubclass(found, tuple(strategies)):
        fitting = [kind for kind in _KINDS if issubclass(_class(kind), tuple(strategies))]
        raise ConfigError(f"{where}: {named!r} does not fit here; these do: {', '.join(fitting)}")
    return found


def _choices(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, UnionType):
        return [choice for part in get_args(hint) for choice in _choices(part)]
    return [hint]


def to_toml(plain: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """Plain tables as TOML, values before tables."""
    lines = [f"{name} = {_toml(value)}" for name, value in plain.items() if not isinstance(value, Mapping)]
    parts = ["\n".join([f"[{'.'.join(path)}]", *lines] if path else lines)]
    parts += [to_toml(value, (*path, name)) for name, value in plain.items() if isinstance(value, Mapping)]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + ("" if path else "\n")


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    # JSON's strings, numbers and booleans are TOML's too, but for the delete character, which is escaped, and for
    # those beyond 16 bits, which are not.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
