"""Turns text into features. This package does not use fingerprints."""

# At once: the module of this name must not hide the function.
from neardup.features.normalize import normalize as normalize
from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
