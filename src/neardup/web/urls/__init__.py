"""URLs: their canonical form, rule by rule, with rules for single sites learnt from data."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
