"""The reference of the Python API: which names are on which page. mkdocstrings fills in the docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import neardup
from neardup.values.lazy_names import names_in_stub

__all__ = [
    "EXTRAS",
    "NAMESPACES",
    "extra_page",
    "first_sentence",
    "names_page",
    "namespace_page",
    "public_names",
]

# Packages that need an extra, which may be missing where the site is built: their sources are read, not imported.
EXTRAS = ("http.client", "scrapy", "spark")
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


def extra_page(name: str) -> str:
    """A page for the package `neardup.NAME`, made from its source."""
    source = Path(neardup.__file__).parent.joinpath(*name.split("."), "__init__.py")
    tree = ast.parse(source.read_text("utf-8"))
    homes = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    listed = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    lines = [f"# neardup.{name}", "", ast.get_docstring(tree) or "", ""]
    for one in sorted(listed, key=str.lower):
        lines += _entry(f"{homes[one]}.{one}", f"neardup.{name}.{one}")
    return "\n".join(lines)


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
        entries += _entry(place, shown)
    return "\n".join([*table, "", *entries])


def _entry(place: str, shown: str) -> list[str]:
    """What mkdocstrings replaces by the docstring of the name at a place."""
    return [f"::: {place}", "    options:", f"      heading: {shown}", f"      toc_label: {shown}", ""]


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
