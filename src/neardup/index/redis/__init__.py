"""A live index that a fleet of workers shares in Redis or Valkey."""

from neardup.errors import SharedIndexError
from neardup.index.redis.index import SharedIndex
from neardup.index.redis.stats import SharedStats

__all__ = ["SharedIndex", "SharedIndexError", "SharedStats"]
