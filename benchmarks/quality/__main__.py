"""Compare all settings on the labelled sets: python -m benchmarks.quality [--page]

Writes benchmarks/results/quality.json, the plots in docs/images and the part of docs/inside/quality.md between its
marks. With `--page` plots and page are made again from the kept result. About six minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import machine
from benchmarks.quality import failures, page, plots
from benchmarks.quality.bands import by_cosine, by_jaccard_band
from benchmarks.quality.compare import by_html, by_short_path, compare
from benchmarks.quality.human import human
from benchmarks.quality.sets import SETS, VERSIONS, load
from benchmarks.result_file import write_rows

RESULT = Path(__file__).parents[1] / "results" / "quality.json"


def measure() -> dict[str, Any]:
    """All experiments; a set is loaded once and let go."""
    begin = perf_counter()
    result: dict[str, Any] = {
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": machine.describe(),
        "versions": machine.versions(("neardup", "numpy")),
        "sets": [],
        "jaccard_bands": [],
        "cosine_bands": [],
        "changed": [],
        "templates": [],
    }
    for name in SETS:
        print(name, flush=True)
        given = load(name)
        result["sets"].append(compare(given))
        if name in VERSIONS:
            result["jaccard_bands"].append(by_jaccard_band(given))
            result["cosine_bands"] += by_cosine(given)
            result["changed"].append({"set": name, "rows": failures.changed(given)})
            result["templates"].append(failures.template_pairs(given))
            if name == "k8s_docs_rev":
                lines = failures.short_lines(given)
                result["short_lines"] = {"set": lines.name, "short": by_short_path(lines)}
        elif name == "gov2_human":
            result["human"] = human(given)
            result["human_kinds"] = failures.kinds(given, lambda note: note.split(";")[0])
        elif name == "wiki_html_variants":
            result["variants"] = failures.kinds(given)
            result["variants_main"] = failures.kinds(load(name, "main"))
        elif name == "tldr_short":
            result["aliases"] = failures.aliases(given)
            result["short_texts"] = failures.short_texts(given)
    result["html"] = [
        {"set": name, "html": html, **by_html(load(name, html))}
        for name in ("wiki_html_variants", "pydoc_html_versions")
        for html in ("whole", "main")
    ]
    result["seconds"] = round(perf_counter() - begin)
    return result


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--page", action="store_true", help="plots and page from the kept result")
    if not parser.parse_args().page:
        write_rows(RESULT, measure())
    result = json.loads(RESULT.read_text("utf-8"))
    plots.draw(result)
    page.write(result)


if __name__ == "__main__":
    main()
