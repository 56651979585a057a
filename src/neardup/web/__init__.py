"""Web pages: extracts their text, with parsers in processes that can be killed."""

from neardup.web.html import Extracted, Failure, HtmlExtractor

__all__ = ["Extracted", "Failure", "HtmlExtractor"]
