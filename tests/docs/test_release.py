"""The version is in one place, and what names it follows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

from neardup import __version__

ROOT = Path(__file__).parents[2]


def test_changelog_starts_with_this_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    assert headings[0] == __version__
    assert headings == sorted(
        headings, key=lambda name: [int(part) for part in name.split(".")], reverse=True
    )


def test_citation_names_this_version_and_the_two_papers():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == __version__
    assert [(paper["authors"][0]["family-names"], paper["year"]) for paper in cited["references"]] == [
        ("Manku", 2007),
        ("Sood", 2011),
    ]


def test_package_takes_the_version_from_the_source():
    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in described["project"] and "version" in described["project"]["dynamic"]
    place = described["tool"]["scikit-build"]["metadata"]["version"]["input"]
    assert f'__version__ = "{__version__}"' in (ROOT / place).read_text("utf-8")


def test_issue_forms_have_what_the_hosting_service_asks_for():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        if path.name == "config.yml":
            continue
        assert {"name", "description", "body"} <= set(form), path.name
        ids = [part["id"] for part in form["body"]]
        assert len(set(ids)) == len(ids) and all(part["attributes"]["label"] for part in form["body"]), (
            path.name
        )
    assert len(forms) == 4
