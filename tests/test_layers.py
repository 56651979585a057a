"""Imports go one way: a module may import from its own layer's package or from layers below, never from above."""

import ast
import graphlib
from pathlib import Path

import pytest

from neardup.config.kinds import _BUILT_IN

SOURCE = Path(__file__).parents[1] / "src" / "neardup"

# From the top down. Names are modules or folders directly under neardup; those on one line may import each other.
LAYERS = [
    ["cli"],
    ["http", "pages", "spark", "stages", "scrapy"],
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


# `Idf.fit` and `Phrases.fit` count single words unless they get other features, and those hold an Idf and Phrases.
MUTUAL = {
    ("neardup.features.weights", "neardup.features.shingles"),
    ("neardup.features.phrases", "neardup.features.shingles"),
}


def module_name(path: Path) -> str:
    parts = ("neardup", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run_imports(path: Path, known: set[str]) -> set[str]:
    """The modules that a module imports, also late inside a function; not those that only type checkers see."""
    tree = ast.parse(path.read_text())
    typing = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in typing:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in known else node.module)
    return found & known - {module_name(path), "neardup"}


def test_no_modules_import_each_other():
    known = {module_name(path) for path in MODULES}
    graph = {
        name: {other for other in run_imports(path, known) if (name, other) not in MUTUAL}
        for path in MODULES
        if (name := module_name(path))
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


# Code that takes any method, and what it may still name: defaults of its own, and an exact search beside it.
ANY_METHOD = ("clusters", "findings", "index", "passages", "pipeline", "scrapy", "spark", "stages")
NAMED = {
    "index/recipe.py": {"BitMinHash", "Compact"},  # the default of an index without a config
    "index/redis/recipe.py": {"minhash"},  # the default of a shared one
    "index/tables.py": {"Compact"},  # the tables for a radius, where the method brings none, and those of ids
    "pipeline/trace.py": {
        "LSH",
        "MinHash",
        "PSM",
        "Simhash",
    },  # the page that explains two methods step by step
    "pipeline/within_radius.py": {"Scan"},  # an exact search beside the method
    "spark/hamming.py": {"Join"},  # codes of one bundle within a radius
    "spark/queries.py": {"Compact"},  # the exact search that a calibration needs
}
# Commands offer methods by name. Their classes they leave to the config.
NAMED_BY_COMMANDS = {
    "cli/curve.py": {"LSH"},  # the command that draws the curves of bands
    "cli/index_options.py": {"Compact"},  # the default of `--radius`
}


def names_in(folders, classes, kinds):
    """The classes that modules of these folders name, and the kinds that are texts in them."""
    found = {}
    for path in (p for folder in folders for p in (SOURCE / folder).rglob("*.py")):
        tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = {getattr(node, "id", None) or getattr(node, "attr", None) for node in tree} & classes
        named |= {
            node.value for node in tree if isinstance(node, ast.Constant) and isinstance(node.value, str)
        } & (classes | kinds)
        if named:
            found[path.relative_to(SOURCE).as_posix()] = named
    return found


def test_a_method_is_used_through_its_interface():
    """No stage knows a method by its class or its name: a new one is one file."""
    searches = {place.split(":")[1]: kind for kind, place in _BUILT_IN.items() if ".search." in place}
    prints = {place.split(":")[1]: kind for kind, place in _BUILT_IN.items() if ".fingerprints." in place}
    assert {"LSH", "PSM", "Inverted", "BPHS"} <= set(searches) and {"MinHash", "Simhash"} <= set(prints)
    # These kinds are words with other meanings too.
    kinds = {*searches.values(), *prints.values()} - {"bits", "buckets", "compact", "join", "scan"}
    assert names_in(ANY_METHOD, {*searches, *prints}, kinds) == NAMED
    assert names_in(("cli", "http"), set(searches), set()) == NAMED_BY_COMMANDS
