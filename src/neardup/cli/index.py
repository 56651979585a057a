"""`neardup index`: a live index on the command line."""

from __future__ import annotations

import click

from neardup.cli import index_documents as documents
from neardup.cli import index_files as files
from neardup.cli import index_streams as streams

__all__ = ["index"]


@click.group()
def index() -> None:
    """Remember documents, and find out whether they, or near-duplicates of them, have been seen before.

    An index is a folder: one process at a time may write to it, any number may read. Or it is shared by many in Redis
    or Valkey: redis://host:6379/0?name=pages, redis+cluster://host:6379?name=pages.
    """


for command in (
    documents.create,
    streams.add,
    streams.seen,
    documents.search,
    documents.get,
    documents.cluster,
    documents.remove,
    documents.forget,
    files.stats,
    files.compact,
    files.verify,
    files.backup,
    files.export,
    files.import_,
    files.replay,
    files.key,
    files.reindex,
    files.recover,
):
    index.add_command(command)
