"""A live index that a fleet of workers shares in Redis or Valkey."""

from neardup.errors import SharedIndexError
from neardup.index.redis.stats import SharedStats
from neardup.index.redis.store import RedisStore

__all__ = ["RedisStore", "SharedIndexError", "SharedStats"]
