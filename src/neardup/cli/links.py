"""`neardup links`: links to duplicates and mirrors, moved to the pages that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import click

from neardup.cli.options import json_option, threshold_option
from neardup.cli.outputs import (
    WritingCommand,
    may_overwrite,
    out_format_option,
    output_option,
    overwrite_option,
)
from neardup.values.wording import counted

__all__ = ["links"]

Kept = Callable[[str], str | None]


@click.command(cls=WritingCommand)
@click.argument("file", metavar="LINKS")
@click.option(
    "--findings",
    "-f",
    type=click.Path(exists=True, file_okay=False),
    help="Move links from dropped documents of this scan to the kept ones.",
)
@click.option(
    "--contents",
    type=click.Path(),
    help="Move links from mirrors to the preferred host: URLs with the digest or cluster of what they show.",
)
@click.option(
    "--prefer", multiple=True, metavar="HOST", help="A host to prefer among mirrors; may be given again."
)
@threshold_option
@output_option(
    "--out",
    "-o",
    required=True,
    help="Write the links here (TSV, CSV, JSONL, Parquet, XLSX; - is standard output).",
)
@out_format_option
@overwrite_option
@json_option()
def links(file: str, findings: str | None, contents: str | None, **given: Any) -> None:
    """Merge the links to duplicates: LINKS is a TSV, CSV or JSONL file with the columns from, to and text.

    Each link is written with the page that is kept for its target (to), itself (from, text) and the page that it was
    made to (target). A crawler or a ranking then counts the links of all copies for the one that remains.
    """
    if findings is None and contents is None:
        raise click.UsageError("name --findings of a scan, or --contents for mirrors, or both")
    from neardup.readers.writers import open_writer
    from neardup.web.links import Link, merge_links, read_links

    seen = [0]

    def read() -> Iterator[Link]:
        for link in read_links(file):
            seen[0] += 1
            yield link

    kept = _kept(findings, given["threshold"], contents, given["prefer"])
    written = moved = 0
    with open_writer(given["out"], given["out_format"], overwrite=may_overwrite()) as writer:
        for link in merge_links(read(), kept.page):
            writer.write({"to": link.kept, "from": link.source, "text": link.text, "target": link.target})
            written += 1
            moved += kept.is_other(link.kept, link.target)
    if given["as_json"]:
        click.echo(
            json.dumps({"links": seen[0], "written": written, "moved": moved, "unknown": kept.unknown})
        )
        return
    click.echo(f"{counted(written, 'link')} of {seen[0]:,} written to {given['out']}; {moved:,} moved")
    if kept.unknown:
        pages = "a page that was" if kept.unknown == 1 else "pages that were"
        click.echo(f"{counted(kept.unknown, 'link')} to {pages} not scanned, or not kept, left out")


class _Kept:
    """The page that is kept for another, by clusters and mirrors; it counts the pages that it does not know."""

    def __init__(self, cluster: Kept | None, mirror: Callable[[str], str] | None) -> None:
        self.cluster, self.mirror, self.unknown = cluster, mirror, 0

    def page(self, url: str) -> str | None:
        found = url if self.cluster is None else self.cluster(url)
        if found is None:
            self.unknown += 1
            return None
        return found if self.mirror is None else self.mirror(found)

    @staticmethod
    def is_other(kept: str, target: str) -> bool:
        """Whether a link now leads to another page than the one it was made for."""
        from neardup.web.urls.canonical import canonical_url

        return canonical_url(kept) != canonical_url(target)


def _kept(
    findings: str | None, threshold: float | None, contents: str | None, prefer: tuple[str, ...]
) -> _Kept:
    cluster = mirror = None
    if findings is not None:
        from neardup.findings import Findings, decided_cut, kept_pages, read_decisions

        found = Findings(findings)
        cluster = kept_pages(found, decided_cut(found, threshold, decisions=read_decisions(found)))
    if contents is not None:
        from neardup.web.mirrors import find_mirrors
        from neardup.web.url_lists import read_pairs

        mirror = find_mirrors(contents=read_pairs(contents), prefer=prefer).preferred_url
    return _Kept(cluster, mirror)
