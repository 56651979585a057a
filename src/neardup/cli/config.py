"""`neardup config`: the settings in force, as a file to start from."""

from __future__ import annotations

import json
from typing import Any

import click

from neardup.cli.options import config_options, json_option
from neardup.cli.settings import config_of

__all__ = ["config"]


@click.command()
@config_options
@click.option(
    "--source",
    help="The field that names a document's source, or host:FIELD for the host of its URL; by default the file.",
)
@json_option("Print JSON instead of TOML.")
def config(as_json: bool, **given: Any) -> None:
    """Print the settings that these options (and a --config file) come to, as TOML: save it and pass it as --config."""
    made = config_of(given)
    click.echo(json.dumps(made.to_plain()) if as_json else made.to_toml(), nl=as_json)
    method = made.method
    if not as_json and method is not None and method != made.search and method.choice is not None:
        click.echo(f"\n# chosen for this threshold and recall: {method.choice}")
