"""The exceptions neardup raises.

NeardupError
├── ConfigError (ValueError)      a setting is wrong, or settings do not fit together
├── DataError (ValueError)        an input cannot be used; names what and why
├── FormatError (ValueError)      a file is not what it should be: damaged, truncated, another version
├── SchemeError (ValueError)      two fingerprints made by different recipes were to be compared
├── SharedIndexError              the server of a shared index is not there, or does not do what it is asked
└── MissingExtra (ImportError)    an optional dependency is not installed; says what to type
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "DataError",
    "FormatError",
    "MissingExtra",
    "NeardupError",
    "SchemeError",
    "SharedIndexError",
]


class NeardupError(Exception):
    """Base of everything neardup raises on purpose."""


class ConfigError(NeardupError, ValueError):
    """A setting is wrong, or settings do not fit together."""


class DataError(NeardupError, ValueError):
    """An input cannot be used."""


class FormatError(NeardupError, ValueError):
    """A file is not what it should be."""

    def __init__(self, path: object, expected: str, got: str) -> None:
        self.path, self.expected, self.got = str(path), expected, got
        super().__init__(f"{path}: expected {expected}, got {got}")


class SchemeError(NeardupError, ValueError):
    """Two fingerprints were made by different recipes, so comparing them means nothing."""

    def __init__(self, left: str, right: str) -> None:
        self.left, self.right = left, right
        super().__init__(
            f"these fingerprints were made in different ways and cannot meet:\n  {left}\n  {right}"
        )


class SharedIndexError(NeardupError):
    """The server of a shared index cannot be reached, or does not do what it is asked."""


class MissingExtra(NeardupError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs an extra that is not installed; type: pip install 'neardup[{extra}]'")
