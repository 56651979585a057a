"""Fingerprints to candidates: one file for each method. Knows no text."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
