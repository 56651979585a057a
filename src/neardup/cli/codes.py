"""`neardup codes`: files of codes, made, searched and described."""

from __future__ import annotations

import click

from neardup.cli import codes_files as files
from neardup.cli import codes_searches as searches

__all__ = ["codes"]


@click.group()
def codes() -> None:
    """Make, search, join and describe files of codes: simhash, perceptual hashes, codes of embeddings.

    A file of codes is Parquet, npy, raw numbers, hexadecimal text (one code a line, or an id, a tab and a code) or a
    segment (.seg, compressed .segz), by its ending or --format. Codes have 32, 64 or 128 bits.
    """


for command in (
    files.make,
    searches.search,
    searches.join,
    searches.batch,
    files.distribution,
    files.compress,
    files.info,
):
    codes.add_command(command)
