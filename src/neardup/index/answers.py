"""The answers of an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.values.checks import checked_methods

__all__ = ["Answers", "Cluster", "Health", "Hit", "Seen", "Stats", "Stored"]


class Seen(NamedTuple):
    """The answer for one document: whether it is `new`, or which stored document it is a `duplicate_of`, and how
    near.

    `distance` is in bits (None for sketches). `similarity` is verified on the features if the index stores them, an
    estimate for sketches without features, and None for codes without features.

    id  of the document that was given

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.Index(tempfile.mkdtemp() + "/pages.nd") as index:
    ...     _ = index.add([nd.Document("a", "the ferry leaves at eight")])
    ...     seen = index.seen("The ferry leaves at eight!", id="b")
    >>> seen.new, seen.duplicate_of, seen.similarity
    (False, 'a', 1.0)
    """

    id: str
    new: bool
    duplicate_of: str | None
    distance: int | None
    similarity: float | None


class Hit(NamedTuple):
    """A stored document near a query; distance and similarity as in Seen.

    id, row     the stored document
    distance    differing bits, or None
    similarity  0 to 1, or None

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.Index(tempfile.mkdtemp() + "/pages.nd") as index:
    ...     _ = index.add([nd.Document("a", "the ferry leaves at eight")])
    ...     hits = index.search("The ferry leaves at eight!")
    >>> hits[0].id, hits[0].similarity
    ('a', 1.0)
    """

    id: str
    row: int
    distance: int | None
    similarity: float | None


class Stored(NamedTuple):
    """What is stored of one document. Times are seconds since 1970; `keeper` is the id of its cluster's keeper.

    id, row         of the document
    added, expires  when it was added, and when it expires or None
    meta            the other fields that were given with it
    text            its text, if the index stores texts
    fingerprint     its fingerprint, if the index stores one

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.Index(tempfile.mkdtemp() + "/pages.nd") as index:
    ...     _ = index.add([nd.Document("a", "the ferry leaves at eight")])
    ...     stored = index.get("a")
    >>> stored.text, stored.keeper
    ('the ferry leaves at eight', 'a')
    """

    id: str
    row: int
    keeper: str
    added: float
    expires: float | None
    meta: dict[str, Any]
    text: str | None
    fingerprint: bytes | None


class Cluster(NamedTuple):
    """A keeper, which comes first, and the documents that are duplicates of it, in the order of rows.

    keeper   the id of the keeper
    members  all documents of the cluster

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.Index(tempfile.mkdtemp() + "/pages.nd") as index:
    ...     _ = index.add([nd.Document("a", "the ferry leaves at eight")])
    ...     _ = index.seen("The ferry leaves at eight!", id="b")
    ...     cluster = index.cluster("a")
    >>> cluster.keeper, [member.id for member in cluster.members]
    ('a', ['a', 'b'])
    """

    keeper: str
    members: list[Hit]


@dataclass(frozen=True)
class Stats:
    """Sizes of an index. `rows` is the number of row numbers used so far, `documents` of stored documents, `keepers`
    of clusters. The bytes are those of the database, of the cache files and of the tables in memory.

    watermark                                  rows below it are in cache files
    database_bytes, cache_bytes, memory_bytes  sizes of the three parts
    segments                                   codes in each part of the tables
    store                                      what is stored of each document
    scheme                                     of the fingerprints

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.Index(tempfile.mkdtemp() + "/pages.nd") as index:
    ...     _ = index.add([nd.Document("a", "the ferry leaves at eight")])
    ...     stats = index.stats()
    >>> stats.documents, stats.keepers
    (1, 1)
    """

    documents: int
    keepers: int
    rows: int
    watermark: int
    database_bytes: int
    cache_bytes: int
    memory_bytes: int
    segments: tuple[int, ...]
    store: str
    scheme: str

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Health:
    """The result of `verify`: a list of problems in words, empty if there are none; and `warnings`, which are no
    damage, such as files that others may read.

    documents  the number of documents that were checked

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.Index(tempfile.mkdtemp() + "/pages.nd") as index:
    ...     _ = index.add([nd.Document("a", "the ferry leaves at eight")])
    ...     health = index.verify()
    >>> health.documents, health.problems
    (1, ())
    """

    documents: int
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        return not self.problems


@checked_methods
@dataclass(frozen=True)
class Answers(Sequence[Seen]):
    """The answers for a batch, in order: columns, and a sequence of Seen.

    `row` is the row of each document; `keeper` is the row it is a duplicate of, or its own row if it is new.
    `distance` is -1 and `similarity` NaN if there is none.

    ids    the ids of the documents that were given
    names  the ids of the keepers, by row

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.Index(tempfile.mkdtemp() + "/pages.nd") as index:
    ...     answers = index.seen([nd.Document("a", "the ferry leaves"), nd.Document("b", "The ferry leaves!")])
    >>> answers.new.tolist(), answers[1].duplicate_of
    ([True, False], 'a')
    """

    ids: Sequence[str]
    row: NDArray[np.int64]
    keeper: NDArray[np.int64]
    distance: NDArray[np.int64]
    similarity: NDArray[np.float64]
    names: dict[int, str]

    @property
    def new(self) -> NDArray[np.bool_]:
        """Which documents were new."""
        return np.asarray(self.row == self.keeper)

    def __len__(self) -> int:
        return len(self.row)

    @overload
    def __getitem__(self, index: int) -> Seen: ...
    @overload
    def __getitem__(self, index: slice) -> list[Seen]: ...
    def __getitem__(self, index: int | slice) -> Seen | list[Seen]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        keeper = int(self.keeper[index])
        if keeper == self.row[index]:
            return Seen(self.ids[index], True, None, None, None)
        far, near = int(self.distance[index]), float(self.similarity[index])
        return Seen(
            self.ids[index],
            False,
            self.names[keeper],
            far if far >= 0 else None,
            near if near == near else None,
        )

    def __iter__(self) -> Iterator[Seen]:
        columns = (self.row, self.keeper, self.distance, self.similarity)
        for id, row, keeper, far, near in zip(self.ids, *(c.tolist() for c in columns), strict=True):
            if row == keeper:
                yield Seen(id, True, None, None, None)
            else:
                bits, share = far if far >= 0 else None, near if near == near else None
                yield Seen(id, False, self.names[keeper], bits, share)

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """Join several batches."""
        if not all(isinstance(part, Answers) for part in parts):
            raise DataError("parts must be Answers")
        if len(parts) == 1:
            return parts[0]
        none = np.empty(0, np.int64)
        columns = [
            np.concatenate([none, *(getattr(p, name) for p in parts)])
            for name in ("row", "keeper", "distance")
        ]
        similarity = np.concatenate([np.empty(0), *(part.similarity for part in parts)])
        names = {row: name for part in parts for row, name in part.names.items()}
        ids = [id for part in parts for id in part.ids]
        return cls(ids, columns[0], columns[1], columns[2], similarity, names)
