"""Everything that decides an answer: the config, presets and filters; and how a strategy gets its name in them."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
