"""Names of a package that are imported on first use, listed once: in the type stub beside the package.

`import neardup` must be quick, and type checkers must see real types. So the stub `__init__.pyi` holds the imports, and
the package reads its list of names from there.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

__all__ = ["names_in_stub", "resolve"]

_IMPORT = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)  # quicker than a parser


def names_in_stub(path: str) -> tuple[dict[str, str], dict[str, str]]:
    """The names that a stub re-exports (`from module import name as name`): namespaces, then names, with their
    modules.

    Namespaces are modules. They come first in the stub; the comment "# Names:" ends them."""
    text = Path(path).with_suffix(".pyi").read_text("utf-8")
    namespaces, _, names = text.partition("# Names:")
    return _exported(namespaces), _exported(f"#{names}")


def _exported(text: str) -> dict[str, str]:
    return {name: module for module, name in _IMPORT.findall(text)}


def resolve(module: str, name: str) -> object:
    """The object `name` of a module; for a name that its `__all__` does not list, the submodule of that name."""
    found = import_module(module)
    if name in getattr(found, "__all__", ()):
        return getattr(found, name)
    return import_module(f"{module}.{name}")
