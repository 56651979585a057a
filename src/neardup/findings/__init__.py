"""The findings of a scan, in a folder: read, summarized, applied, or cut at another threshold without a new scan."""

from neardup.values.lazy_names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
