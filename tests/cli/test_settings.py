"""Each option of a config sets a field of it, by one table."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import click
import pytest

import neardup as nd
from neardup.cli.options import config_options
from neardup.cli.settings import FIELDS, config_of
from neardup.config.kinds import class_of, kinds
from neardup.search.hamming.method import HammingMethod

# Options with rules of their own: they choose a strategy, or set two fields that belong together.
RULES = {
    "highlights",
    "in_links",
    "protect",
    "lossless",
    "config",
    "preset",
    "method",
    "search",
    "radius",
    "measure",
    "threshold",
    "floor",
    "keep",
    "vectors",
}
VALUES = {
    "width": 3,
    "fold_digits": True,
    "recall": 0.9,
    "short": 7,
    "html": "whole",
    "templates": 0.25,
    "keep_lines": True,
    "components": True,
    "min_words": 4,
    "min_bytes": 9,
    "languages": ("en",),
    "links": True,
    "same_language": True,
    "length": 0.5,
    "prune": True,
    "prefer": ("a",),
    "many": 2,
    "among": "within",
    "by_language": True,
    "source": "site",
    "seed": 7,
}


def options() -> set[str]:
    @config_options
    @click.command()
    def command() -> None: ...

    return {parameter.name for parameter in command.params}


def test_every_option_has_a_field_or_a_rule():
    assert options() - RULES <= set(FIELDS) and set(FIELDS) <= options() | {"source"}


# Options whose field has another name: a flag chooses a value of it, or it is the one field of a table of that name.
NAMED_APART = {
    "fold_digits": "digits",
    "keep_lines": "lines",
    "components": "clusters",
    "templates": "share",
}


def test_an_option_and_its_field_have_the_same_name():
    """So that what is --min-words on the command line is min_words in TOML and in Python."""
    names = {option: {field.rpartition(".")[2] for field in fields} for option, fields in FIELDS.items()}
    assert names == {option: {NAMED_APART.get(option, option)} for option in FIELDS}


def at(value: object, path: str) -> object:
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("option", FIELDS)
def test_an_option_changes_its_field_and_no_other(option):
    usual = config_of({"templates": 0.5} if option == "keep_lines" else {})
    given = {option: VALUES[option]} | ({"templates": 0.5} if option == "keep_lines" else {})
    made = config_of(given)
    assert made != usual
    changed = {
        entry.name for entry in fields(usual) if getattr(made, entry.name) != getattr(usual, entry.name)
    }
    path = FIELDS[option][0].replace("compared", "features")
    also = {"features"} if option == "seed" else set()  # a config hands its seed on to them
    assert changed == {path.partition(".")[0], *also}
    assert at(made, path) == {"fold_digits": "fold", "keep_lines": False, "components": "components"}.get(
        option, VALUES[option]
    )
    assert is_dataclass(made)


def test_what_is_compared_apart_is_changed_too():
    made = config_of({"method": "simhash", "width": 4, "fold_digits": True})
    assert made.compare.width == 4 and made.features.width == 1
    assert made.compare.normalize.digits == made.features.normalize.digits == "fold"
    assert config_of({"keep_lines": True}).templates is None
    assert made == nd.Config.from_plain(made.to_plain())


def test_every_search_of_codes_is_a_choice() -> None:
    """The names are those of the table in config/kinds.py, so a new method of codes is not forgotten here."""

    @config_options
    def command() -> None: ...

    option = next(p for p in click.command()(command).params if p.name == "search")
    assert isinstance(option.type, click.Choice)
    named = {kind for kind in kinds() if issubclass(class_of(kind) or object, HammingMethod)}
    assert set(option.type.choices) == named
