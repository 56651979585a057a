"""Pages of the web: their text, taken by parsers that may be killed."""

from neardup.web.html import Extracted, Failure, HtmlExtractor

__all__ = ["Extracted", "Failure", "HtmlExtractor"]
