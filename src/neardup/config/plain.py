"""Strategies as plain tables and back, so that one config can be written in TOML, in JSON and in code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from neardup.config.kinds import class_of, is_kind, kind_of, kinds
from neardup.errors import ConfigError
from neardup.fingerprints.printer import Printer
from neardup.search.interface import Method
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["from_plain", "to_plain", "to_toml"]


def to_plain(value: Any) -> Any:
    """A strategy as a table of its fields, without those that have no value."""
    if isinstance(value, Seed):
        if value.secret:
            raise ConfigError("a secret seed is not written into a config: it would no longer be secret")
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        kind = kind_of(type(value))
        if kind is None and isinstance(value, Method | Printer):
            name = type(value).__name__
            raise ConfigError(
                f'{name} has no name in a config: call neardup.config.register("...", {name}) first'
            )
        plain: dict[str, Any] = {} if kind is None else {"kind": kind}
        for entry in fields(value):
            item = getattr(value, entry.name)
            if item is not None and not (entry.name == "seed" and item == entry.default == DEFAULT_SEED):
                plain[entry.name] = to_plain(item)
        return plain
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, bool | int | float | str):
        return value
    raise ConfigError(
        f"{type(value).__name__} cannot be written into a config; fit it again where it is used"
    )


def from_plain(kind: type, plain: Any, where: str) -> Any:
    """The strategy a table describes; `where` names its place in messages."""
    if not isinstance(plain, Mapping):
        raise ConfigError(f"{where}: expected a table, not {plain!r}")
    hints, known = get_type_hints(kind), {entry.name: entry for entry in fields(kind)}
    # A kind has chosen the strategy already, where there was one to choose.
    # Older configs, written before a field got its name, can still be read.
    earlier: Mapping[str, str] = getattr(kind, "EARLIER_NAMES", {})
    given = {
        earlier.get(name, name): value for name, value in plain.items() if name != "kind" or not is_kind(kind)
    }
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
    """The value that a field of this type gets; `usual` is its default strategy, if it has one."""
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


def _all_of(kind: Any, items: list[Any]) -> bool:
    kind = str if get_origin(kind) is Literal else kind  # the class itself says which names there are
    return all(type(item) is kind for item in items)


def _wanted(choices: list[Any]) -> str:
    """What a value may be, for messages."""
    names = [repr(name) for choice in choices if get_origin(choice) is Literal for name in get_args(choice)]
    names += [
        f"a list of {_item_name(get_args(choice)[0])}" for choice in choices if get_origin(choice) is tuple
    ]
    names += [choice.__name__ for choice in choices if isinstance(choice, type) and not get_origin(choice)]
    return " or ".join(names)


def _item_name(kind: Any) -> str:
    return "str" if get_origin(kind) is Literal else str(kind.__name__)


def _named(strategies: list[type], table: Mapping[str, Any], where: str, usual: Any) -> type:
    named = table.get("kind")
    if named is None:
        if is_kind(usual) or usual in strategies:
            return usual  # type: ignore[no-any-return]
        if len(strategies) == 1 and not strategies[0].__subclasses__():
            return strategies[0]
        raise ConfigError(f'{where}: say which, with kind = "..."')
    found = class_of(named) if isinstance(named, str) else None
    if found is None:
        raise ConfigError(f"{where}: there is no kind {named!r}; there are: {', '.join(kinds())}")
    if not issubclass(found, tuple(strategies)):
        known = {kind: class_of(kind) for kind in kinds()}
        fitting = [kind for kind, one in known.items() if one and issubclass(one, tuple(strategies))]
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
