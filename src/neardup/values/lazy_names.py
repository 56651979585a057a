"""Names of a package that are imported on first use, listed once: in the type stub beside the package.

`import neardup` must be quick, and type checkers must see real types. So the stub `__init__.pyi` holds the imports, and
the package reads its list of names from there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module

__all__ = ["lazily", "names_in_stub", "resolve"]

_IMPORT = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)  # quicker than a parser


def names_in_stub(path: str) -> tuple[dict[str, str], dict[str, str]]:
    """The names that a stub re-exports (`from module import name as name`): namespaces, then names, with their
    modules.

    Namespaces are modules. They come first in the stub; the comment "# Names:" ends them."""
    # Without pathlib, which is slow to import.
    with open(f"{path.removesuffix('c')}i", encoding="utf-8") as stub:
        text = stub.read()
    namespaces, _, names = text.partition("# Names:")
    return _exported(namespaces), _exported(f"#{names}")


def _exported(text: str) -> dict[str, str]:
    return {name: module for module, name in _IMPORT.findall(text)}


def lazily(package: str, path: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose stub lists its names."""
    _, names = names_in_stub(path)

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(names[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    listed = sorted(names)
    return find, lambda: listed, listed


def resolve(module: str, name: str) -> object:
    """The object `name` of a module; for a name that its `__all__` does not list, the submodule of that name."""
    found = import_module(module)
    if name in getattr(found, "__all__", ()):
        return getattr(found, name)
    return import_module(f"{module}.{name}")
