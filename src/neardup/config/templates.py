"""Which lines and features are templates of a source."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.errors import ConfigError
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Templates"]


@checked_methods
@dataclass(frozen=True)
class Templates:
    """Lines and features that recur in more than `share` of a source's documents are not compared: menus, footers,
    notices. Lines are removed before features are made, unless `lines` is False; a document without other lines
    keeps them.

    They must also be in `at_least` documents: in a small source, copies of one page are not a template.
    They are learnt from up to `sample` documents of each source that has at least `least`; a document that has
    nothing else keeps the `floor` least common ones.

    >>> import neardup as nd
    >>> nd.Config(templates=nd.Templates(0.01)).templates.share
    0.01
    """

    share: float = 0.01
    least: int = 100
    floor: int = 1
    sample: int = 10_000
    at_least: int = 10
    lines: bool = True

    def often(self, documents: int) -> float:
        """A line or feature recurs if it is in more documents than this, of so many that were looked at."""
        return max(self.share * documents, self.at_least - 1)

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.share < 1:
            raise ConfigError(f"templates: a share is between 0 and 1, not {self.share}")
        if min(self.least, self.floor, self.sample, self.at_least) < 1:
            raise ConfigError("templates: least, floor, sample and at_least are 1 or more")
