"""Files of a folder that cannot be read as the others are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from neardup.readers.account import Account
from neardup.readers.interface import Terms
from neardup.readers.layout import UnclearColumns
from neardup.readers.sources import Source

__all__ = ["Unclear"]

_Item = TypeVar("_Item")


class Unclear:
    """Files of a folder that cannot be read: each is rejected, and the others are read. Columns that do not
    show the text are an error if that is so in every file."""

    def __init__(self, files: int) -> None:
        self._several = files > 1
        self._first: UnclearColumns | None = None

    def passed(self, items: Iterator[_Item], file: Source, terms: Terms) -> Iterator[_Item]:
        if not (self._several and file.listed):
            yield from items
            return
        while True:
            try:
                item = next(items, None)
            except UnclearColumns as error:
                self._first = self._first or error
                terms.rejects.add(file.name, None, "unclear columns", str(error))
                return
            except OSError as error:
                terms.rejects.add(file.name, None, "unreadable", str(error))
                return
            if item is None:
                return
            yield item

    def settle(self, account: Account) -> None:
        if self._first is not None and account.rejected["unclear columns"] == account.rows:
            raise self._first
