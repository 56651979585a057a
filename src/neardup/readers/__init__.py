"""Reading documents and writing results: the only code that opens users' files."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
