"""The exceptions neardup raises.

NeardupError
├── ConfigError (ValueError)      a setting is wrong, or settings do not fit together
├── DataError (ValueError)        an input cannot be used; names what and why
│   ├── UnreadableInput           nothing could be read, or too much was rejected; carries the counts
│   └── UnsupportedInput (TypeError)   an object holds no documents; names what is taken
├── FormatError (ValueError)      a file is not what it should be: damaged, truncated, another version
├── SchemeError (ValueError)      two fingerprints made by different recipes were to be compared
├── SharedIndexError              the server of a shared index cannot be reached, or refuses a command
└── MissingExtra (ImportError)    an optional dependency is not installed; says what to type
"""

from __future__ import annotations

from typing import Self

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
    """Base of everything neardup raises on purpose.

    `options` are those with which the same command would succeed, if there are such: the command line prints them.

    >>> import neardup as nd
    >>> issubclass(nd.ConfigError, nd.NeardupError)
    True
    """

    options: tuple[str, ...] = ()

    def with_options(self, *options: str) -> Self:
        """This error, with the options that the same command lacks."""
        self.options = options
        return self


class ConfigError(NeardupError, ValueError):
    """A setting is wrong, or settings do not fit together.

    >>> import neardup as nd
    >>> try:
    ...     nd.Jaccard(2)
    ... except nd.ConfigError as error:
    ...     print("refused")
    refused
    """


class DataError(NeardupError, ValueError):
    """An input cannot be used.

    >>> import neardup as nd
    >>> try:
    ...     nd.read("no such file.jsonl")
    ... except nd.DataError as error:
    ...     print("there is no such file" in str(error))
    True
    """


class UnreadableInput(DataError):
    """Nothing of the input could be read, or more of it was rejected than is allowed.

    `rows` were read; `documents` of them could be used; `rejected` counts the others by reason; `reasons` are the first
    ones in words; `path` is the file that lists all of them, if there is one. If no file could be read, there are no
    rows, and `said` is why.

    >>> import neardup as nd
    >>> try:
    ...     nd.dedup([{"text": True}, {"text": False}])
    ... except nd.errors.UnreadableInput as error:
    ...     print(error.rows, error.documents)
    2 0
    """

    def __init__(
        self,
        rows: int,
        documents: int,
        rejected: dict[str, int],
        reasons: list[str],
        path: str | None = None,
        *,
        said: str = "nothing to read: the input holds no rows",
    ) -> None:
        self.rows, self.documents, self.rejected = rows, documents, rejected
        self.reasons, self.path = reasons, path
        lost = sum(rejected.values())
        if rows and not documents:
            which = "the only row was" if rows == 1 else f"{lost:,} of {rows:,} rows were"
            said = f"nothing could be read: {which} rejected"
        elif rows:
            said = f"{lost:,} of {rows:,} rows could not be read ({lost / rows:.1%})"
            self.options = ("--allow-rejects", "1")
        lines = [said, *(f"  {reason}" for reason in reasons)]
        if path is not None and lost:
            lines.append(f"{'It is' if lost == 1 else 'All of them are'} listed in {path}")
        super().__init__("\n".join(lines))


class UnsupportedInput(DataError, TypeError):
    """An object of this type holds no documents.

    >>> import neardup as nd
    >>> try:
    ...     nd.dedup(3)
    ... except nd.errors.UnsupportedInput as error:
    ...     print(str(error)[-7:])
    not int
    """


class FormatError(NeardupError, ValueError):
    """A file is not what it should be.

    >>> import neardup as nd
    >>> print(nd.errors.FormatError("pages.nd", expected="version 2", got="version 1"))
    pages.nd: expected version 2, got version 1
    """

    def __init__(self, path: object, expected: str, got: str) -> None:
        self.path, self.expected, self.got = str(path), expected, got
        super().__init__(f"{path}: expected {expected}, got {got}")


class SchemeError(NeardupError, ValueError):
    """Two fingerprints were made by different recipes, so comparing them means nothing.

    >>> import neardup as nd
    >>> left, right = (nd.fingerprint(["some words"], nd.Words(), nd.Simhash(bits=bits)) for bits in (32, 64))
    >>> try:
    ...     nd.fingerprints.same_scheme(left, right)
    ... except nd.errors.SchemeError as error:
    ...     print(error.left == left.scheme, error.right == right.scheme)
    True True
    """

    def __init__(self, left: str, right: str) -> None:
        self.left, self.right = left, right
        super().__init__(
            f"these fingerprints were made in different ways and cannot be compared:\n  {left}\n  {right}"
        )


class SharedIndexError(NeardupError):
    """The server of a shared index cannot be reached, or refuses a command.

    >>> import neardup as nd
    >>> issubclass(nd.errors.SharedIndexError, nd.NeardupError)
    True
    """


class MissingExtra(NeardupError, ImportError):
    """An optional dependency is not installed.

    >>> import neardup as nd
    >>> print(nd.errors.MissingExtra("reading WARC", "web"))
    reading WARC needs ...pip install 'neardup[web]'
    """

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs an extra that is not installed; type: pip install 'neardup[{extra}]'")
