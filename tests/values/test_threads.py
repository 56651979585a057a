"""Work one step ahead."""

from __future__ import annotations

import threading

import pytest

from neardup.values.threads import one_ahead


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_items_come_in_order_with_what_was_made_of_them(threads: int) -> None:
    for count in (0, 1, 2, 7):
        found = list(one_ahead(iter(range(count)), lambda item: item * item, threads))
        assert found == [(item, item * item) for item in range(count)]


def test_the_next_one_is_made_while_this_one_is_used() -> None:
    begun = [threading.Event() for _ in range(3)]

    def make(item: int) -> int:
        begun[item].set()
        return item

    for item, _ in one_ahead(range(3), make, 2):
        assert item == 2 or begun[item + 1].wait(10)


def test_of_two_items_at_a_time() -> None:
    made: list[int] = []
    for item, _ in one_ahead(range(10), made.append, 2):
        assert len(made) <= item + 2


@pytest.mark.parametrize("threads", [1, 2])
def test_failures_reach_the_caller(threads: int) -> None:
    def make(item: int) -> float:
        return 1 / (2 - item)

    found = []
    with pytest.raises(ZeroDivisionError):
        for item, _ in one_ahead(range(5), make, threads):
            found.append(item)
    assert found == [0, 1]
