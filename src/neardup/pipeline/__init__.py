"""From documents to verified pairs: read, fit, fingerprint, find."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
