"""Everything that decides an answer: the config, presets and filters."""

__all__: list[str] = []
