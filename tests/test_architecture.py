"""ARCHITECTURE.md says where things are; what it names must exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
CONCEPTS = re.findall(r"^\| (.+?) \| `(src/neardup/[\w/.]+)` \|$", PAGE.split("## Where is ...?")[1], re.M)
NAMED = sorted(set(re.findall(r"`((?:src|core|tests|[a-z]+)/[\w/]*(?:\.py|\.hpp|/))`", PAGE)))


def test_there_are_concepts_to_guess():
    assert len(CONCEPTS) >= 48 and len({concept for concept, _ in CONCEPTS}) == len(CONCEPTS)


@pytest.mark.parametrize(("concept", "path"), CONCEPTS)
def test_each_concept_has_its_path(concept, path):
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("name", NAMED)
def test_each_path_that_is_named_exists(name):
    assert any(
        (base / name).exists() for base in (ROOT, ROOT / "src" / "neardup", ROOT / "core", ROOT / "tests")
    )


def test_every_folder_of_the_package_is_described():
    folders = {p.parent.name for p in (ROOT / "src" / "neardup").glob("*/__init__.py")} - {"sample"}
    assert all(f"neardup/{folder}/" in PAGE for folder in folders)


def test_the_layers_are_those_of_the_test():
    from test_layers import LAYERS

    drawn = PAGE.split("```text")[1].split("```")[0].strip().splitlines()
    assert [set(line.split()[1:]) for line in drawn] == [set(layer) - {"sample"} for layer in LAYERS]


def test_class_names_occur_once() -> None:
    """A name that two modules use for two things makes a reader guess which one is meant."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src/neardup").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_modules_are_named_by_what_they_hold() -> None:
    """Not by a verb: `parser.py`, and not parsing.py. Hamming was a person, and wording is a noun."""
    names = {
        path.stem
        for folder in ("src/neardup", "core")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".js", ".cpp", ".hpp")
    }
    assert {name for name in names if name.endswith("ing")} == {"hamming", "wording", "json_string"}
