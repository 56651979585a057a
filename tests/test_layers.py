"""Imports go one way: a module may import from its own layer's package or from layers below, never from above."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "neardup"

# From the top down. Names are modules or folders directly under neardup; those on one line may import each other.
LAYERS = [
    ["cli"],
    ["http", "pages", "spark", "scrapy"],
    ["findings", "index", "passages", "evaluate"],
    ["pipeline", "config", "dedup", "result"],
    ["clusters", "compare", "search"],
    ["fingerprints"],
    ["features"],
    ["readers", "web"],
    ["storage", "values", "errors", "progress", "version", "sample", "_core"],
]
DEPTH = {name: depth for depth, names in enumerate(LAYERS) for name in names}


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "neardup":
            parts = node.module.split(".")
            names |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {a.name.split(".")[1] for a in node.names if a.name.startswith("neardup.")}
    return names


# `python -m neardup` calls the command, which is above every layer.
MODULES = sorted(
    p for p in SOURCE.rglob("*.py") if p.stem != "__main__" and (p.parent != SOURCE or p.stem != "__init__")
)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_down(path):
    here = layer_of(path)
    for name in imported(path):
        if here == "cli" and name not in DEPTH:
            continue  # the command uses the public names
        assert name in DEPTH, f"{path.name} imports {name}, which is in no layer"
        assert name == here or DEPTH[name] > DEPTH[here] or name in LAYERS[DEPTH[here]], (
            f"{here} must not import {name}"
        )


def test_every_module_is_in_a_layer():
    assert {layer_of(path) for path in MODULES} <= set(DEPTH)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_public_names_are_declared(path):
    if path.stem != "__main__":
        assert "__all__" in path.read_text()


def test_no_drawer_modules():
    drawers = {"utils", "util", "helpers", "common", "misc", "manager", "factory"}
    assert not {path.stem for path in MODULES} & drawers
