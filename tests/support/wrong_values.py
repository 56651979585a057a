"""Values that an argument should refuse, and what a good refusal is."""

from __future__ import annotations

import asyncio
import inspect
import math
import re
from collections.abc import Callable, Mapping, Set
from types import MappingProxyType
from typing import Any

import pytest

from neardup.errors import NeardupError

ALONE = [
    None,
    object(),
    "text",
    b"bytes",
    2.5,
    -1,
    math.nan,
    math.inf,
    -math.inf,
    10**30,
    -(10**30),
    True,
    (),
    lambda: None,
]
INSIDE = [[], {}, [object()], {"a": object()}]


def check_refusals(
    call: Callable[..., Any],
    *,
    good: Mapping[str, Any] = MappingProxyType({}),
    fixed: Mapping[str, Any] = MappingProxyType({}),
    leave: Set[str] = frozenset(),
) -> None:
    """Call with each argument wrong in turn, except those to `leave`. Fails at an error that is neither one of neardup
    nor a TypeError or ValueError with the name of a wrong argument.

    The other arguments that are needed are those in `good`, or just as wrong. Those in `fixed` are always given.
    """
    signature = inspect.signature(call)
    parameters = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = {p.name for p in parameters if p.default is p.empty}
    for parameter in parameters:
        if parameter.name in leave:
            continue
        wrong = (needed - good.keys()) | {parameter.name}
        for value in ALONE + INSIDE:
            given = dict(fixed) | {name: good.get(name, value) for name in needed} | {parameter.name: value}
            first = [given.pop(p.name) for p in parameters if p.kind == p.POSITIONAL_ONLY and p.name in given]
            where = f"{parameter.name}={value!r}"
            try:
                made = call(*first, **given)
                if inspect.isgenerator(made):
                    next(made, None)
                elif inspect.iscoroutine(made):
                    asyncio.run(made)
            except (NeardupError, OSError):
                continue
            except (TypeError, ValueError) as error:
                assert any(re.search(rf"\b{name}\b", str(error)) for name in wrong), f"{where}: {error}"
                continue
            except Exception as error:
                pytest.fail(f"{where}: {type(error).__name__}: {error}")
            close = getattr(made, "close", None)
            if inspect.ismethod(close):
                close()
