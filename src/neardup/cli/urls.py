"""`neardup urls`: canonical forms of URLs, a deduplicated frontier, and rules learnt from known contents."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from typing import Any

import click

import neardup as nd
from neardup.cli.options import json_option
from neardup.cli.outputs import WritingCommand, may_overwrite, output_option, overwrite_option
from neardup.values.wording import counted

__all__ = ["urls"]

BATCH = 10_000


@click.command(cls=WritingCommand)
@click.argument("inputs", nargs=-1)
@click.option(
    "--column", help="The column with the URL, in JSONL, CSV, TSV, Parquet or Arrow; by default url."
)
@click.option(
    "--format",
    "format_",
    help="Format of the inputs, if their names do not show it; text is one URL per line.",
)
@click.option(
    "--groups",
    "mode",
    flag_value="groups",
    help="Print only canonical forms that several URLs have, with these URLs.",
)
@click.option(
    "--frontier", "mode", flag_value="frontier", help="Print the first URL of each canonical form, unchanged."
)
@click.option(
    "--explain",
    "mode",
    flag_value="explain",
    help="Print which rules changed each URL, with the URL before and after.",
)
@click.option(
    "--list-rules", "mode", flag_value="rules", help="List all rules, which of them are on, and what they do."
)
@click.option(
    "--learn", type=click.Path(), help="Propose rules for sites from these pairs of URLs with equal content."
)
@click.option(
    "--contents", type=click.Path(), help="URLs with the digest or cluster of what they show, for --learn."
)
@click.option("--rules", "rules_file", type=click.Path(dir_okay=False), help="A TOML or JSON file of rules.")
@click.option(
    "--redirects", type=click.Path(), help="Pairs of URLs: redirects and rel=canonical links, from and to."
)
@click.option("--off", multiple=True, metavar="RULE", help="Switch a rule off; may be given again.")
@click.option("--on", multiple=True, metavar="RULE", help="Switch on a rule that is off by default.")
@click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="Another parameter to drop; promo_* drops all that begin with promo_.",
)
@click.option("--keep", multiple=True, metavar="NAME", help="A parameter to keep even if a list drops it.")
@click.option(
    "--min-support",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Fewest contents that support a learnt rule.",
)
@click.option(
    "--max-counter",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Largest share of groups that contradict a learnt rule.",
)
@output_option(
    "--out", "-o", help="Write here, with --learn the rules; the file appears when it is complete."
)
@overwrite_option
@json_option("One JSON object a line.")
def urls(
    inputs: tuple[str, ...],
    column: str | None,
    format_: str | None,
    mode: str | None,
    learn: str | None,
    contents: str | None,
    rules_file: str | None,
    redirects: str | None,
    off: tuple[str, ...],
    on: tuple[str, ...],
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    min_support: int,
    max_counter: float,
    out: str | None,
    as_json: bool,
) -> None:
    """Print the canonical form of each URL in INPUTS (files; - or nothing is standard input), one a line, in order.

    Two URLs with one form most likely show one page. What is no URL comes back as it was and is counted.
    """
    rules = _rules(rules_file, off, on, drop, keep)
    if redirects:
        rules = replace(rules, redirects=_redirects(redirects, rules))
    with ExitStack() as stack:
        say = click.echo if out is None or learn or contents else stack.enter_context(_LineOutput(out))
        if mode == "rules":
            _list(rules, as_json)
        elif learn or contents:
            _learn(learn, contents, rules, min_support, max_counter, out, as_json)
        else:
            _print(inputs or ("-",), column, format_, mode, rules, as_json, say)


def _rules(
    file: str | None, off: tuple[str, ...], on: tuple[str, ...], drop: tuple[str, ...], keep: tuple[str, ...]
) -> nd.urls.UrlRules:
    rules = nd.urls.UrlRules.load(file) if file else nd.urls.UrlRules()
    try:
        return replace(
            rules,
            off=tuple(name for name in (*rules.off, *off) if name not in on),
            on=tuple(name for name in (*rules.on, *on) if name not in off),
            tracking=(*rules.tracking, *drop),
            keep=(*rules.keep, *keep),
        )
    except nd.ConfigError as error:
        raise click.UsageError(str(error)) from None


def _redirects(path: str, rules: nd.urls.UrlRules) -> nd.urls.Redirects:
    found = nd.urls.Redirects.load(path, rules)
    for loop in found.loops:
        click.echo(
            f"neardup: redirects form a circle and are ignored: {' -> '.join([*loop, loop[0]])}", err=True
        )
    if found.trapped:
        click.echo(f"neardup: {len(found.trapped):,} URLs lead into a circle and are not changed", err=True)
    for url, first, other in found.conflicts[:10]:
        click.echo(f"neardup: {url} leads to {first} and to {other}; the first is used", err=True)
    if len(found.conflicts) > 10:
        click.echo(f"neardup: and {len(found.conflicts) - 10:,} more such", err=True)
    return found


def _list(rules: nd.urls.UrlRules, as_json: bool) -> None:
    from neardup.web.urls import STANDARD

    active = set(rules.names)
    for name, what in STANDARD.items():
        said = {"rule": name, "state": "standard", "what": what}
        click.echo(json.dumps(said) if as_json else f"always  {name:17} {what}")
    for name, what in nd.urls.UrlRules.known().items():
        state = "on" if name in active else "off"
        said = {"rule": name, "state": state, "what": what}
        click.echo(json.dumps(said) if as_json else f"{state:7} {name:17} {what}")
    for site in rules.sites:
        said = {"rule": site.kind, "state": "site", "what": str(site)}
        click.echo(json.dumps(said, ensure_ascii=False) if as_json else f"site    {site.kind:17} {site}")


def _print(
    inputs: tuple[str, ...],
    column: str | None,
    format_: str | None,
    mode: str | None,
    rules: nd.urls.UrlRules,
    as_json: bool,
    say: Callable[[str], None],
) -> None:
    from neardup.web.url_lists import read_urls

    rejected: Counter[str] = Counter()
    read = iter(read_urls(inputs, column, format_, rejected))
    counts = {"read": 0, "unparsed": 0}
    batches = _batches(read, rules, counts)
    if mode == "explain":
        for url in read:
            said = nd.urls.explain_url(url, rules)
            counts["read"] += 1
            counts["unparsed"] += not said.parsed
            say(json.dumps(said.to_json(), ensure_ascii=False) if as_json else _story(said))
    elif mode == "frontier":
        _frontier(batches, as_json, say)
    elif mode == "groups":
        _groups(batches, as_json, say)
    else:
        for url, form, parsed in batches:
            row = {"url": url, "canonical": form, "parsed": parsed}
            say(json.dumps(row, ensure_ascii=False) if as_json else form)
    if counts["unparsed"]:
        click.echo(
            f"neardup: {counts['unparsed']:,} of {counts['read']:,} are no URLs and came back as they were",
            err=True,
        )
    for reason, count in sorted(rejected.items()):
        click.echo(f"neardup: {counted(count, 'row')} could not be read: {reason}", err=True)
    if rejected and not counts["read"]:
        raise nd.DataError(
            "there is no URL in the input; name its column with --column, or its format with --format"
        )


def _batches(
    read: Iterator[str], rules: nd.urls.UrlRules, counts: dict[str, int]
) -> Iterator[tuple[str, str, bool]]:
    """(url, form, whether it is a URL), a batch at a time."""
    while batch := list(islice(read, BATCH)):
        made = nd.urls.canonical_urls(batch, rules)
        unparsed = set(made.unparsed.tolist())
        counts["read"] += len(batch)
        counts["unparsed"] += len(unparsed)
        for row, (url, form) in enumerate(zip(batch, made, strict=True)):
            yield url, form, row not in unparsed


def _frontier(found: Iterable[tuple[str, str, bool]], as_json: bool, say: Callable[[str], None]) -> None:
    seen: set[bytes] = set()  # digests, since the forms of a whole frontier would take many times as much
    count = 0
    for url, form, _ in found:
        count += 1
        digest = hashlib.blake2b(form.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest not in seen:
            seen.add(digest)
            say(json.dumps({"url": url, "canonical": form}, ensure_ascii=False) if as_json else url)
    click.echo(f"{count:,} URLs, {len(seen):,} kept, {count - len(seen):,} were there already", err=True)


def _groups(found: Iterable[tuple[str, str, bool]], as_json: bool, say: Callable[[str], None]) -> None:
    groups: dict[str, dict[str, None]] = {}
    for url, form, _ in found:
        groups.setdefault(form, {})[url] = None
    for form, members in groups.items():
        if len(members) > 1:
            if as_json:
                say(json.dumps({"canonical": form, "urls": list(members)}, ensure_ascii=False))
            else:
                say("\n".join([form, *(f"  {url}" for url in members)]))


def _story(said: Any) -> str:
    if not said.parsed:
        return f"{said.canonical}\n  is no URL and is not changed"
    lines = [f"  {step.rule:17} {step.after}" for step in said.steps] or ["  is not changed"]
    return "\n".join([said.url, *lines])


def _learn(
    learn: str | None,
    contents: str | None,
    rules: nd.urls.UrlRules,
    min_support: int,
    max_counter: float,
    out: str | None,
    as_json: bool,
) -> None:
    from neardup.web.url_lists import read_pairs

    found = nd.urls.learn_url_rules(
        read_pairs(learn) if learn else (),
        read_pairs(contents) if contents else (),
        rules=rules,
        min_support=min_support,
        max_counter=max_counter,
    )
    if out:
        found.rules.save(out)
    if as_json:
        for proposal in found.proposals:
            click.echo(json.dumps(proposal.to_json(), ensure_ascii=False))
        return
    click.echo(
        f"{found.urls:,} URLs; {len(found.accepted)} of {len(found.proposals)} proposed rules accepted"
    )
    for proposal in found.proposals:
        rule = proposal.rule
        overlap = "" if proposal.overlap is None else f", {proposal.overlap:.0%} of the smaller host"
        click.echo(f"\n{'accept' if proposal.accepted else 'reject'}  {rule}")
        click.echo(
            f"        {rule.support} contents for it, {rule.counter} against{overlap}; saves {proposal.merged} URLs"
        )
        for mark, samples in (("=", proposal.examples[:1]), ("!", proposal.counter_examples[:2])):
            for one, other in samples:
                click.echo(f"        {one}\n      {mark} {other}")
    if out:
        click.echo(f"\nthe accepted rules are in {out}; use them with --rules {out}")
    elif found.accepted:
        click.echo("\nto keep the accepted rules, name a file with --out")


class _LineOutput:
    """Lines into a file that appears when whole; used as a function."""

    def __init__(self, path: str) -> None:
        from neardup.storage.output import open_output

        self._file = open_output(path, overwrite=may_overwrite())

    def __call__(self, line: str) -> None:
        self._file.write(line.encode("utf-8", "replace") + b"\n")

    def __enter__(self) -> _LineOutput:
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.__exit__(*error)
