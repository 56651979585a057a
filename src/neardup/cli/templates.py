"""`neardup templates`: what recurs across the pages of each source, and what leaving it out changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

import neardup as nd
from neardup.cli.inputs import reading_of
from neardup.cli.options import config_options, json_option, reading_options, threads_option
from neardup.cli.settings import config_of
from neardup.values.wording import counted, printable

__all__ = ["templates"]

SHARE = 0.05


@click.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option("--least", type=click.IntRange(1), help="Fewest documents of a source.  [default: 100]")
@click.option(
    "--samples",
    type=click.IntRange(0, 100),
    default=5,
    show_default=True,
    help="How many samples of each source to show.",
)
@click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, help="How many sources to show."
)
@click.option(
    "--truth", help="Labelled pairs or clusters, as for `neardup evaluate`, to measure precision and recall."
)
@config_options
@reading_options
@threads_option()
@json_option()
def templates(
    inputs: tuple[str, ...], least: int | None, samples: int, top: int, truth: str | None, **given: Any
) -> None:
    """Learn the templates of the sources in INPUTS (files, folders, globs): menus, footers, notices, ads.

    Shows what recurs in more than a share (--templates, by default 0.05) of a source's documents, how much of the text
    it is, how many documents become exact duplicates without it, and which pairs are new and which are lost. Nothing
    is written. The same --templates for `neardup scan` leaves it out there.
    """
    if given["templates"] is None:
        given["templates"] = SHARE
    config = config_of(given)
    settings = config.templates
    assert settings is not None
    if least is not None:
        settings = replace(settings, least=least)
        config = replace(config, templates=settings)

    def read() -> nd.Reader:
        return nd.read(list(inputs), **reading_of(given))

    threads = given["threads"]
    learnt = nd.pipeline.learn_templates(read(), config, samples=samples, threads=threads)
    ways: dict[str, nd.Templates | None] = {"nothing": None, "shingles": replace(settings, lines=False)}
    if settings.lines:
        ways["lines and shingles"] = settings
    results = {
        name: nd.dedup(read(), replace(config, templates=left_out), threads=threads)
        for name, left_out in ways.items()
    }
    at = config.verify.threshold
    pairs = {name: int((result.pairs.similarity >= at).sum()) for name, result in results.items()}
    scores: dict[str, dict[str, float]] = {}
    if truth is not None:
        for name, result in results.items():
            scored = nd.evaluate.score(result, truth)
            scores[name] = {"precision": scored.precision.value, "recall": scored.recall.value}
    if given["as_json"]:
        effect = {"threshold": at, "pairs": pairs, "quality": scores}
        click.echo(json.dumps(learnt.to_json() | {"effect": effect}, ensure_ascii=False))
        return
    _show(learnt, top)
    click.echo(f"\nnear-duplicates (similarity >= {at:g})")
    click.echo(f"  {'left out':18} {'pairs':>9}" + (f" {'precision':>9} {'recall':>7}" if scores else ""))
    for name in results:
        quality = f" {scores[name]['precision']:>9.3f} {scores[name]['recall']:>7.3f}" if scores else ""
        click.echo(f"  {name:18} {pairs[name]:>9,}{quality}")


def _show(learnt: nd.pipeline.LearntTemplates, top: int) -> None:
    click.echo(
        f"{counted(learnt.documents, 'document')} of {counted(len(learnt.sources) + learnt.small, 'source')}; "
        f"{learnt.small:,} sources have fewer than {learnt.settings.least:,} and are left as they are"
    )
    for source in sorted(learnt.sources, key=lambda one: -one.documents)[:top]:
        click.echo(
            f"\n{printable(source.source, 80) or '(no source)'}: {counted(source.documents, 'document')}"
        )
        click.echo(
            f"  in more than {learnt.settings.often(source.documents):.0f} of them: {source.features:,} shingles, "
            f"{source.share:.1%} of the text; {counted(source.lines, 'line')}"
        )
        for name, shown in (("passage", source.passages), ("line", source.line_samples)):
            for text, count in shown:
                click.echo(f"  {name:8} {count:>6,}x  {printable(text, 78)}")
    before, lines, folded = learnt.exact
    click.echo("\nexact duplicates")
    click.echo(f"  {before:>9,}  as the texts are")
    click.echo(f"  {lines:>9,}  without template lines")
    click.echo(f"  {folded:>9,}  and with digits, dates and ids folded")
    if learnt.figures:
        click.echo(f"  {learnt.figures:>9,}  of these differ in figures alone: look at them before you fold")
