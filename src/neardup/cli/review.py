"""`neardup review`: look at findings in a browser, and decide."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from typing import Any

import click

from neardup.cli.browser import open_browser
from neardup.cli.options import cut_options, json_option
from neardup.cli.outputs import WritingCommand, may_overwrite, output_option, overwrite_option
from neardup.cli.settings import keep_of
from neardup.errors import MissingExtra
from neardup.values.wording import counted

__all__ = ["review"]

NEEDED = ("granian", "msgspec", "prometheus_client", "rapidfuzz")


@click.command(cls=WritingCommand)
@click.argument("findings", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Port; 0 takes any free one."
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@output_option("--export", help="Write the decisions so far here as JSONL, and end; -: print them.")
@overwrite_option
@cut_options
@json_option("Print the address as a JSON object.")
def review(findings: str, port: int, no_open: bool, export: str | None, as_json: bool, **given: Any) -> None:
    """Open a page on FINDINGS: move the threshold, read clusters side by side, accept, reject, choose keepers.

    Every decision is saved at once in FINDINGS; `neardup apply` does what was decided. The page is served to this
    machine only, under an address that nobody can guess. Ctrl-C ends it.
    """
    from neardup.findings import Findings

    if export is not None:
        _export(Findings(findings), export, as_json)
        return
    # From here on, a signal to stop is no failure, even while the modules below are still loading.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra("neardup review", "review")
    from neardup.pages.review import Review
    from neardup.pages.review.run import serve

    def make() -> Review:
        found = Findings(findings)
        return Review(found, keep_of(given, found.config.keep))

    def started(url: str) -> None:
        if as_json:
            click.echo(json.dumps({"findings": findings, "url": url}))
        else:
            click.echo(f"{findings}: review it at {url}\nDecisions are saved as you go. Ctrl-C ends this.")
        sys.stdout.flush()
        if not no_open:
            open_browser(url)

    serve(make, port, started=started)


def _export(findings: Any, path: str, as_json: bool) -> None:
    from neardup.findings import read_decisions
    from neardup.storage.output import open_output

    decisions = read_decisions(findings)
    findings.check_target(path)
    with open_output(path, overwrite=may_overwrite()) as file:
        file.write(decisions.to_jsonl().encode("utf-8", "surrogatepass"))
    answer = {"out": path, "decisions": len(decisions)}
    click.echo(json.dumps(answer) if as_json else f"{counted(len(decisions), 'decision')} written to {path}")
