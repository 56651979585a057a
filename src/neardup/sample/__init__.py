"""The bundled sample: short pages of our own making, with the edits that are usual on the web.

`pages.jsonl.gz` holds id, url, title and text; `truth.tsv` says which pages are copies of one another (id,
cluster, kind). Both are made by tools/make_sample.py.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from neardup.values.checks import checked

__all__ = ["path"]


@checked
def path(name: str = "pages.jsonl.gz") -> Path:
    """The path of a file of the sample on this machine."""
    return Path(str(resources.files(__package__).joinpath(name)))
