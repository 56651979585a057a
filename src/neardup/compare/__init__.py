"""Compares documents: measures similarity, verifies candidates, and explains what two texts share."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
