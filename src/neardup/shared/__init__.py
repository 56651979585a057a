"""A live index that a fleet of workers shares in Redis or Valkey."""

from neardup.errors import SharedIndexError
from neardup.shared.index import SharedIndex
from neardup.shared.stats import SharedStats

__all__ = ["SharedIndex", "SharedIndexError", "SharedStats"]
