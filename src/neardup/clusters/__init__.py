"""Turns verified pairs into clusters, and decides which document of each cluster is kept."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
