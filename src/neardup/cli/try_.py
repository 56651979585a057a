"""`neardup try`: a page that takes two texts through every stage."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys

import click

from neardup.cli.browser import open_browser
from neardup.cli.options import json_option
from neardup.cli.serve import NEEDED
from neardup.errors import MissingExtra

__all__ = ["try_"]


@click.command(name="try")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Port; 0 takes any free one."
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@json_option("Print the address as a JSON object.")
def try_(port: int, no_open: bool, as_json: bool) -> None:
    """Try the method: paste two texts and see their fingerprints, weak bits, sketches and the verdict.

    The page is served to this machine only, until Ctrl-C. `neardup serve INDEX` has it too, at /try, where a text
    can also be looked up in the index.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra("neardup try", "service")
    from neardup.http.run import serve
    from neardup.http.server import ListenAddress

    def started(url: str) -> None:
        click.echo(json.dumps({"url": url}) if as_json else f"Try it: {url}  (Ctrl-C ends it)")
        sys.stdout.flush()
        if not no_open:
            open_browser(url)

    serve(None, ListenAddress("127.0.0.1", port), started=started)
