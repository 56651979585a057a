"""The interface between nd.Index and its stores (a folder, a server), and the arguments that a store is opened
with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.features.texts import Texts
from neardup.index.answers import Answers, Cluster, Health, Hit, Stats, Stored
from neardup.index.export import ExportedDocument
from neardup.index.inputs import check_opening, is_address
from neardup.index.match import Items, Matcher
from neardup.index.recipe import Contents, Recipe
from neardup.search.interface import Hits, Mode
from neardup.values.seeds import Seed

__all__ = [
    "Access",
    "Durability",
    "Opening",
    "Rows",
    "Store",
    "StoreWriter",
    "check_folder",
    "file_mode",
    "read_only",
    "unsupported",
]

Durability = Literal["full", "normal"]
Rows = NDArray[np.int64]
Access = Literal["owner", "group", "all"]  # who may read the files; only the owner may write
_MODES: dict[str, int] = {"owner": 0o600, "group": 0o640, "all": 0o644}


@dataclass(frozen=True)
class Opening:
    """The arguments of nd.Index without the path; they are checked before anything is created."""

    config: Config | None = None
    mode: Literal["write", "read"] = "write"
    store: Contents | None = None
    durability: Durability = "normal"
    seed: int | Seed | None = None
    sample: Texts | None = None
    scheme: str | None = None
    ttl: float | None = None
    threads: int = 1
    access: Access = "owner"

    def __post_init__(self) -> None:
        check_opening(self.mode, self.ttl, self.threads)
        file_mode(self.access)

    @property
    def writes(self) -> bool:
        return self.mode == "write"

    def new_recipe(self, path: object, usual: Callable[[Contents], Config]) -> Recipe:
        """The recipe of an index that does not exist yet; `usual` returns the default config."""
        if not self.writes:
            raise FileNotFoundError(2, "there is no index here", str(path))
        contents: Contents = self.store or ("text" if self.scheme is None else "none")
        seed = None if self.seed is None else Seed.of(self.seed)
        config = self.config or usual(contents)
        return Recipe.make(config, seed, contents, self.scheme, self.sample, self.threads)

    def check_recipe(self, path: Path | str, recipe: Recipe) -> None:
        """ConfigError if the existing index has another recipe than the one given."""
        recipe.check_given(path, self.config, self.store, self.scheme)


class StoreWriter(Protocol):
    """Inserts and deletes documents; `before` is in milliseconds since 1970. Any thread may call any method."""

    def put(
        self, ids: Sequence[str], items: Items, metas: Sequence[str | None], ttl: float | None
    ) -> Answers: ...
    def remove(self, ids: Sequence[str]) -> int: ...
    def forget(self, before: int) -> int: ...
    def expire(self) -> int: ...


class Store(Protocol):
    """Stores and finds documents. Any thread may call any method."""

    path: Path | str
    recipe: Recipe

    @property
    def matcher(self) -> Matcher: ...
    @property
    def writer(self) -> StoreWriter: ...
    @property
    def rebuilt(self) -> tuple[str, ...]: ...

    def search(self, items: Items, own: Sequence[str | None], mode: Mode) -> list[list[Hit]]: ...
    def search_rows(self, items: Items, mode: Mode, threads: int | None) -> Hits: ...
    def ids(self, rows: Iterable[int] | Rows) -> dict[int, str]: ...
    def get_all(self, ids: Sequence[str], most: int | None = None) -> list[Stored | None]: ...
    def cluster(self, id: str, most: int | None = None) -> Cluster | None: ...
    def documents(self) -> Iterator[Stored]: ...
    def lines(self) -> Iterator[Sequence[ExportedDocument]]: ...
    def contains(self, id: str) -> bool: ...
    def count(self) -> int: ...
    def stats(self) -> Stats: ...

    def refresh(self) -> bool: ...
    def compact(self) -> None: ...
    def verify(self) -> Health: ...
    def backup(self, target: str | PathLike[str], access: Access) -> None: ...
    def close(self) -> None: ...


def file_mode(access: str) -> int:
    """The permissions of a file with the secret seed; ConfigError if there is no such access."""
    if access not in _MODES:
        raise ConfigError(f'access is "owner", "group" or "all", not {access!r}')
    return _MODES[access]


def unsupported(what: str, instead: str) -> ConfigError:
    """The error for an operation that this kind of index does not support."""
    return ConfigError(f"{what}: not for this kind of index; {instead}")


def check_folder(path: Any, what: str, instead: str) -> None:
    """ConfigError if a server is given where only a folder is possible."""
    if is_address(path):
        raise unsupported(what, instead)


def read_only(path: Path | str) -> ConfigError:
    """The error for a change to an index that was opened for reading."""
    return ConfigError(f'{path} was opened for reading; open it with mode="write"')
