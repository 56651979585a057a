"""Make the bundled crawl: URLs with the content each shows, and the ways in which one page gets many URLs.

handbook.example.org    the original
mirror.example.net      a whole mirror of it, below /pub/handbook
cdn.example.org         an alias of its host, as a content network has
backup.example.com      a partial mirror: the guide and nothing else of it, beside pages of its own
library.example.org     has the reference of handbook's older edition, moved to another place
club.example.net        an unrelated host on the same software: same help and login pages, other contents
shop.example.com        pages with parameters that matter and parameters that do not

    python tools/make_crawl.py        writes src/neardup/sample/crawl.tsv
"""

from __future__ import annotations

import random
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "neardup" / "sample" / "crawl.tsv"
GUIDE = ["start", "install", "first-steps", "files", "search", "sharing", "backup", "printing", "faq"]
REFERENCE = [
    "commands",
    "options",
    "formats",
    "limits",
    "errors",
    "glossary",
    "keys",
    "units",
    "dates",
    "syntax",
]
NEWS = ["2024/spring", "2024/summer", "2025/spring", "2025/meeting", "2026/release"]
# What the software brings along wherever it is installed.
SOFTWARE = ["login", "help/markup", "help/licence", "help/about", "search/tips"]


def crawl() -> list[tuple[str, str]]:
    """(url, content) in the order in which a crawler might find them."""
    rng = random.Random(7)
    rows: list[tuple[str, str]] = []

    def add(url: str, content: str) -> None:
        rows.append((url, content))

    pages = [
        "",
        *(f"guide/{p}" for p in GUIDE),
        *(f"reference/{p}.html" for p in REFERENCE),
        *(f"news/{p}" for p in NEWS),
    ]
    for page in pages:
        add(f"http://handbook.example.org/{page}", f"handbook/{page}")
        # The mirror is a day behind: its front page and one news page differ.
        stale = page in ("", "news/2026/release")
        add(f"https://mirror.example.net/pub/handbook/{page}", f"{'stale ' if stale else ''}handbook/{page}")
        add(f"https://cdn.example.org/{page}", f"handbook/{page}")
        if page.startswith("guide/"):
            add(f"http://backup.example.com/{page}", f"handbook/{page}")
    for name in REFERENCE:
        add(f"http://handbook.example.org/old/edition-2/{name}", f"edition 2 {name}")
        add(f"http://cdn.example.org/old/edition-2/{name}", f"edition 2 {name}")
        add(f"http://mirror.example.net/pub/handbook/old/edition-2/{name}", f"edition 2 {name}")
        add(f"http://library.example.org/shelf/manuals/{name}", f"edition 2 {name}")
    for number in range(12):
        add(f"http://backup.example.com/jobs/{number}", f"backup job {number}")
        add(f"http://library.example.org/catalogue/{number}", f"catalogue {number}")
        add(f"http://club.example.net/members/{number}", f"member {number}")
        add(f"http://mirror.example.net/pub/other/{number}", f"other project {number}")
    for page in SOFTWARE:
        add(f"http://club.example.net/{page}", f"software {page}")
        add(f"http://handbook.example.org/{page}", f"software {page}")
        add(f"https://cdn.example.org/{page}", f"software {page}")
    for name in GUIDE:
        add(f"http://club.example.net/guide/{name}", f"club guide {name}")
    for number in range(1, 9):
        for colour in ("red", "blue"):
            item = f"item {number} {colour}"
            add(f"http://shop.example.com/item?id={number}&colour={colour}", item)
            add(f"http://shop.example.com/item?id={number}&colour={colour}&view=list", item)
            add(f"http://shop.example.com/item?colour={colour}&view=grid&id={number}", item)
            add(
                f"http://shop.example.com/item?id={number}&colour={colour}&visit={rng.randrange(10**6)}&utm_source=mail",
                item,
            )
            add(f"http://m.shop.example.com/item?id={number}&colour={colour}", item)
    for name in GUIDE[:6]:
        add(f"https://shop.example.com/help/{name}", f"shop help {name}")
        add(f"https://shop.example.com/help/{name}.html", f"shop help {name}")
        add(f"https://shop.example.com/en/help/{name}", f"shop help {name}")
        add(f"https://m.shop.example.com/help/{name}", f"shop help {name}")
    rng.shuffle(rows)
    return rows


def text() -> str:
    return "url\tcontent\n" + "".join(f"{url}\t{content}\n" for url, content in crawl())


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(f"{len(crawl())} URLs in {TARGET}")
