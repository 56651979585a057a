"""The exceptions neardup raises.

NeardupError
├── ConfigError (ValueError)      a setting is wrong, or settings do not fit together
├── DataError (ValueError)        an input cannot be used; names what and why
│   ├── UnreadableInput           nothing could be read, or too much was rejected; carries the counts
│   └── UnsupportedInput (TypeError)   an object holds no documents; names what is taken
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
    "UnreadableInput",
    "UnsupportedInput",
]


class NeardupError(Exception):
    """Base of everything neardup raises on purpose."""


class ConfigError(NeardupError, ValueError):
    """A setting is wrong, or settings do not fit together."""


class DataError(NeardupError, ValueError):
    """An input cannot be used."""


class UnreadableInput(DataError):
    """Nothing of the input could be read, or more of it was rejected than is allowed.

    `rows` were read; `documents` of them could be used; `rejected` counts the others by reason; `reasons` are the first
    ones in words; `path` is the file that lists all of them, if there is one.
    """

    def __init__(
        self, rows: int, documents: int, rejected: dict[str, int], reasons: list[str], path: str | None = None
    ) -> None:
        self.rows, self.documents, self.rejected = rows, documents, rejected
        self.reasons, self.path = reasons, path
        lost = sum(rejected.values())
        if not rows:
            said = "nothing to read: the input holds no rows"
        elif not documents:
            said = f"nothing could be read: {lost:,} of {rows:,} rows were rejected"
        else:
            said = f"{lost:,} of {rows:,} rows could not be read ({lost / rows:.1%})"
        lines = [said, *(f"  {reason}" for reason in reasons)]
        if path is not None and lost:
            lines.append(f"All of them are listed in {path}")
        super().__init__("\n".join(lines))


class UnsupportedInput(DataError, TypeError):
    """An object of this type holds no documents."""


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
