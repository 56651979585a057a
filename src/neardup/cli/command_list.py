"""The commands by what they are for, with a line for each, so that `neardup --help` imports none of them; and the
width and the colours of the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

__all__ = ["GROUPS", "color_wanted", "help_width"]

GROUPS: dict[str, dict[str, str]] = {
    "Deduplicate": {
        "dedup": "Find duplicates and write the documents to keep.",
        "scan": "Find duplicates and write what was found to a folder.",
        "apply": "Write the kept documents.",
        "config": "Print the settings of some options, to save as a file.",
        "stage": "Run a scan as tasks for any scheduler.",
        "spark": "Find and remove duplicates over a cluster.",
    },
    "Inspect": {
        "clusters": "List the clusters that a scan found.",
        "explain": "Compare two texts: what they share, how they differ.",
        "report": "Write the findings as one HTML file.",
        "review": "Open a page to read and decide about clusters.",
        "audit": "Judge random removals: how many of them are right?",
        "repeats": "Find and cut parts that occur more than once.",
        "copies": "Find documents that share passages.",
        "templates": "Learn menus, footers and other templates of sources.",
        "try": "Open a page to paste and compare two texts.",
    },
    "Live index": {
        "index": "Remember documents, and find what was seen before.",
        "serve": "Serve an index over HTTP.",
    },
    "Web": {
        "urls": "Print the canonical form of each URL.",
        "links": "Merge the links to duplicates and mirrors.",
        "mirrors": "Find mirrors from pairs of duplicate pages.",
    },
    "Search": {
        "codes": "Make, search and describe files of codes.",
        "find": "Find the documents that contain a passage.",
        "fingerprint": "Print a fingerprint for each file.",
        "plan": "Recommend a search design: memory, time, speed.",
    },
    "Evaluate": {
        "evaluate": "Precision, recall and F1 of pairs or clusters.",
        "radius": "Judge pairs at each distance: how good is each radius?",
        "calibrate": "Measure what each setting would find and miss.",
        "curve": "What a setting does to pairs of each similarity.",
    },
    "Other": {
        "completion": "Print the completion script of a shell.",
    },
}
"""The commands by what they are for, each in a line that fits on 80 columns."""

_NARROWEST, _WIDEST = 40, 120


def help_width() -> int:
    """The width of the terminal, or COLUMNS, within what can be read."""
    return max(_NARROWEST, min(_WIDEST, _columns()))


def _columns() -> int:
    """What `shutil.get_terminal_size` gives, without the import of all that it can copy and compress."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, or no terminal
        return 80


def color_wanted(environment: Mapping[str, str] = os.environ) -> bool | None:
    """Whether to print colours: never with NO_COLOR or TERM=dumb, always with FORCE_COLOR; None: on a terminal."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return False if environment.get("TERM") == "dumb" else None
