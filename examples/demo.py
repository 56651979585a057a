"""Find the near-duplicates in the bundled sample, stage by stage, and show them.

Texts become word shingles and then 128-bit codes (one bit of each of 128 MinHash values). Codes that are near are
candidates; each candidate pair is verified by the exact Jaccard similarity of its shingles. Then clusters: the longest
page not yet taken becomes a keeper and takes its verified neighbours.
"""

from __future__ import annotations

import gzip
import json
import time

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import neardup as nd
import neardup.similarity as similarity
from neardup import sample

THRESHOLD = 0.6
RADIUS = 45  # of 128 bits: pairs of similarity .6 differ in 26 on average, unrelated ones in 64


def read_pages() -> list[dict[str, str]]:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def find_pairs(texts: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Verified pairs with their similarity, and how many candidates there were."""
    features = nd.Shingles(5).extract(texts)
    codes = nd.BitMinHash(128).compute(features)
    candidates = nd.Scan(RADIUS, bits=128).candidates(codes)
    exact = similarity.jaccard(features, candidates.left, candidates.right)
    kept = exact >= THRESHOLD
    return candidates.left[kept], candidates.right[kept], exact[kept], len(exact)


def cluster(
    texts: list[str], left: np.ndarray, right: np.ndarray, exact: np.ndarray
) -> dict[int, list[tuple[int, float]]]:
    """Each keeper with the members it takes: every member is similar to its keeper, not only to a chain towards it."""
    neighbours: dict[int, dict[int, float]] = {row: {} for row in range(len(texts))}
    for a, b, score in zip(left.tolist(), right.tolist(), exact.tolist(), strict=True):
        neighbours[a][b] = neighbours[b][a] = score
    taken: set[int] = set()
    clusters = {}
    for row in sorted(range(len(texts)), key=lambda i: (-len(texts[i]), i)):
        if row in taken:
            continue
        members = [(other, score) for other, score in neighbours[row].items() if other not in taken]
        taken |= {row, *(other for other, _ in members)}
        if members:
            clusters[row] = sorted(members, key=lambda m: -m[1])
    return clusters


def main() -> None:
    console = Console(highlight=False)
    pages = read_pages()
    texts = [page["text"] for page in pages]
    start = time.perf_counter()
    left, right, exact, candidates = find_pairs(texts)
    clusters = cluster(texts, left, right, exact)
    seconds = time.perf_counter() - start
    dropped = sum(len(members) for members in clusters.values())
    same_words = len(texts) - len({bytes(d) for d in nd.digest(texts, normalized=nd.Normalize()).digests})
    size = sum(map(len, texts))
    saved = sum(len(texts[row]) for members in clusters.values() for row, _ in members)

    console.print(
        Text.assemble(
            (f"{len(texts)} pages", "bold"),
            f", {size / 1000:.0f} KB; near-duplicates found in {seconds * 1000:.0f} ms",
        )
    )
    console.print(f"  {candidates} candidate pairs, {len(left)} verified at Jaccard >= {THRESHOLD:g}")
    console.print(
        f"  {len(clusters)} clusters; {dropped} pages could go ({same_words} of them word for word), "
        f"{saved / size:.0%} of the text"
    )
    console.print()
    table = Table(title="Largest clusters", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Jaccard", justify="right")
    table.add_column("page")
    table.add_column("title")
    for keeper, members in sorted(clusters.items(), key=lambda item: (-len(item[1]), item[0]))[:4]:
        table.add_row("keep", Text(pages[keeper]["id"], style="green"), pages[keeper]["title"])
        for row, score in members[:4]:
            table.add_row(
                f"{score:.2f}", Text(pages[row]["id"], style="red"), Text(pages[row]["title"], style="dim")
            )
        if len(members) > 4:
            table.add_row("", Text(f"and {len(members) - 4} more", style="dim"), "")
        table.add_section()
    console.print(table)

    keeper, members = min(clusters.items(), key=lambda item: min(score for _, score in item[1]))
    row, score = members[-1]
    console.print(
        Text(f"\nThe least certain pair: {pages[row]['id']} beside {pages[keeper]['id']}", style="bold")
    )
    found = nd.explain(texts[row], texts[keeper], threshold=THRESHOLD)
    shared, only_left, only_right = found.shingles
    console.print(
        f"  {found.verdict}: {shared} of {shared + only_left + only_right} word 5-shingles shared (Jaccard {score:.2f})"
    )
    for title, shingles, style in (("shared", found.shared, "green"), ("changed", found.only_left, "red")):
        for shingle in shingles[:2]:
            console.print(Text(f"  {title:8}", style="dim"), Text(f"... {shingle} ...", style=style))


if __name__ == "__main__":
    main()
