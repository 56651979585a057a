"""`neardup mirrors`: hosts and trees that hold the same pages."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

import neardup as nd
from neardup.cli.options import json_option
from neardup.values.wording import counted

__all__ = ["mirrors"]


@click.command()
@click.argument("pairs", required=False)
@click.option(
    "--urls", "listed", multiple=True, help="All URLs of the crawl; without them the shares are too high."
)
@click.option("--column", help="The column with the URL in --urls, if it is not url.")
@click.option("--ids", type=click.Path(), help="Ids with their URLs, when PAIRS has ids.")
@click.option("--contents", type=click.Path(), help="URLs with the digest or cluster of what they show.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="Smallest share of paths that must match in each direction.",
)
@click.option(
    "--min-pages",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Fewest pages of a mirror that match.",
)
@click.option(
    "--prefer", multiple=True, metavar="HOST", help="A host to prefer in its group; may be given again."
)
@click.option(
    "--rules",
    "rules_file",
    type=click.Path(dir_okay=False),
    help="URL rules, as neardup urls --learn makes them.",
)
@click.option(
    "--page", multiple=True, metavar="URL", help="Print where else this page is, instead of the mirrors."
)
@json_option("One JSON object.")
def mirrors(
    pairs: str | None,
    listed: tuple[str, ...],
    column: str | None,
    ids: str | None,
    contents: str | None,
    threshold: float,
    min_pages: int,
    prefer: tuple[str, ...],
    rules_file: str | None,
    page: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find mirrors from PAIRS of duplicate pages: a TSV, CSV or JSONL file of two URLs (- is standard input).

    Two trees are mirrors if most paths of each exist in the other with the same content.
    """
    if pairs is None and contents is None:
        raise click.UsageError("name a file of PAIRS, or one of --contents")
    from neardup.web.url_lists import read_pairs, read_urls

    found = nd.mirrors.find_mirrors(
        _pairs(pairs, ids) if pairs else (),
        read_urls(listed, column),
        read_pairs(contents) if contents else (),
        threshold=threshold,
        min_pages=min_pages,
        prefer=prefer,
        rules=nd.urls.UrlRules.load(rules_file) if rules_file else nd.urls.UrlRules(),
    )
    if page:
        _pages(found, page, as_json)
    elif as_json:
        click.echo(json.dumps(_facts(found), ensure_ascii=False))
    else:
        _print(found, bool(listed or contents))


def _pairs(path: str, ids: str | None) -> Iterator[tuple[str, str]]:
    from neardup.web.url_lists import read_pairs

    if ids is None:
        yield from read_pairs(path)
        return
    urls = dict(read_pairs(ids))
    for left, right in read_pairs(path):
        for name in (left, right):
            if name not in urls:
                raise nd.DataError(f"{path}: id {name!r} has no URL in {ids}")
        yield urls[left], urls[right]


def _pages(found: nd.mirrors.Mirrors, pages: tuple[str, ...], as_json: bool) -> None:
    for url in pages:
        others = found.same_page(url)
        if as_json:
            said = {"url": url, "preferred": found.preferred_url(url)}
            click.echo(json.dumps(said | {"mirrors": [{"url": o.url, "known": o.known} for o in others]}))
            continue
        click.echo(url)
        for other in others:
            click.echo(f"  {other.url}{'' if other.known else '  (not seen; worth a try)'}")
        if not others:
            click.echo("  no mirror is known")


def _facts(found: nd.mirrors.Mirrors) -> dict[str, object]:
    groups = [
        {
            "preferred": str(group.preferred),
            "trees": [{"tree": str(t), "pages": n} for t, n in zip(group.trees, group.pages, strict=True)],
        }
        for group in found.groups
    ]
    return {
        "urls": found.urls,
        "pairs": found.pairs,
        "threshold": found.threshold,
        "mirrors": [mirror.to_json() for mirror in found.mirrors],
        "partial": [mirror.to_json() for mirror in found.partial],
        "groups": groups,
    }


def _print(found: nd.mirrors.Mirrors, complete: bool) -> None:
    click.echo(
        f"{counted(found.urls, 'URL')}, {counted(found.pairs, 'pair')}: "
        f"{counted(len(found.mirrors), 'mirror')} in {counted(len(found.groups), 'group')}"
    )
    if not complete:
        click.echo("pages without a duplicate are unknown, so shares are too high; name all URLs with --urls")
    for title, several in (("mirrors", found.mirrors), ("in one direction only", found.partial)):
        if several:
            click.echo(f"\n{title}")
        for mirror in several:
            click.echo(f"  {mirror.left}  =  {mirror.right}{'  (same owner)' if mirror.same_owner else ''}")
            click.echo(
                f"    {mirror.matched} pages match: {mirror.left_share:.0%} of {mirror.left_pages} on the left,"
                f" {mirror.right_share:.0%} of {mirror.right_pages} on the right"
            )
            for one, other in mirror.samples[:1]:
                click.echo(f"    {one}\n    {other}")
    if found.groups:
        click.echo("\ngroups, the preferred tree first")
    for group in found.groups:
        click.echo(
            "  "
            + ", ".join(f"{tree} ({pages})" for tree, pages in zip(group.trees, group.pages, strict=True))
        )
