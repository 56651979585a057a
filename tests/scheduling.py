"""How the tests are shared out among the processes of pytest-xdist: whole files, and whole folders where all tests use
one server, so that each server is started once. What takes longest is begun first, so that none works alone at the end.

A plugin of pytest; without pytest-xdist, and without its option `-n`, it does nothing.
"""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["pytest_collection_modifyitems", "pytest_xdist_make_scheduler"]

# Tests of a folder share one Spark, one cluster of it, one Redis or one service. The longest first, then files that take
# longer than a minute.
TOGETHER = ("tests/spark/", "tests/shared/", "tests/service/", "tests/browser/", "tests/review/")
LONG: tuple[str, ...] = ()


def unit(nodeid: str) -> str:
    """What is given to one process as a whole."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def rank(nodeid: str) -> int:
    order = (*TOGETHER, *LONG)
    return order.index(unit(nodeid)) if unit(nodeid) in order else len(order)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: rank(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Units(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    config.option.loadscopereorder = False
    return Units(config, log)
