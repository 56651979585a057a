"""What the Makefile installs, and whether the lower bounds of pyproject.toml are the versions that are tested."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.lowest_versions import bounds, untested
from tools.requirements import chosen, requirements


def test_requirements_follow_our_own_extras():
    """Without duplicates, and with what compiles the package only where that is asked for."""
    names = requirements(["test"])
    assert not any(name.startswith("neardup") for name in names) and len(names) == len(set(names))
    assert any(name.startswith("pyspark") for name in names) and any(
        name.startswith("numpy") for name in names
    )
    assert not any("nanobind" in name for name in names)
    assert any("nanobind" in name for name in requirements(["build"]))


def test_an_unknown_extra_is_refused():
    with pytest.raises(SystemExit, match="no extra 'nothing'"):
        requirements(["nothing"])


def test_some_packages_can_be_chosen():
    every = chosen(["datatrove"], [], [])
    assert chosen(["datatrove"], ["orjson", "numpy"], []) == [
        name for name in every if name.startswith(("numpy", "orjson"))
    ]
    assert chosen(["datatrove"], [], ["orjson"]) == [name for name in every if not name.startswith("orjson")]


@pytest.mark.parametrize("names", [{"only": ["pandas"], "without": []}, {"only": [], "without": ["pandas"]}])
def test_a_package_that_no_extra_asks_for_is_refused(names):
    with pytest.raises(SystemExit, match="asks for pandas"):
        chosen(["datatrove"], **names)


def install(folder: Path, versions: dict[str, str]) -> None:
    """Packages as pip leaves them, without their code."""
    for name, version in versions.items():
        place = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        place.mkdir(parents=True)
        (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_every_lower_bound_must_be_installed_somewhere(tmp_path):
    lowest = bounds(["build", "test", "daft"])
    assert lowest["numpy"] == "1.26" and lowest["pystemmer"] == "2.2.0.2" and lowest["redis"] == "6"
    newer = {"numpy": "2.0.0", "pyarrow": f"{lowest.pop('pyarrow')}.0.2"}
    install(tmp_path / "one", lowest)
    install(tmp_path / "two", newer)
    assert untested([str(tmp_path / "one"), str(tmp_path / "two")]) == []
    assert untested([str(tmp_path / "two")])[:2] == [
        "numpy>=1.26: installed 2.0.0",
        "click>=8.1: installed nowhere",
    ]


def test_a_longer_number_is_another_version(tmp_path):
    install(tmp_path, bounds(["build", "test", "daft"]) | {"pyarrow": "160.0"})
    assert untested([str(tmp_path)]) == ["pyarrow>=16: installed 160.0"]
