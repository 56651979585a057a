"""The reference of the Python API: which names are on which page. mkdocstrings fills in the docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import neardup
from neardup.values.lazy_names import names_in_stub

__all__ = ["NAMESPACES", "first_sentence", "names_page", "namespace_page", "public_names"]

NAMESPACES, _NAMES = names_in_stub(neardup.__file__)


def public_names(module: str = "neardup") -> list[str]:
    """The public names of a module, without its version."""
    listed = importlib.import_module(module).__all__
    return sorted((name for name in listed if name != "__version__"), key=str.lower)


def names_page() -> str:
    """Markdown: a table of all names at `nd.*`, then one entry each."""
    return _page("neardup", "nd")


def namespace_page(name: str) -> str:
    """A page for the namespace `nd.NAME`."""
    module = importlib.import_module(f"{NAMESPACES[name]}.{name}")
    intro = inspect.cleandoc(module.__doc__ or "")
    return f"# nd.{name}\n\n{intro}\n\n" + _page(module.__name__, f"nd.{name}")


def first_sentence(thing: object) -> str:
    """The first sentence of its docstring on one line; empty if there is none."""
    found = inspect.getdoc(thing) or ""
    if dataclass_signature(thing, found):
        return ""
    paragraph = " ".join(found.split("\n\n")[0].split())
    return re.split(r"(?<=[.:;])\s", paragraph, maxsplit=1)[0].rstrip(":;")


def dataclass_signature(thing: object, text: str) -> bool:
    """Whether this is the docstring that `dataclass` makes of the fields where nobody wrote one."""
    return inspect.isclass(thing) and text.startswith(f"{thing.__name__}(")


def _page(module: str, prefix: str) -> str:
    loaded = importlib.import_module(module)
    table, entries = ["| name | what |", "|---|---|"], []
    for name in public_names(module):
        thing = getattr(loaded, name)
        shown = f"{prefix}.{name}"
        place = _place(thing, loaded, name)
        table.append(f"| [`{shown}`][{place}] | {first_sentence(thing)} |")
        if module != "neardup" and name in neardup.__all__ and getattr(neardup, name) is thing:
            continue  # its entry is on the page of nd.*; a second one would make links ambiguous
        entries += [
            f"::: {place}",
            "    options:",
            f"      heading: {shown}",
            f"      toc_label: {shown}",
            "",
        ]
    return "\n".join([*table, "", *entries])


def _place(thing: object, module: object, name: str) -> str:
    """Where it is defined: griffe reads sources, and finds it there."""
    home = getattr(thing, "__module__", None)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        return f"{home}.{thing.__qualname__}"
    return _assigned(module, name)


def _assigned(module: object, name: str) -> str:
    """The module whose source assigns a constant such as PRESETS."""
    source = Path(inspect.getfile(module)).read_text("utf-8")  # type: ignore[arg-type]
    found = re.search(rf"^from (\S+) import .*\b{name}\b", source, flags=re.MULTILINE)
    home = found[1] if found else module.__name__  # type: ignore[attr-defined]
    return f"{home}.{name}"
