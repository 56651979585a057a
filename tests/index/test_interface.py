"""One interface, two kinds of index: what it leaves open each of them fills in."""

from __future__ import annotations

import inspect

import pytest

import neardup as nd
from neardup.index.local.index import LocalIndex
from neardup.index.redis.index import SharedIndex


def left_open() -> dict[str, object]:
    """What the interface names and does not do itself."""
    found = {}
    for name, value in vars(nd.Index).items():
        function = value.fget if isinstance(value, property) else value
        if inspect.isfunction(function) and "NotImplementedError" in function.__code__.co_names:
            found[name] = value
    return found


@pytest.mark.parametrize("kind", [LocalIndex, SharedIndex])
def test_all_that_is_left_open_is_filled_in_with_the_same_arguments(kind):
    assert {"verify", "get_all", "_takes", "__len__", "close"} <= left_open().keys()
    for name, value in {**left_open(), "__init__": nd.Index.__init__}.items():
        own = vars(kind).get(name)
        assert own is not None, name
        if not isinstance(value, property):
            assert list(inspect.signature(own).parameters) == list(inspect.signature(value).parameters), name


@pytest.mark.parametrize("kind", [LocalIndex, SharedIndex])
def test_nothing_that_is_done_once_for_both_is_done_again(kind):
    shared = {
        name for name, value in vars(nd.Index).items() if inspect.isfunction(value)
    } - left_open().keys()
    # A server is sent its batches by its own measure.
    assert (vars(kind).keys() & shared) - {"__init__"} <= {"_put_all"}


def test_a_path_opens_a_folder(tmp_path):
    with nd.Index(tmp_path / "i") as index:
        assert type(index) is LocalIndex and isinstance(index, nd.Index)
    with LocalIndex(tmp_path / "i", mode="read") as index:
        assert len(index) == 0
