"""The public interface has real types: mypy and pyright check a program that uses it, and nothing returns Any."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest
import typed_use
from support.skips import not_run
from test_public_api import EXTRAS, PUBLIC

from neardup.config.config import Config, ConfigFields

ROOT = Path(__file__).parent.parent
PROGRAM = Path(typed_use.__file__)


def needs(package: str) -> None:
    """Skip where a checker is not installed, but never in CI."""
    if importlib.util.find_spec(package) is None:
        not_run(f"{package} is not installed", "make test")


def checked(*command: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(ROOT / "src"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.process
@pytest.mark.slow
def test_mypy(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    needs("mypy")
    cache = getattr(request.config, "cache", None)  # the next run is quicker
    folder = cache.mkdir("mypy") if cache is not None else tmp_path
    options = ("--strict", "--ignore-missing-imports", "--no-error-summary", "--cache-dir", str(folder))
    checked("mypy", *options, str(PROGRAM), folder=tmp_path)


@pytest.mark.process
@pytest.mark.slow
def test_pyright(tmp_path: Path) -> None:
    needs("basedpyright")
    settings = {
        "include": [str(PROGRAM)],
        "extraPaths": [str(ROOT / "src")],
        "typeCheckingMode": "strict",
        "enableTypeIgnoreComments": False,
        "reportUnnecessaryTypeIgnoreComment": True,
        # pandas and pyarrow have no types of their own.
        "reportMissingTypeStubs": False,
        "reportUnknownMemberType": False,
        "reportUnknownVariableType": False,
        "reportUnknownArgumentType": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    checked("basedpyright", "-p", str(tmp_path), "--pythonpath", sys.executable, folder=tmp_path)


def test_the_program_runs() -> None:
    typed_use.main()


def members(found: object) -> dict[str, object]:
    """A function itself; of a class all its members, those of its base classes too."""
    if not inspect.isclass(found):
        return {"": found}
    return {
        name: value
        for kind in reversed(found.__mro__)
        if kind.__module__.startswith("neardup")
        for name, value in vars(kind).items()
    }


def annotated() -> Iterator[tuple[str, str, str]]:
    """Every annotation of public functions and methods: where it is, the name, the type."""
    installed = {
        module: names for module, (names, package) in EXTRAS.items() if importlib.util.find_spec(package)
    }
    for module, names in (PUBLIC | installed).items():
        for name in names:
            found = getattr(importlib.import_module(module), name)
            for member, function in members(found).items():
                if isinstance(function, property):
                    function = function.fget
                elif isinstance(function, cached_property):
                    function = function.func
                elif isinstance(function, classmethod | staticmethod):
                    function = function.__func__
                private = member.startswith("_") and member not in ("__init__", "__getitem__", "__iter__")
                if private or not inspect.isfunction(function):
                    continue
                for parameter, kind in inspect.unwrap(function).__annotations__.items():
                    yield f"{module}.{name}.{member}".rstrip("."), parameter, str(kind)


def test_options_of_a_config_are_its_fields() -> None:
    fields = {entry.name: entry.type for entry in dataclasses.fields(Config)}
    options = {name: kind.__forward_arg__ for name, kind in ConfigFields.__annotations__.items()}
    assert options == fields


def test_no_public_function_returns_any() -> None:
    found = {where: kind for where, name, kind in annotated() if name == "return"}
    assert len(found) > 200
    # Plain JSON values are dicts of anything. Scrapy's items have any type, and come back as they were.
    anything = {where for where, kind in found.items() if kind in ("Any", "object")}
    assert anything <= {"neardup.scrapy.NearDuplicateItems.process_item"}


def test_documents_features_and_keep_have_real_types() -> None:
    found = [
        (w, n, k) for w, n, k in annotated() if n in ("documents", "features", "keep", "texts", "source")
    ]
    assert len(found) > 50
    assert [one for one in found if re.search(r"\b(Any|object)\b", one[2])] == []
