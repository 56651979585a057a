"""The commands by what they are for, with the first sentence of each, so that `neardup --help` imports none of them;
and the width and the colours of the terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

__all__ = ["GROUPS", "color_wanted", "help_width"]

GROUPS: dict[str, dict[str, str]] = {
    "Deduplicate": {
        "dedup": (
            "Find the duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and "
            "write the documents to keep."
        ),
        "scan": (
            "Find duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and write "
            "what was found to a folder."
        ),
        "apply": "Write the kept documents.",
        "config": (
            "Print the settings that these options (and a --config file) come to, as TOML: save it "
            "and pass it as --config."
        ),
        "spark": (
            "Find and remove duplicates over a cluster, with the answers of `neardup scan` and `apply`."
        ),
    },
    "Inspect": {
        "clusters": (
            "List the clusters of FINDINGS: the keeper first, then its members by their similarity to it."
        ),
        "explain": (
            "Compare the texts of two files, or with -f of two documents of a scan, by every measure,"
            " and show what they share and where they differ; of a scan also which of them is kept, "
            "and why."
        ),
        "report": (
            "Write FINDINGS as one HTML file: numbers, plots, the most useful clusters, settings and "
            "how to repeat it."
        ),
        "review": (
            "Open a page on FINDINGS: move the threshold, read clusters side by side, accept, reject,"
            " choose keepers."
        ),
        "audit": (
            "Show random removals of FINDINGS one by one, with their keeper and what differs, and ask"
            " whether each is right."
        ),
        "repeats": (
            "Find parts that occur more than once in INPUTS (files, folders, globs), and write the "
            "documents without them."
        ),
        "copies": (
            "Find documents of INPUTS (files, folders, globs) that share passages: quotes, excerpts, "
            "copied parts."
        ),
        "templates": (
            "Learn the templates of the sources in INPUTS (files, folders, globs): menus, footers, "
            "notices, ads."
        ),
        "try": (
            "Try the method: paste two texts and see their fingerprints, weak bits, sketches and the verdict."
        ),
    },
    "Live index": {
        "index": (
            "Remember documents, and find out whether they, or near-duplicates of them, have been "
            "seen before."
        ),
        "serve": "Serve an index over HTTP; a new one is made if there is none.",
    },
    "Web": {
        "urls": (
            "Print the canonical form of each URL in INPUTS (files; - or nothing is standard input), "
            "one a line, in order."
        ),
        "mirrors": (
            "Find mirrors from PAIRS of duplicate pages: a TSV, CSV or JSONL file of two URLs (- is "
            "standard input)."
        ),
    },
    "Search": {
        "find": (
            "Find the documents of CORPUS (files, folders, globs; - is standard input) that contain PASSAGE."
        ),
        "fingerprint": (
            "Print a fingerprint for each of the FILES (- is standard input), read as UTF-8 text."
        ),
        "plan": ("Recommend a search design: predicted memory, build time and speed of each, best first."),
    },
    "Evaluate": {
        "evaluate": (
            "Precision, recall and F1 of PAIRS, a file of pairs or of clusters (CSV, TSV, JSONL or Parquet)."
        ),
        "calibrate": (
            "Measure on CORPUS itself (files, folders, globs) what each method and setting would "
            "find, miss and remove."
        ),
        "curve": (
            "What a setting does to pairs of each similarity: as numbers, and with --plot as a picture."
        ),
    },
    "Other": {
        "completion": "Print the completion script of SHELL.",
    },
}
"""The commands by what they are for, each with the first sentence of its help."""

_NARROWEST, _WIDEST = 40, 120


def help_width() -> int:
    """The width of the terminal, or COLUMNS, within what can be read."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))


def color_wanted(environment: Mapping[str, str] = os.environ) -> bool | None:
    """Whether to print colours: never with NO_COLOR or TERM=dumb, always with FORCE_COLOR; None: on a terminal."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return False if environment.get("TERM") == "dumb" else None
