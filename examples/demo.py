"""Find the duplicates and near-duplicates in the bundled sample and show them: what a person sees first."""

from __future__ import annotations

import gzip
import json
import time

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import neardup as nd
from neardup import sample

THRESHOLD = 0.6


def read_pages() -> list[nd.Document]:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        return [
            nd.Document(page["id"], page["text"], {"title": page["title"]}) for page in map(json.loads, file)
        ]


def clusters_of(result: nd.Result) -> dict[int, list[nd.Dropped]]:
    """Each keeper with the documents it stands for, the most similar first."""
    clusters: dict[int, list[nd.Dropped]] = {}
    for dropped in result.dropped:
        clusters.setdefault(dropped.keeper, []).append(dropped)
    return {keeper: sorted(members, key=lambda d: -d.similarity) for keeper, members in clusters.items()}


def largest_clusters(pages: list[nd.Document], clusters: dict[int, list[nd.Dropped]]) -> Table:
    table = Table(title="Largest clusters", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Jaccard", justify="right")
    table.add_column("page")
    table.add_column("title")
    for keeper, members in sorted(clusters.items(), key=lambda item: (-len(item[1]), item[0]))[:4]:
        table.add_row("keep", Text(pages[keeper].id, style="green"), pages[keeper].meta["title"])
        for member in members[:4]:
            page = pages[member.row]
            table.add_row(
                f"{member.similarity:.2f}", Text(page.id, style="red"), Text(page.meta["title"], style="dim")
            )
        if len(members) > 4:
            table.add_row("", Text(f"and {len(members) - 4} more", style="dim"), "")
        table.add_section()
    return table


def main() -> None:
    console = Console(highlight=False)
    pages = read_pages()
    start = time.perf_counter()
    result = nd.dedup(pages, threshold=THRESHOLD)
    milliseconds = 1000 * (time.perf_counter() - start)
    console.print(result.summary())
    console.print(f"  found in {milliseconds:.0f} ms", style="dim")
    console.print()
    console.print(largest_clusters(pages, clusters_of(result)))

    least = min(result.dropped, key=lambda d: d.similarity)
    left, right = pages[least.row], pages[least.keeper]
    console.print(Text(f"The least certain pair: {left.id} beside {right.id}", style="bold"))
    found = nd.explain(left, right, threshold=THRESHOLD)
    shared, only_left, only_right = found.shingles
    console.print(
        f"  {found.verdict}: {shared} of {shared + only_left + only_right} word 5-shingles shared "
        f"(Jaccard {found.jaccard:.2f})"
    )
    for title, shingles, style in (("shared", found.shared, "green"), ("changed", found.only_left, "red")):
        for shingle in shingles[:2]:
            console.print(Text(f"  {title:8}", style="dim"), Text(f"... {shingle} ...", style=style))


if __name__ == "__main__":
    main()
