"""Arguments checked by their annotations, so that a wrong one is an error that names it.

`check_fields` is for the `__post_init__` of a dataclass, `checked` for a public function, `checked_methods` for the
methods of a public class. All look at what an
annotation says plainly: numbers, texts, flags, choices, tuples of these, and classes. Numbers must be finite. What it
leaves open (Any, protocols, arrays) is left to the code.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections import abc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache, wraps
from os import PathLike, fspath
from types import FunctionType, NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from neardup.errors import ConfigError

__all__ = ["advise", "check_fields", "check_whole", "checked", "checked_methods"]

Params = ParamSpec("Params")
Answer = TypeVar("Answer")


_ADVICE: dict[Any, str] = {}


def advise(kind: type, advice: str) -> None:
    """End the message about a value that is not of this class with how to get one."""
    _ADVICE[kind] = advice


def check_whole(value: object, name: str, least: int, most: int | None = None) -> int:
    """The value as a whole number from `least` to `most`; ConfigError with the name of the argument otherwise."""
    number = operator.index(value) if _is_whole(value) else None  # type: ignore[arg-type]
    if number is None or number < least or (most is not None and number > most):
        bounds = f"from {least:,} up" if most is None else f"from {least:,} to {most:,}"
        raise ConfigError(f"{name} must be a whole number {bounds}, not {_shown(value)}")
    return number


def check_fields(made: Any) -> None:
    """Raise ConfigError unless every field of a dataclass has a value of its annotated type."""
    kind: Any = type(made)
    hints = _hints(kind)
    for entry in fields(made):
        if entry.init and entry.name in hints:
            _check(kind.__name__, entry.name, hints[entry.name], getattr(made, entry.name))


def checked(function: Callable[Params, Answer]) -> Callable[Params, Answer]:
    """The function with its arguments checked before it runs."""

    @wraps(function)
    def run(*given: Params.args, **named: Params.kwargs) -> Answer:
        rules = _rules(function)
        if (
            len(given) > len(rules.by_place)
            or not rules.needed <= len(given) + len(named)
            or named.keys() - rules.named
        ):
            rules.refuse(given, named)
        for rule, value in zip(rules.by_place, given, strict=False):
            if rule is not None and type(value) not in rule.sure:
                _check(rules.said, rule.name, rule.hint, value)
        for name, value in named.items():
            rule = rules.by_name.get(name)
            if rule is not None and type(value) not in rule.sure:
                _check(rules.said, name, rule.hint, value)
        return function(*given, **named)

    return run


Class = TypeVar("Class", bound=type)


def checked_methods(kind: Class) -> Class:
    """A class decorator: the arguments of the public methods that the class itself defines are checked."""
    for name, found in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if isinstance(found, classmethod | staticmethod):
            setattr(kind, name, type(found)(checked(found.__func__)))
        elif isinstance(found, FunctionType) and not hasattr(found, "__wrapped__"):
            setattr(kind, name, checked(found))
    return kind


class _Rule(NamedTuple):
    """What a parameter may be. Values of the types in `sure` fit without a closer look."""

    name: str
    hint: Any
    sure: frozenset[type]


class _Rules(NamedTuple):
    """Of a function: its parameters by place (None where anything fits) and by name, and how many it needs."""

    said: str
    signature: inspect.Signature
    by_place: tuple[_Rule | None, ...]
    by_name: Mapping[str, _Rule]
    named: frozenset[str]
    needed: int

    def refuse(self, given: Iterable[Any], named: Mapping[str, Any]) -> None:
        """Raise TypeError if no call of the function has these arguments."""
        try:
            self.signature.bind(*given, **named)
        except TypeError as error:
            raise TypeError(f"{self.said}() {error}") from None


@cache
def _rules(function: Any) -> _Rules:
    signature = inspect.signature(function)
    hints = _hints(function)
    parameters = [p for p in signature.parameters.values() if p.kind not in _MANY]
    by_name = {
        p.name: _Rule(p.name, hints[p.name], _sure(hints[p.name])) for p in parameters if p.name in hints
    }
    by_place = tuple(by_name.get(p.name) for p in parameters if p.kind != p.KEYWORD_ONLY)
    return _Rules(
        function.__qualname__.removesuffix(".__init__").rpartition(".")[2],
        signature,
        by_place,
        by_name,
        frozenset(p.name for p in parameters if p.kind != p.POSITIONAL_ONLY),
        sum(p.default is p.empty for p in parameters),
    )


def _sure(hint: Any) -> frozenset[type]:
    """The types of which every value fits."""
    plain = {NoneType, bool, int, str, bytes}
    return frozenset(one for one in _choices(hint) if isinstance(one, type) and one in plain)


_CALLABLE: Any = abc.Callable
_PLAIN = (NoneType, bool, int, float, complex, str, bytes, dict, FunctionType)
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@cache
def _hints(of: Any) -> Mapping[str, Any]:
    unknown: dict[str, Any] = {}  # names that are imported by type checkers alone
    while True:
        try:
            return get_type_hints(of, localns=unknown or None)
        except NameError as error:
            # A mapping with __missing__ would need no loop, but Python 3.14 copies it into a plain one.
            if error.name is None or error.name in unknown:
                raise
            unknown[error.name] = _Unknown


class _Names(type):
    def __getattr__(cls, name: str) -> type:
        """A name of a module that only type checkers know."""
        if name.startswith("_"):
            raise AttributeError(name)
        return cls


class _Unknown(metaclass=_Names):
    """The type of a name that only type checkers know: anything."""

    def __class_getitem__(cls, of: object) -> type[_Unknown]:
        return cls


def _check(where: str, name: str, hint: Any, value: object) -> None:
    choices = _choices(hint)
    if not any(_fits(choice, value) for choice in choices):
        advice = "".join(f"; {_ADVICE[choice]}" for choice in choices if choice in _ADVICE)
        raise ConfigError(f"{where}: {name} must be {_wanted(choices)}, not {_shown(value)}{advice}")


def _choices(hint: Any) -> list[Any]:
    written = getattr(hint, "__value__", None)  # of `type Name = ...`, as numpy 2.5 writes its NDArray
    if written is not None:
        return _choices(written)
    if get_origin(hint) in (Union, UnionType):
        return [choice for part in get_args(hint) for choice in _choices(part)]
    return [hint]


def _fits(choice: Any, value: object) -> bool:
    origin = get_origin(choice)
    if choice is NoneType:
        return value is None
    if origin is Literal:
        return isinstance(value, str | int) and value in get_args(choice)
    if choice is bool:
        return isinstance(value, bool) or type(value).__name__ == "bool_"
    if choice is int:
        return _is_whole(value)
    if choice is float:
        return _is_number(value)
    if origin is tuple:
        of = get_args(choice)
        return isinstance(value, tuple | list) and (
            of[-1] is not Ellipsis or all(_fits_any(of[0], v) for v in value)
        )
    if origin is PathLike:
        return isinstance(value, PathLike) and isinstance(fspath(value), str)
    kind = choice if origin is None else origin
    if (
        kind in (Any, _Unknown)
        or not isinstance(kind, type)
        or is_typeddict(kind)
        or getattr(kind, "_is_protocol", False)
    ):
        return True
    if kind is _CALLABLE:
        return callable(value)
    if kind.__module__ == "collections.abc":
        # Native and foreign objects are iterable without saying so: only what surely is not is refused. Bytes are
        # iterable, but never meant to be.
        plain = isinstance(value, _PLAIN) or type(value) is object
        plain |= kind is Mapping and isinstance(value, list | tuple)
        return not isinstance(value, bytes) and (isinstance(value, kind) or not plain)
    return isinstance(value, kind)


def _fits_any(hint: Any, value: object) -> bool:
    return any(_fits(choice, value) for choice in _choices(hint))


def _is_whole(value: object) -> bool:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        return False
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:  # an array of more than one number
        return False
    return True


def _is_number(value: object) -> bool:
    if isinstance(value, bool | str | bytes) or not hasattr(type(value), "__float__"):
        return _is_whole(value)
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


_NAMES = {
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    bool: "True or False",
    NoneType: "None",
}


def _wanted(choices: list[Any]) -> str:
    """What a value may be, for people."""
    names = []
    for choice in choices:
        if get_origin(choice) is Literal:
            names += [repr(one) for one in get_args(choice)]
        elif get_origin(choice) is tuple:
            of = get_args(choice)
            names.append(f"a list of {_wanted(_choices(of[0]))}" if of[-1] is Ellipsis else "a tuple")
        else:
            names.append(_NAMES.get(choice) or str(getattr(choice, "__name__", choice)))
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} or {last}" if others else last


def _shown(value: object) -> str:
    """A value in a message: short, and never an error of its own."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
