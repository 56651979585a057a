"""Finds the stored documents that a document matches: near by their keys, then verified if contents are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.features import Features
from neardup.features.texts import utf8_list
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.index.batch_pairs import CandidatePairs, ListedPairs, PairSource, SharedKeys, decide
from neardup.index.contents import (
    Decoded,
    Held,
    pack_features,
    pack_text,
    pack_texts,
    portions,
    unpack_features,
    unpack_text,
    unpacked,
)
from neardup.index.matches import NO_MATCHES, Matches, best
from neardup.index.recipe import Recipe
from neardup.index.tables import Near, equal_pairs, with_probes
from neardup.pipeline.equal_words import same_words
from neardup.search.interface import Mode
from neardup.search.key_join import Probing

__all__ = ["Contained", "Held", "Items", "Matcher", "Searched"]

Rows = NDArray[np.int64]
MOST_WITH_ONE_KEY = 1000  # keepers with the same key that a document is compared with, in each segment


class Contained(Protocol):
    """Reads the fingerprint and the content of stored rows that exist; `sizes` are the bytes that each has there."""

    def contents(self, rows: Rows) -> Mapping[int, Held]: ...
    def sizes(self, rows: Rows) -> Rows: ...


class Searched(Protocol):
    """Finds rows near keys."""

    def search(
        self,
        keys: NDArray[np.uint64],
        empty: NDArray[np.bool_],
        *,
        followers: bool,
        mode: Mode = "all",
        most: int | None = None,
        probes: Probing | None = None,
    ) -> Near: ...


@dataclass(frozen=True)
class Items:
    """New documents or queries: their fingerprints, their keys, and the contents used for verification."""

    column: NDArray[Any]
    keys: NDArray[np.uint64]
    empty: NDArray[np.bool_]
    contents: Sequence[str] | Sequence[bytes] | None = None  # texts, or packed features
    packed: Sequence[bytes] | None = None  # the texts as they are stored, if already encoded

    def __len__(self) -> int:
        return len(self.empty)

    def take(self, rows: Rows) -> Items:
        contents = None if self.contents is None else [self.contents[row] for row in rows.tolist()]
        return Items(self.column[rows], self.keys[rows], self.empty[rows], contents)

    def cut(self, part: slice) -> Items:
        contents = None if self.contents is None else self.contents[part]
        packed = None if self.packed is None else self.packed[part]
        return Items(self.column[part], self.keys[part], self.empty[part], contents, packed)

    @classmethod
    def joined(cls, one: Items, two: Items) -> Items:
        contents = None if one.contents is None or two.contents is None else [*one.contents, *two.contents]
        column = np.concatenate([one.column, two.column])
        keys, empty = np.concatenate([one.keys, two.keys]), np.concatenate([one.empty, two.empty])
        return cls(column, keys, empty, contents)

    def blobs(self) -> list[bytes | None]:
        """The fingerprints as the database stores them; None for an empty document."""
        data, width = self.column.tobytes(), self.column.itemsize * self.column.shape[1]
        cut: list[bytes | None] = [data[at : at + width] for at in range(0, len(data), width)]
        for row in np.flatnonzero(self.empty).tolist():
            cut[row] = None
        return cut

    def stored(self) -> Sequence[bytes] | Sequence[None]:
        """The contents as the database stores them."""
        if self.packed is not None:
            return self.packed
        if self.contents is None:
            return [None] * len(self)
        return [pack_text(c) if isinstance(c, str) else c for c in self.contents]


class Matcher:
    """Makes items and finds their matches."""

    def __init__(self, recipe: Recipe, tables: Searched, threads: int = 1) -> None:
        self.recipe, self.tables, self.threads = recipe, tables, threads
        # Whether rows that share a key are compared before they count as matches.
        words = recipe.compares_words
        self._looks = recipe.verifies or recipe.method.estimates or recipe.checks or words

    def of_prints(self, prints: Fingerprints) -> Items:
        """Items from fingerprints, after a check of their scheme and width."""
        column = self.recipe.check(prints)
        empty = np.ascontiguousarray(prints.empty, np.bool_)
        return Items(column, self.recipe.keys(column, self.threads), empty)

    def of_texts(
        self, texts: Sequence[str] | _core.Texts, threads: int | None = None, *, pack: bool = False
    ) -> Items:
        """Items from texts, encoded for the database if they are stored. This does not read the index."""
        threads = self.threads if threads is None else threads
        made = self.of_prints(self.recipe.prints(texts, threads))
        if self.recipe.contents == "text":
            held = Decoded(utf8_list(texts)) if isinstance(texts, _core.Texts) else texts
            packed = pack_texts(held, self.recipe.codec) if pack else None
            return replace(made, contents=held, packed=packed)
        if self.recipe.verifies:
            features = self.recipe.compared.extract(texts, threads=threads)
            return replace(made, contents=pack_features(self.recipe, features))
        return made

    def of_contents(self, rows: Rows, held: Mapping[int, Held]) -> Items:
        """Items from stored rows, in the given order; `held` must contain all of them."""
        found = [held[row] for row in rows.tolist()]
        empty = np.array([fingerprint is None for fingerprint, _ in found], np.bool_)
        blank = bytes(self.recipe.width)
        column = self.recipe.column(b"".join(fingerprint or blank for fingerprint, _ in found))
        contents: Any = None
        if self.recipe.contents != "none":
            contents = [content for _, content in found]
            if self.recipe.contents == "text":
                contents = [c if isinstance(c, str) else unpack_text(c) for c in contents]
        return Items(column, self.recipe.keys(column, self.threads), empty, contents)

    def stored(
        self,
        items: Items,
        store: Contained,
        *,
        followers: bool,
        mode: Mode = "all",
        without: Rows | None = None,
    ) -> Matches:
        """Stored rows that match the items, except those in `without`; only keepers, unless followers are requested.

        Mode `first` returns one for each item: the best if contents or sketches are compared, else the first one
        found.
        """
        near = self.near(items, followers=followers, mode="all" if self._looks else mode)
        if without is not None and len(without) and len(near.row):
            kept = ~np.isin(near.row, without)
            near = Near(near.query[kept], near.row[kept], near.distance[kept])
        found = self.compared(items, near, store)
        return best(found) if mode == "first" and self._looks else found

    def near(self, items: Items, *, followers: bool, mode: Mode = "all") -> Near:
        """The stored rows whose keys are near, not yet compared."""
        return self.tables.search(
            items.keys,
            items.empty,
            followers=followers,
            mode=mode,
            most=self.most(followers),
            probes=self.probes(items),
        )

    def probes(self, items: Items) -> Probing | None:
        """Keys that items search for in addition to their own keys; None if there are none."""
        return self.recipe.probes(items.column)

    def most(self, followers: bool) -> int | None:
        """The largest number of rows with the same key that a document is compared with; None for all."""
        if not self.recipe.method.whole_keys:
            return self.recipe.method.limit
        return None if followers and not self.recipe.verifies else MOST_WITH_ONE_KEY

    @property
    def same(self) -> tuple[int, float]:
        """Distance and similarity of identical documents."""
        method, verifies = self.recipe.method, self.recipe.verifies
        distance = 0 if verifies or method.whole_keys else -1
        return distance, 1.0 if verifies or method.estimates else method.sure

    def together(self, items: Items, follows: Rows | None = None, fixed: int = 0) -> tuple[Rows, Matches]:
        """For each item the first identical item, and those matches among these first items that decide about
        keepers.

        follows     items that match a stored keeper, and so cannot be keepers themselves
        fixed       so many items at the beginning are keepers already
        """
        first = self._first_identical(items)
        chosen = np.flatnonzero((first == np.arange(len(items))) & ~items.empty)
        source = self._candidates(items, chosen)
        if not len(involved := source.involved):
            return first, NO_MATCHES
        undecided, repeated = np.ones(len(items), bool), np.zeros(len(items), bool)
        undecided[() if follows is None else follows] = False
        repeated[first[first != np.arange(len(items))]] = True
        check = self._check_within(items, chosen, involved)
        kept = int(np.searchsorted(chosen, fixed))
        found = Matches.joined(decide(source, check, undecided[chosen], kept, repeated[chosen]))
        return first, replace(found, left=chosen[found.left], right=chosen[found.right])

    def _candidates(self, items: Items, chosen: Rows) -> PairSource:
        """The candidate pairs among some items, which are all different."""
        keys = items.keys if len(chosen) == len(items) else items.keys[chosen]
        if (reach := self.recipe.reach) is not None:
            words = np.ascontiguousarray(keys)
            left, right, far = _core.scan(words, words, reach.bits, reach.radius, False, 1)
            ahead = left < right
            return ListedPairs(CandidatePairs(left[ahead], right[ahead], far[ahead].astype(np.int64)))
        # If keys are whole fingerprints, equal keys are identical items, and only the first of them is here.
        keys = keys[:, :0] if self._whole else keys
        if (probes := self.recipe.probes(items.column[chosen])) is None:
            return SharedKeys(keys, self.recipe.sparse)
        left, right = with_probes(keys, probes, *equal_pairs(keys, self.recipe.sparse))
        return ListedPairs(CandidatePairs(left, right, np.zeros(len(left), np.int64)))

    def _check_within(
        self, items: Items, chosen: Rows, involved: Rows
    ) -> Callable[[CandidatePairs], Matches]:
        """Gives the matches among candidate pairs of chosen items. Features of the items that have candidates are
        extracted once."""
        features, place = None, np.zeros(len(chosen), np.int64)
        if self.recipe.verifies:
            features = self._features(items.take(chosen[involved]))
            place[involved] = np.arange(len(involved))

        def check(pairs: CandidatePairs) -> Matches:
            left, right = chosen[pairs.left], chosen[pairs.right]
            if self.recipe.checks:
                counts = self.recipe.passes(items.column[left], items.column[right])
                pairs, left, right = pairs.where(counts), left[counts], right[counts]
            if features is not None:
                found = self._checked(features, place[pairs.left], place[pairs.right], pairs.distance)
                return replace(found, left=involved[found.left], right=involved[found.right])
            if not self._whole:
                return self._estimated(items.column[left], items.column[right], pairs.left, pairs.right)
            return Matches(*pairs, np.full(len(left), self.recipe.method.sure))

        return check

    @property
    def _whole(self) -> bool:
        return self.recipe.method.whole_keys

    def _first_identical(self, items: Items) -> Rows:
        first = np.arange(len(items))
        if self._whole and len(set(items.keys[:, 0].tolist())) == len(items):
            return first  # the usual case: no two codes of a batch are equal in their first 64 bits
        if self.recipe.verifies and items.contents is not None:
            known: dict[Any, int] = {}
            same = [known.setdefault(content, at) for at, content in enumerate(items.contents)]
            first = np.array(same, np.int64)
        elif len(items):
            lines = np.ascontiguousarray(items.column).view(np.uint8).reshape(len(items), -1)
            flat = lines.view(np.dtype((np.void, lines.shape[1]))).reshape(-1)
            _, where, back = np.unique(flat, return_index=True, return_inverse=True)
            first = where[back].astype(np.int64)
            if self.recipe.compares_words:
                later = np.flatnonzero((first != np.arange(len(first))) & ~items.empty)
                apart = later[~self._same_words(items, later, items, first[later])]
                first[apart] = apart
        return np.where(items.empty, np.arange(len(items)), first)

    def compared(self, items: Items, near: Near, store: Contained) -> Matches:
        """Those of the near rows that match."""
        if not len(near.query) or not self._looks:
            far = near.distance if self._whole else np.full(len(near.query), -1)
            return Matches(near.query, near.row, far, np.full(len(near.query), self.recipe.method.sure))
        # An earlier part of the same transaction may have deleted the row or its keeper: then it is no hit.
        parts = [
            self._compared(items, near, rows, self.of_contents(rows, held))
            for some in portions(np.unique(near.row), store.sizes)
            for rows, held in unpacked(store.contents(some), self.recipe.contents == "text")
        ]
        return parts[0] if len(parts) == 1 else Matches.joined(parts)

    def _compared(self, items: Items, near: Near, rows: Rows, other: Items) -> Matches:
        """Those of the near rows among `rows`, whose items are given, that match."""
        place = np.searchsorted(rows, near.row)
        kept = rows[np.minimum(place, len(rows) - 1)] == near.row
        near, place = Near(near.query[kept], near.row[kept], near.distance[kept]), place[kept]
        if self.recipe.checks:
            counts = self.recipe.passes(items.column[near.query], other.column[place])
            near = Near(near.query[counts], near.row[counts], near.distance[counts])
            place = place[counts]
        if self.recipe.compares_words:
            same = self._same_words(items, near.query, other, place)
            sure = np.full(int(same.sum()), self.recipe.method.sure)
            return Matches(near.query[same], near.row[same], near.distance[same], sure)
        if not self.recipe.verifies:
            return self._estimated(items.column[near.query], other.column[place], near.query, near.row)
        asked, at = np.unique(near.query, return_inverse=True)
        both = Items.joined(other, items.take(asked))  # stored documents come first
        found = self._verified(both, place, len(rows) + at, near.distance)
        query, row = asked[found.right - len(rows)], rows[found.left]
        order = np.lexsort((row, query))
        return Matches(query[order], row[order], found.distance[order], found.similarity[order])

    def _verified(self, items: Items, left: Rows, right: Rows, distance: Rows) -> Matches:
        """The pairs of items whose contents are similar enough."""
        if not len(left):
            return Matches(left, right, distance, np.empty(0))
        needed, at = np.unique(np.concatenate([left, right]), return_inverse=True)
        features = self._features(items.take(needed))
        found = self._checked(features, at[: len(left)], at[len(left) :], distance)
        return replace(found, left=needed[found.left], right=needed[found.right])

    def _checked(self, features: Features, left: Rows, right: Rows, distance: Rows) -> Matches:
        """The pairs of rows of features that are similar enough."""
        if not len(left):
            return NO_MATCHES
        check = self.recipe.config.verify
        pairs = check.check(_Pairs(left, right), features, threads=self.threads).at_least(check.threshold)
        codes = left * len(features) + right
        order = np.argsort(codes)
        place = np.searchsorted(codes[order], pairs.left * len(features) + pairs.right)
        return Matches(pairs.left, pairs.right, distance[order[place]], pairs.similarity)

    def _same_words(self, one: Items, rows: Rows, two: Items, others: Rows) -> NDArray[np.bool_]:
        """Whether items have exactly the words of other items; those without a text pass, because it is unknown."""
        if one.contents is None or two.contents is None:
            return np.ones(len(rows), np.bool_)
        left, right = (
            [_utf8(items.contents[row]) for row in chosen.tolist()]  # type: ignore[index]
            for items, chosen in ((one, rows), (two, others))
        )
        return same_words(left, right, self.recipe.config.features, self.threads)

    def _features(self, items: Items) -> Features:
        assert items.contents is not None
        if self.recipe.contents == "text":
            return self.recipe.compared.extract(items.contents, threads=self.threads)
        return unpack_features(self.recipe, items.contents)  # type: ignore[arg-type]

    def _estimated(self, one: NDArray[Any], two: NDArray[Any], left: Rows, right: Rows) -> Matches:
        """Matches where no contents are stored: the similarity that fingerprints give must reach the threshold."""
        similarity = self.recipe.method.estimate(one, two)
        found = Matches(left, right, np.full(len(left), -1), similarity)
        return found.where(
            ~(similarity < self.recipe.config.verify.threshold)
        )  # pairs of unknown similarity are kept


def _utf8(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


@dataclass(frozen=True)
class _Pairs:
    left: Rows
    right: Rows
