"""Everything that decides an answer: the config, presets and filters; and how a strategy gets its name in them."""

from neardup.config.kinds import register

__all__ = ["register"]
