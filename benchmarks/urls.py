"""URLs a second to canonical form, ours beside others, and how many forms each leaves of URLs of the same pages.

    python benchmarks/urls.py            prints, and keeps results/urls.json
    python benchmarks/urls.py --check    fails below 80,000 URLs per CPU-second

Others: pip install w3lib url-normalize courlan. They do less work: the column of forms says how much of it. All run
in one thread, CPU-seconds count, best of three. The text is made here: pages of many hosts, each under several URLs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import machine

HERE = Path(__file__).parent
PAGES, SPELLINGS = 10_000, 6


def urls() -> tuple[list[str], int]:
    """URLs of `PAGES` pages in as many spellings as crawlers find, shuffled, and how many pages they are."""
    rng = random.Random(11)
    words = ["news", "archive", "product", "über-uns", "help", "a b", "item", "story", "Politik", "2026"]
    found = []
    for page in range(PAGES):
        host = f"site{page % 700}.{rng.choice(['com', 'co.uk', 'org', 'de', 'github.io'])}"
        path = "/".join(rng.choices(words, k=rng.randint(1, 4))) + f"/{page}"
        query = f"id={page}&lang=en" if page % 3 == 0 else ""
        for spelling in range(SPELLINGS):
            scheme, name = rng.choice(["http", "https"]), host
            if spelling % 2 and not host.endswith("github.io"):
                name = f"www.{host}"
            tail = rng.choice(["", "/", "/index.html"])
            pieces = query.split("&") if query else []
            pieces += (
                [rng.choice(["utm_source=mail", "gclid=Cj0K", "PHPSESSID=1b2c3d"])]
                if spelling % 3 == 0
                else []
            )
            rng.shuffle(pieces)
            found.append(f"{scheme}://{name}/{path}{tail}{'?' if pieces else ''}{'&'.join(pieces)}")
    rng.shuffle(found)
    return found, PAGES


def engines() -> dict[str, Callable[[list[str]], list[str]]]:
    """Those that are installed, each from a list of URLs to a list of forms."""
    import neardup as nd

    made: dict[str, Callable[[list[str]], list[str]]] = {
        "neardup": lambda batch: nd.urls.canonical_urls(batch).urls
    }
    for name, module, function in (
        ("w3lib", "w3lib.url", "canonicalize_url"),
        ("url-normalize", "url_normalize", "url_normalize"),
        ("courlan", "courlan", "normalize_url"),
    ):
        try:
            call = getattr(import_module(module), function)
        except ImportError:
            print(f"{name} is not installed")
            continue
        made[name] = lambda batch, call=call: [call(url) for url in batch]
    return made


def measure(run: Callable[[list[str]], list[str]], batch: list[str], repeat: int = 3) -> dict[str, float]:
    run(batch[:1000])  # lists and caches are loaded once in a program's life
    best, forms = float("inf"), []
    for _ in range(repeat):
        start = time.process_time()
        forms = run(batch)
        best = min(best, time.process_time() - start)
    return {"urls_per_cpu_second": round(len(batch) / best), "forms": len(set(forms))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if a ratio or the rate does not hold")
    asked = parser.parse_args()
    batch, pages = urls()
    print(f"{len(batch):,} URLs of {pages:,} pages")
    rows = []
    for name, run in engines().items():
        row = {"engine": name, "version": machine.versions((name,))[name], **measure(run, batch)}
        rows.append(row)
        print(f"  {name:14} {row['urls_per_cpu_second']:>9,} URLs per CPU-second   {row['forms']:>7,} forms")
    ours, others = rows[0], rows[1:]
    checks = [{"says": f"neardup: one form a page, {ours['forms']:,}", "holds": ours["forms"] == pages}]
    rate = ours["urls_per_cpu_second"]
    checks.append(
        {"says": f"neardup: {rate:,} URLs per CPU-second, at least 80,000", "holds": rate >= 80_000}
    )
    for row in others:
        ratio = rate / row["urls_per_cpu_second"]
        checks.append({"says": f"neardup over {row['engine']}: {ratio:.1f}, at least 1", "holds": ratio >= 1})
    for one in checks:
        print(f"  {'ok  ' if one['holds'] else 'FAIL'} {one['says']}")
    result = {
        "suite": "urls",
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": machine.describe(),
    }
    result |= {"urls": len(batch), "pages": pages, "rows": rows, "checks": checks}
    target = HERE / "results" / "urls.json"
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(f"kept in {target.relative_to(HERE.parent)}")
    return 1 if asked.check and not all(one["holds"] for one in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
