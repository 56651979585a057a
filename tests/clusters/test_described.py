"""What is compared of pairs for guards: titles and languages everywhere, everything where it decides."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.clusters.clusters import cluster
from neardup.clusters.described import describe_guarded
from neardup.clusters.protect import LOST_WORDS, Guard, held_reasons
from neardup.compare.changes import AT, LANGUAGE_WORDS, changes_of, is_brief
from neardup.compare.verify import Pairs

WORDS = [f"word{i}" for i in range(300)]


def corpus(count: int, seed: int) -> list[bytes]:
    """Texts of a few families; titles differ here and there."""
    rng = np.random.default_rng(seed)
    texts = []
    for row in range(count):
        words = [f"family{row % 3}", *WORDS[: 100 + 40 * (row % 3)]]
        for at in rng.choice(len(words), 4, replace=False).tolist():
            words[at] = f"other{rng.integers(20)}"
        # Here and there a passage that no other text has, shorter or longer than what a guard keeps.
        own = " ".join(f"own{row}word{i}" for i in range((0, 99, 100, 140)[int(rng.integers(4))]))
        title = "A" if rng.random() < 0.7 else "B"
        texts.append(f"# Page {title}\n\n{' '.join(words)}.\n\n{own}\n\nThe end of it.".encode())
    return texts


@pytest.mark.parametrize(
    "guards",
    [
        ("title",),
        ("title", "language"),
        ("title", "language", "passages"),
        ("passages",),
        ("title", "numbers"),
    ],
)
@pytest.mark.parametrize("method", ["keepers", "components"])
def test_parts_and_threads_change_nothing(guards: tuple[Guard, ...], method: str) -> None:
    count = 24
    texts = corpus(count, 3)
    left, right = (side.astype(np.int64) for side in np.triu_indices(count, 1))
    family = left % 3 == right % 3
    left, right = left[family], right[family]
    rng = np.random.default_rng(5)
    pairs = Pairs(left, right, rng.choice([0.7, 0.8, 0.9], len(left)))
    sizes = np.array([len(text) for text in texts], np.int64)
    first, rank = np.arange(count), rng.permutation(count)
    whole = changes_of(texts, left, right)

    def fetch(rows: np.ndarray) -> list[bytes]:
        return [texts[row] for row in rows]

    found = [
        describe_guarded(
            pairs, first, rank, guards, sizes, fetch, threshold=0.8, method=method, most=most, threads=threads
        )  # type: ignore[arg-type]
        for most, threads in ((1 << 20, 1), (1, 1), (3000, 2))
    ]
    assert all(np.array_equal(found[0], other) for other in found[1:])
    for name in ("title_left", "title_right"):
        assert np.array_equal(found[0][:, AT[name]], whole[:, AT[name]])
    brief = is_brief(found[0])
    for name, least in (("language", LANGUAGE_WORDS), ("lost_left", LOST_WORDS), ("lost_right", LOST_WORDS)):
        many = np.where(whole[:, AT[name]] >= least, whole[:, AT[name]], 0)
        assert np.array_equal(found[0][brief, AT[name]], many[brief])
        assert name == "language" or (many.any() and not many.all())
    held = held_reasons(whole, guards, rank[left] <= rank[right]) != 0
    assert np.array_equal(held, held_reasons(found[0], guards, rank[left] <= rank[right]) != 0)
    full = ~is_brief(found[0])
    assert np.array_equal(found[0][full], whole[full])
    near = ~held & (pairs.similarity >= 0.8)
    keeper = cluster(Pairs(left[near], right[near], pairs.similarity[near]), count, rank, method).keeper  # type: ignore[arg-type]
    deciding = near & ((keeper[left] == right) | (keeper[right] == left))
    assert full.all() if "numbers" in guards else np.array_equal(full, deciding)
    assert deciding.any() and (~deciding).any()


def test_no_pairs() -> None:
    none = np.empty(0, np.int64)
    made = describe_guarded(
        Pairs(none, none, np.empty(0)), none, none, ("title",), none, lambda rows: [], threshold=0.8
    )
    assert len(made) == 0
