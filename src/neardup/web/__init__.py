"""Web pages: extracts their text, with parsers in processes that can be killed."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
