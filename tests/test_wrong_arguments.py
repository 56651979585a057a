"""Every public constructor and function, called with values of wrong types, NaN, infinities and huge numbers: the only
errors are those of neardup, or TypeError and ValueError with a sentence that names the argument."""

from __future__ import annotations

import importlib
import math
import re
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.wrong_values import check_refusals

import neardup as nd
from neardup.errors import NeardupError
from neardup.search import chance, models
from neardup.search.disk import batch

NAMESPACES = (
    nd,
    nd.search,
    nd.features,
    nd.fingerprints,
    nd.compare,
    nd.clusters,
    nd.config,
    nd.readers,
    nd.passages,
    nd.evaluate,
    nd.urls,
    nd.mirrors,
    nd.findings,
    nd.result,
    nd.index,
    nd.pipeline,
    models,
    chance,
    batch,
)
# Collections of anything, and what is made for every document: their contents are checked where they are used.
OPEN = {
    "find_passage": {"documents", "passage"},
    "find_copies": {"documents"},
    "concatenate": {"parts"},
    "identical": {"texts"},
    "Rejects": {"path"},
    "learn_url_rules": {"pairs", "contents"},
    "find_mirrors": {"pairs", "contents"},
    "curve_sketch": {"at", "values"},
    "Document": {"id", "text", "meta"},
    "packed": {"columns"},
}
SKIP = {"TextFeatures", "measure_deltas"}  # a base class; a measurement of seconds
ELSEWHERE = (
    "neardup.spark",
    "neardup.scrapy",
    "neardup.index.redis",
)  # they need a session, a crawler, a server
PAGES = Path(__file__).parents[1] / "docs"
IMPORTED = re.compile(r"^\s*from (neardup[a-z_.]*) import (.+)$|^\s*import (neardup\.[a-z_.]+)", re.MULTILINE)
DOTTED = re.compile(r"\b(neardup(?:\.[a-z_]+)+)\.([A-Za-z_]+)\b")
FIXED: dict[str, dict[str, Any]] = {"plan": {"measure": False}}


def listed() -> Iterator[tuple[str, Any]]:
    """The names of the namespaces, then those that pages import."""
    for space in NAMESPACES:
        for name in getattr(space, "__all__", dir(space)):
            yield name, getattr(space, name)
    for page in sorted(PAGES.rglob("*.md")):
        if "inside" not in page.relative_to(PAGES).parts:
            yield from reported(page.read_text("utf-8"))


def reported(text: str) -> Iterator[tuple[str, Any]]:
    """The names that a page imports from a module of neardup or writes with it; of a whole module all its names."""
    named = set(DOTTED.findall(text))
    for module, names, whole in IMPORTED.findall(text):
        named |= {(module, name.split()[0]) for name in names.partition("#")[0].split(",") if name.strip()}
        named |= {(whole, "")} if whole else set()
    for module, name in sorted(named):
        if module.startswith(ELSEWHERE):
            continue
        loaded = module_of(module)
        if loaded is None:
            continue
        found = (getattr(loaded, name, None) or module_of(f"{module}.{name}")) if name else loaded
        if isinstance(found, types.ModuleType):
            yield from ((one, getattr(found, one)) for one in getattr(found, "__all__", ()))
        else:
            yield name, found


def module_of(name: str) -> types.ModuleType | None:
    """A module; None if it is another name, or one of an extra that is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    seen = set()
    for name, found in listed():
        if name.startswith("_") or isinstance(found, types.ModuleType) or not callable(found):
            continue
        home = str(getattr(found, "__module__", ""))
        if not home.startswith("neardup") or id(found) in seen or name in SKIP:
            continue
        if isinstance(found, type) and (
            issubclass(found, BaseException) or getattr(found, "_is_protocol", False)
        ):
            continue
        seen.add(id(found))
        yield f"{home.removeprefix('neardup.')}.{name}", found


PUBLIC = dict(callables())


def test_names_on_pages_are_among_them() -> None:
    assert {
        "search.codes.to_codes",
        "search.disk.segment_set.SegmentSet",
        "compare.similarity.cosine",
    } <= set(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_wrong_values_are_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    short = name.rpartition(".")[2]
    check_refusals(PUBLIC[name], fixed=FIXED.get(short, {}), leave=OPEN.get(short, set()))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: nd.search.Compact(radius=2.5), "radius"),
        (lambda: nd.plan(documents=math.nan), "documents"),
        (lambda: nd.fingerprints.IMatch().compute(nd.features.Features.of([{"a": 1.0}])), "fit"),
        (lambda: nd.compare.similarity.edit_distance([1], [2]), "left"),
        (lambda: nd.search.Compact(radius=10**30), "radius"),
        (lambda: nd.Simhash(bits="64"), "bits"),
        (lambda: nd.Config(recall=math.nan), "recall"),
        (lambda: nd.search.chance_hits(math.inf, 64, 3), "codes"),
    ],
)
def test_reported_cases(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(NeardupError, match=named):
        call()


@pytest.mark.parametrize(
    "printer", [nd.Simhash(), nd.MinHash(64), nd.BitMinHash(), nd.fingerprints.SuperFingerprints()], ids=repr
)
def test_documents_whose_weights_are_all_zero_are_empty(printer: Any) -> None:
    features = nd.features.Features.of([{"a": 0.0}, {"b": 0.0}, {"c": 1.0, "d": 0.0}, {}])
    prints = printer.compute(features)
    assert prints.empty.tolist() == features.empty.tolist() == [True, True, False, True]
    if isinstance(printer, nd.Simhash):
        assert len(nd.search.Join(3).candidates(prints)) == 0


def test_an_unknown_argument_names_the_function() -> None:
    with pytest.raises(TypeError, match=r"^explain\(\) got an unexpected keyword argument 'config'$"):
        nd.explain("a", "b", config=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^explain\(\) too many positional arguments$"):
        nd.explain("a", "b", "c")  # type: ignore[misc]
