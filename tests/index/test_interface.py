"""One index over two kinds of store: both offer what the interface asks for, and neither knows the index."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import neardup as nd
from neardup.index.interface import Opening, Store, StoreWriter
from neardup.index.local.store import LocalStore
from neardup.index.local.writes import LocalWriter
from neardup.index.redis.store import RedisStore
from neardup.index.redis.writes import RedisWriter


def asked(interface: type) -> dict[str, object]:
    found = vars(interface).items()
    return {name: value for name, value in found if inspect.isfunction(value) and name[0] != "_"}


@pytest.mark.parametrize(
    ("interface", "kind"),
    [(Store, LocalStore), (Store, RedisStore), (StoreWriter, LocalWriter), (StoreWriter, RedisWriter)],
)
def test_a_store_has_every_method_with_the_same_arguments(interface, kind):
    assert {"search", "lines", "verify", "close"} <= asked(Store).keys() and "put" in asked(StoreWriter)
    for name, value in asked(interface).items():
        own = vars(kind).get(name)
        assert own is not None, name
        assert list(inspect.signature(own).parameters) == list(inspect.signature(value).parameters), name


def test_a_path_opens_a_folder_and_says_what_it_is(tmp_path):
    with nd.Index(tmp_path / "i") as index:
        assert type(index) is nd.Index and type(index._store) is LocalStore
        assert repr(index) == (
            f"<Index {str(tmp_path / 'i')!r}: Shingles, BitMinHash + Compact, Jaccard >= 0.8, stores texts>"
        )
    store = LocalStore(tmp_path / "i", Opening(mode="read"))
    assert store.count() == 0
    store.close()


def test_what_needs_a_folder_says_so(tmp_path):
    with nd.Index(tmp_path / "i") as index:
        with pytest.raises(nd.ConfigError, match=r"backup to a server.*export"):
            index.backup("redis://localhost/0?name=x")
        index.add(nd.Document("a", "some text"))
        from neardup.index.rebuild import recover_index, reindex

        with pytest.raises(nd.ConfigError, match=r"reindex.*folder"):
            reindex(index, "redis://localhost/0?name=x")
        with pytest.raises(nd.ConfigError, match=r"recover.*compact"):
            recover_index("redis://localhost/0?name=x", tmp_path / "new")


@pytest.mark.parametrize("module", ["local.store", "redis.store", "export", "rebuild", "redis.replay", "api"])
def test_each_module_is_imported_alone(module):
    """No module needs another one to have been imported first; the stores do not import the index."""
    code = f"import sys, neardup.index.{module}; print('neardup.index.api' in sys.modules)"
    package = "import sys; sys.modules['neardup.index'] = type(sys)('neardup.index');"
    package += "import neardup; sys.modules['neardup.index'].__path__ = [neardup.__path__[0] + '/index'];"
    found = subprocess.run([sys.executable, "-c", package + code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(module in ("api", "rebuild"))
