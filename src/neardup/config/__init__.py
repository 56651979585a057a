"""Everything that decides an answer: the config, presets and filters; and how a strategy gets its name in them."""

from neardup.config.config import Config, Templates
from neardup.config.filters import Filters
from neardup.config.kinds import register
from neardup.config.presets import PRESETS, Preset, preset

__all__ = [
    "PRESETS",
    "Config",
    "Filters",
    "Preset",
    "Templates",
    "preset",
    "register",
]
