"""nd.dedup of texts in memory beside the native calls that it makes.

    python -m benchmarks.pipeline.library CORPUS.jsonl list|arrow THREADS

Every function of the native module, and the methods of its two large classes, are timed while they run; the ratio is
all CPU seconds of the call over those within native functions.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neardup as nd
from neardup import _core

inside = [0.0, 0]  # CPU seconds within native calls, and how many of them are under way


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        began = time.process_time()
        inside[1] += 1
        try:
            return function(*arguments, **named)
        finally:
            inside[1] -= 1
            if not inside[1]:
                inside[0] += time.process_time() - began

    return call


def method(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same as a function, which becomes a method where it is set on a class."""
    call = timed(function)
    return lambda self, *arguments, **named: call(self, *arguments, **named)


class Facts:
    """The facts of texts, whose making and methods take long."""

    def __init__(self, *arguments: Any) -> None:
        self._facts = timed(_TEXT_FACTS)(*arguments)

    def __getattr__(self, name: str) -> Any:
        return timed(getattr(self._facts, name))


_TEXT_FACTS = _core.TextFacts
_OF_TEXTS = ("add", "add_arrow", "add_spans", "add_texts", "same", "sizes", "take", "utf8")


def main() -> None:
    corpus, form, threads = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    texts: Any = []
    with corpus.open("rb") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    if form == "arrow":
        import pyarrow as pa

        texts = pa.array(texts)
    nd.dedup(["one", "two"])  # so that imports are not counted
    for name in dir(_core):
        thing = getattr(_core, name)
        if callable(thing) and not isinstance(thing, type) and not name.startswith("__"):
            setattr(_core, name, timed(thing))
    _core.TextFacts = Facts  # type: ignore[misc, assignment]
    for name in _OF_TEXTS:
        setattr(_core.Texts, name, method(getattr(_core.Texts, name)))
    inside[0] = 0.0
    began, wall = time.process_time(), time.perf_counter()
    found = nd.dedup(texts, threads=threads)
    cpu, wall = time.process_time() - began, time.perf_counter() - wall
    print(
        json.dumps(
            {
                "kept": len(found.kept),
                "seconds": round(wall, 3),
                "cpu_seconds": round(cpu, 3),
                "native_seconds": round(inside[0], 3),
                "ratio": round(cpu / inside[0], 3),
            }
        )
    )


if __name__ == "__main__":
    main()
