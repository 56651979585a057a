"""How the tests are shared out among the processes of pytest-xdist: whole files, and whole folders where all tests use
one server, so that each server is started once. What takes longest is begun first, so that none works alone at the end.

A plugin of pytest; without pytest-xdist, and without its option `-n`, it does nothing.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

__all__ = ["pytest_collection_modifyitems", "pytest_xdist_make_scheduler"]

# Tests that share a server: the files in which they are, the longest first.
TOGETHER = {
    "the cluster of Spark": r"tests/spark/test_(kills|recipes)\.py",
    "Spark": r"tests/spark/|tests/search/test_one_seam\.py",
    "Redis": r"tests/index/redis/",
    "services": r"tests/http/",
}
# Other files that take long; none of them may be the last.
LONG = r"tests/(pages|cli|scrapy|findings|setup|deploy)/|tests/test_(docs|examples|wheel)\.py"


def unit(nodeid: str) -> str:
    """What is given to one process as a whole."""
    file = nodeid.partition("::")[0]
    return next((name for name, files in TOGETHER.items() if re.match(files, file)), file)


def rank(nodeid: str) -> int:
    """Begun in this order."""
    names = list(TOGETHER)
    one = unit(nodeid)
    return names.index(one) if one in names else len(names) + (re.match(LONG, one) is None)


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
