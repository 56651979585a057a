"""Every public name says in a sentence what it is, and the examples in docstrings run."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import re
import tempfile

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


FUNCTIONS = [(name, thing) for name, thing in PUBLIC if inspect.isfunction(thing)]


@pytest.mark.parametrize("function", [thing for _, thing in FUNCTIONS], ids=[name for name, _ in FUNCTIONS])
def test_function_documents_its_arguments_and_errors(function):
    text = (inspect.getdoc(function) or "").split(">>> ")[0]
    missing = [name for name in inspect.signature(function).parameters if not re.search(rf"\b{name}\b", text)]
    assert not missing
    assert re.search(r"\b[Rr]aises\b", text), "say which errors it raises, or `raises nothing`"


def settings(thing: object) -> list[str]:
    """The fields of a class of settings, which is one that needs no argument."""
    if not (inspect.isclass(thing) and dataclasses.is_dataclass(thing)):
        return []
    fields = [field for field in dataclasses.fields(thing) if field.init and not field.name.startswith("_")]
    missing = dataclasses.MISSING
    free = all(field.default is not missing or field.default_factory is not missing for field in fields)
    return [field.name for field in fields] if free else []


SETTINGS = [(name, thing) for name, thing in PUBLIC if settings(thing)]


@pytest.mark.parametrize("thing", [thing for _, thing in SETTINGS], ids=[name for name, _ in SETTINGS])
def test_class_of_settings_documents_every_field(thing):
    text = (inspect.getdoc(thing) or "").split(">>> ")[0]
    assert not [name for name in settings(thing) if not re.search(rf"\b{name}\b", text)]


def columns(thing: object) -> list[str]:
    """The public fields of a class of results: a dataclass or a named tuple."""
    if not inspect.isclass(thing):
        return []
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing) if not field.name.startswith("_")]
    return [name for name in getattr(thing, "_fields", ()) if not name.startswith("_")]


RESULTS = [(name, thing) for name, thing in PUBLIC if columns(thing)]


@pytest.mark.parametrize("thing", [thing for _, thing in RESULTS], ids=[name for name, _ in RESULTS])
def test_class_of_results_documents_every_field(thing):
    """In the text of the class, which the generated reference shows."""
    text = (inspect.getdoc(thing) or "").split(">>> ")[0]
    assert not [name for name in columns(thing) if not re.search(rf"\b{name}\b", text)]


EXAMPLES = [
    example
    for name, thing in PUBLIC
    for example in doctest.DocTestFinder(recurse=False).find(thing, name)
    if example.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_example_prints_what_it_shows(example, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("neardup.config.kinds._registered", {})  # what an example registers ends with it
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(example, out=printed.append)
    assert runner.failures == 0, "".join(printed)


def test_every_name_has_an_example():
    assert {name for name, _ in PUBLIC} == {example.name for example in EXAMPLES}
