"""Every public name says in a sentence what it is, and the examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re

import pytest
from tools.site.names import NAMESPACES, dataclass_signature, public_names

MODULES = ["neardup", *(f"{module}.{name}" for name, module in NAMESPACES.items())]


def documented() -> list[tuple[str, object]]:
    """All public classes and functions, each once."""
    found: dict[int, tuple[str, object]] = {}
    for module in MODULES:
        loaded = importlib.import_module(module)
        for name in public_names(module):
            thing = getattr(loaded, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.setdefault(id(thing), (f"{module}.{name}", thing))
    return list(found.values())


PUBLIC = documented()


@pytest.mark.parametrize("thing", [thing for _, thing in PUBLIC], ids=[name for name, _ in PUBLIC])
def test_name_has_a_docstring_that_starts_with_a_sentence(thing):
    text = inspect.getdoc(thing) or ""
    assert text and not dataclass_signature(thing, text), "no docstring"
    first = re.split(r"(?<=[.])\s", " ".join(text.split("\n\n")[0].split()), maxsplit=1)[0]
    assert first.endswith(".") and len(first) > 10 and not first[0].islower(), first


EXAMPLES = [
    example
    for name, thing in PUBLIC
    for example in doctest.DocTestFinder(recurse=False).find(thing, name)
    if example.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_example_prints_what_it_shows(example):
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(example, out=printed.append)
    assert runner.failures == 0, "".join(printed)


def test_names_that_most_people_type_have_an_example():
    names = {example.name.rsplit(".", 1)[1] for example in EXAMPLES}
    wanted = {
        "Index",
        "explain",
        "fingerprint",
        "cluster",
        "preset",
        "Shingles",
        "MinHash",
        "Simhash",
        "Jaccard",
        "Keep",
    }
    assert wanted <= names
