"""neardup finds, explains and removes duplicate and near-duplicate documents.

The names are listed in `__init__.pyi` and imported on first use, so that `import neardup` is quick. What is not among
them is in a namespace: nd.search, nd.features, nd.evaluate and so on.
"""

from neardup.dedup import dedup as dedup  # at once: the module of this name must not hide the function
from neardup.values.lazy_names import names_in_stub, resolve
from neardup.version import __version__ as __version__

_NAMESPACES, _NAMES = names_in_stub(__file__)

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> object:
    module = _NAMES.get(name) or _NAMESPACES.get(name)
    if module is None:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    value = globals()[name] = resolve(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*_NAMES, *_NAMESPACES})
